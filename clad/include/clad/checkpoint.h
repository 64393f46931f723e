// Less memory for more time: calls that run again in the reverse sweep instead of keeping what it needs.
//
//   x = clad::checkpoint(block.forward(x));            // this call
//   CLAD_CHECKPOINT Tensor forward(const Tensor& x);   // every call of this function
//
// Of such a call only the arguments are kept, and what it changes in them. When the reverse sweep comes to
// it, it runs a second time, now keeping what its derivative needs, which dies with the derivative of the
// call. What it does besides (printing, changing a global variable) happens twice. Numbers that a library
// draws by itself, and does not take as an argument, are drawn again if their source is a clad::replayed.
#pragma once

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

/// The value of a call, which is marked as a checkpoint by the way. Where nothing is differentiated it is the
/// identity.
template <class T>
constexpr T checkpoint(T&& value) {
  return std::forward<T>(value);
}

/// A stream that functions read from beside their arguments: random numbers, a counter. Its place is one
/// integer, that of the calling thread. One object with static storage duration per stream makes it known:
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

/// Runs what ran at that moment, and leaves the streams as they are.
template <class F>
void replay(const moment& then, F&& run) {
  struct Back {
    moment here = now();
    ~Back() { here.restore(); }
  } back;
  then.restore();
  run();
}

/// A state that nobody reads.
template <class T>
struct discarded {
  T state;
  operator T&() { return state; }
};

}  // namespace clad
