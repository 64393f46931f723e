// What the lanes of a warp do together: shuffles, votes, reductions. All are made of one collective.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda_host/threads.h"

namespace cuda_host {

// Waits until all lanes of `mask` are here with the same mask and the same
// `compute`, which is then called once with what they brought (null for lanes that
// are not in the mask). A lane of the mask that never comes fails the launch.
void warp_collective(unsigned mask, void* mine, void (*compute)(void** lanes),
                     const char* name = "a warp collective");

unsigned lane_index();

enum class Shuffle { index, up, down, exclusive_or };

template <typename T>
struct ShuffleOperand {
  T value;
  int argument;  // the lane, the distance or the bits to flip
  int width;
  T result;
};

// The lane that `lane` reads: itself where the one that
// is asked for lies outside its segment of `width` lanes.
constexpr int shuffle_source(Shuffle kind, int lane, int argument, int width) {
  const int first = lane & ~(width - 1);
  switch (kind) {
    case Shuffle::index:
      return first + (argument & (width - 1));
    case Shuffle::up:
      return lane - argument < first ? lane : lane - argument;
    case Shuffle::down:
      return lane + argument >= first + width ? lane : lane + argument;
    case Shuffle::exclusive_or:
      return (lane ^ argument) >= first + width ? lane : lane ^ argument;
  }
  return lane;
}

template <Shuffle kind, typename T>
void shuffle_lanes(void** lanes) {
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes[lane] == nullptr) continue;
    auto* operand = static_cast<ShuffleOperand<T>*>(lanes[lane]);
    const auto* source = static_cast<const ShuffleOperand<T>*>(
        lanes[shuffle_source(kind, lane, operand->argument, operand->width) & 31]);
    if (source != nullptr) {
      operand->result = source->value;
    } else {
      std::memset(&operand->result, 0xFF, sizeof(T));  // undefined in CUDA: the lane takes no part
    }
  }
}

template <Shuffle kind, typename T>
T shuffle(unsigned mask, T value, int argument, int width, const char* name) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    fail_kernel("shuffles with a width that is no power of two up to 32");
  }
  ShuffleOperand<T> operand{value, argument, width, value};
  warp_collective(mask, &operand, shuffle_lanes<kind, T>, name);
  return operand.result;
}

// CUDA shuffles numbers alone, small integers as int.
template <typename T>
  requires(std::is_arithmetic_v<T>)
using Shuffled = decltype(+T{});

// Every lane gets what `combine` makes of the values of all lanes of the mask, in the order of the lanes.
template <typename T, T (*combine)(T, T)>
void reduce_lanes(void** lanes) {
  T total{};
  bool first = true;
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes[lane] == nullptr) continue;
    const T value = *static_cast<const T*>(lanes[lane]);
    total = first ? value : combine(total, value);
    first = false;
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes[lane] != nullptr) *static_cast<T*>(lanes[lane]) = total;
  }
}

template <typename T, T (*combine)(T, T)>
T reduce(unsigned mask, T value, const char* name) {
  warp_collective(mask, &value, reduce_lanes<T, combine>, name);
  return value;
}

unsigned ballot(unsigned mask, bool predicate, const char* name);

// Unsigned, so that sums wrap round as the hardware's do.
inline unsigned add(unsigned a, unsigned b) { return a + b; }
inline unsigned bit_and(unsigned a, unsigned b) { return a & b; }
inline unsigned bit_or(unsigned a, unsigned b) { return a | b; }
inline unsigned bit_xor(unsigned a, unsigned b) { return a ^ b; }
template <typename T>
T smaller(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
T larger(T a, T b) {
  return a < b ? b : a;
}

void no_operation(void** lanes);

}  // namespace cuda_host

template <typename T>
cuda_host::Shuffled<T> __shfl_sync(unsigned mask, T value, int source_lane, int width = 32) {
  return cuda_host::shuffle<cuda_host::Shuffle::index, cuda_host::Shuffled<T>>(mask, value, source_lane,
                                                                               width, "__shfl_sync");
}
template <typename T>
cuda_host::Shuffled<T> __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  return cuda_host::shuffle<cuda_host::Shuffle::up, cuda_host::Shuffled<T>>(
      mask, value, static_cast<int>(distance), width, "__shfl_up_sync");
}
template <typename T>
cuda_host::Shuffled<T> __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  return cuda_host::shuffle<cuda_host::Shuffle::down, cuda_host::Shuffled<T>>(
      mask, value, static_cast<int>(distance), width, "__shfl_down_sync");
}
template <typename T>
cuda_host::Shuffled<T> __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  return cuda_host::shuffle<cuda_host::Shuffle::exclusive_or, cuda_host::Shuffled<T>>(
      mask, value, bits, width, "__shfl_xor_sync");
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
  char nothing = 0;
  cuda_host::warp_collective(mask, &nothing, cuda_host::no_operation, "__syncwarp");
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return cuda_host::ballot(mask, predicate != 0, "__ballot_sync");
}
inline int __any_sync(unsigned mask, int predicate) {
  return cuda_host::ballot(mask, predicate != 0, "__any_sync") != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return cuda_host::ballot(mask, predicate != 0, "__all_sync") == mask;
}
// CUDA promises of the lanes that happen to run together only that the caller is one of them.
inline unsigned __activemask() { return 1u << cuda_host::lane_index(); }

inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return cuda_host::reduce<unsigned, cuda_host::add>(mask, value, "__reduce_add_sync");
}
inline int __reduce_add_sync(unsigned mask, int value) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value)));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return cuda_host::reduce<unsigned, cuda_host::smaller<unsigned>>(mask, value, "__reduce_min_sync");
}
inline int __reduce_min_sync(unsigned mask, int value) {
  return cuda_host::reduce<int, cuda_host::smaller<int>>(mask, value, "__reduce_min_sync");
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return cuda_host::reduce<unsigned, cuda_host::larger<unsigned>>(mask, value, "__reduce_max_sync");
}
inline int __reduce_max_sync(unsigned mask, int value) {
  return cuda_host::reduce<int, cuda_host::larger<int>>(mask, value, "__reduce_max_sync");
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return cuda_host::reduce<unsigned, cuda_host::bit_and>(mask, value, "__reduce_and_sync");
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return cuda_host::reduce<unsigned, cuda_host::bit_or>(mask, value, "__reduce_or_sync");
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  return cuda_host::reduce<unsigned, cuda_host::bit_xor>(mask, value, "__reduce_xor_sync");
}
