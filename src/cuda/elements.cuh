// Elements of tensors in kernels: how they are read, computed in and written.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cladtorch/tensor/dtype.h"
#include "tensor/dispatch.h"
#include "tensor/strided.h"

namespace cladtorch::cuda {

using detail::Computed;

__device__ __forceinline__ float widened(bfloat16 x) { return __uint_as_float(uint32_t{x.bits} << 16); }

/// To the nearest, ties to even; NaN stays NaN.
__device__ __forceinline__ bfloat16 narrowed(float x) {
  bfloat16 y;
#ifdef __CUDA_ARCH__
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
#else
  y = bfloat16(x);
#endif
  return y;
}

/// Between any two element types; to bfloat16 through float.
template <class To, class From>
__device__ __forceinline__ To converted(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<From, bfloat16>) {
    return converted<To>(widened(x));
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    return narrowed(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (std::is_integral_v<To>) {
    return detail::to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

/// What an element is computed in.
template <class T>
__device__ __forceinline__ Computed<T> read(const T& x) {
  return converted<Computed<T>>(x);
}

/// a / b of what is not negative. Division of 64 bits is slow, and rarely needed.
__device__ __forceinline__ int64_t quotient(int64_t a, int64_t b) {
  if (a <= UINT32_MAX && b <= UINT32_MAX) return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return a / b;
}

/// N neighbouring elements that are read and written at once.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T values[N];
};

/// Whether `data` may be accessed by packs of N.
template <int N, class T>
bool is_aligned(const T* data) {
  return reinterpret_cast<uintptr_t>(data) % (sizeof(T) * N) == 0;
}

/// Where element number i of a loop over N operands lies in each of them.
template <int N>
struct StridedIndex {
  int rank = 0;
  uint32_t extents[max_rank]{};
  int64_t strides[N][max_rank]{};

  /// The loop must have fewer than 2^31 rows and elements per row.
  explicit StridedIndex(const detail::StridedLoop<N>& loop) : rank(loop.shape.rank()) {
    for (int dim = 0; dim < rank; ++dim) {
      extents[dim] = static_cast<uint32_t>(loop.shape[dim]);
      for (int i = 0; i < N; ++i) strides[i][dim] = loop.strides[static_cast<size_t>(i)][dim];
    }
  }

  __device__ void find(int64_t element, int64_t (&offsets)[N]) const {
    for (int i = 0; i < N; ++i) offsets[i] = 0;
    for (int dim = rank - 1; dim > 0; --dim) {
      // Division of 64 bits is slow, and rarely needed.
      int64_t index = 0;
      if (element <= UINT32_MAX) {
        index = static_cast<uint32_t>(element) % extents[dim];
        element = static_cast<uint32_t>(element) / extents[dim];
      } else {
        index = element % extents[dim];
        element /= extents[dim];
      }
      for (int i = 0; i < N; ++i) offsets[i] += index * strides[i][dim];
    }
    for (int i = 0; i < N; ++i) offsets[i] += element * strides[i][0];
  }
};

}  // namespace cladtorch::cuda
