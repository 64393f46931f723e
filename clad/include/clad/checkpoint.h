// Less memory for more time: calls and loops that run again in the reverse sweep instead of keeping the
// values that it needs.
//
//   x = clad::checkpoint(block.forward(x));            // this call
//   CLAD_CHECKPOINT Tensor forward(const Tensor& x);   // every call of this function
//   for (int i = 0; i < n; ++i) {
//     clad::checkpoint_loop(8);                        // this loop, with 8 snapshots
//     u = step(u);
//   }
//
// Such a call keeps only its arguments and the values that it changes in them. When the reverse sweep reaches
// it, it runs a second time and keeps what its derivative needs, which is freed after the derivative of the
// call. Other effects (printing, changing a global variable) happen twice. Random numbers that a library
// draws, and does not take as an argument, are drawn again if their source is a clad::replayed.
#pragma once

#include "clad/Differentiator/Standard.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#if defined(__clang__)
#define CLAD_CHECKPOINT [[clang::annotate("clad::checkpoint")]]
#else
#define CLAD_CHECKPOINT
#endif

namespace clad {

/// Returns the value of a call and marks the call as a checkpoint. In code that is not differentiated it is
/// the identity.
template <class T>
constexpr T checkpoint(T&& value) {
  return std::forward<T>(value);
}

/// Marks the loop whose body it is the first statement of: the reverse sweep starts from at most this many
/// snapshots of the variables that the iterations change, and runs the iterations between them again, in the
/// order that repeats the fewest. Without a number, or with `#pragma clad checkpoint loop` before
/// the loop, it takes as few snapshots as repeat no iteration more than three times. `arrays` says how much
/// of the memory behind a pointer the iterations change: checkpoint_loop(8, std::span(p, n)).
inline void checkpoint_loop() {}
template <class... Arrays>
void checkpoint_loop(std::size_t snapshots, const Arrays&... arrays) {
  (static_cast<void>(snapshots), ..., static_cast<void>(arrays));
}
/// The same with as many snapshots as fit into this many bytes.
template <class... Arrays>
void checkpoint_bytes(std::size_t bytes, const Arrays&... arrays) {
  (static_cast<void>(bytes), ..., static_cast<void>(arrays));
}

/// A stream that functions read in addition to their arguments, such as random numbers or a counter. Its
/// place is one integer per thread. Declare the stream with one object of static storage duration:
///
///   const clad::replayed masks([] { return calls; }, [](std::uint64_t place) { calls = place; });
class replayed {
 public:
  using tell_function = std::uint64_t (*)();
  using seek_function = void (*)(std::uint64_t place);
  static constexpr std::size_t max = 4;

  replayed(tell_function tell, seek_function seek) {
    if (count == max) throw std::length_error("clad::replayed: more than 4 streams");
    streams[count++] = {tell, seek};
  }
  replayed(const replayed&) = delete;
  replayed& operator=(const replayed&) = delete;

 private:
  friend struct moment;
  struct stream {
    tell_function tell;
    seek_function seek;
  };
  static inline constinit std::array<stream, max> streams{};
  static inline constinit std::size_t count = 0;
};

/// The place of every stream at one time.
struct moment {
  std::array<std::uint64_t, replayed::max> places;

  void take() {
    for (std::size_t i = 0; i < replayed::count; ++i) places[i] = replayed::streams[i].tell();
  }
  void restore() const {
    for (std::size_t i = 0; i < replayed::count; ++i) replayed::streams[i].seek(places[i]);
  }
};

inline moment now() {
  moment m{};
  m.take();
  return m;
}

/// Runs code that ran at that moment again, and then restores the streams.
template <class F>
void replay(const moment& then, F&& run) {
  struct Back {
    moment here = now();
    ~Back() { here.restore(); }
  } back;
  then.restore();
  run();
}

/// A state that is not read.
template <class T>
struct discarded {
  T state;
  operator T&() { return state; }
};

}  // namespace clad
