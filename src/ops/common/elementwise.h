// Loops that elementwise operations share.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/dispatch.h"
#include "tensor/strided.h"

namespace cladtorch::detail {

/// Elements per parallel piece of a pointwise loop: large enough to hide the cost of handing it out.
inline constexpr int64_t pointwise_grain = 1 << 14;

/// out[i] = f(x[i]) over dense memory.
template <class T, class F>
void map(int64_t n, const T* x, T* out, F f) {
  parallel_for(n, pointwise_grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = f(x[i]);
  });
}

/// out[i] = or += f(x[i], z[i]) over dense memory.
template <class T, class F>
void map2(int64_t n, const T* x, const T* z, T* out, bool add, F f) {
  parallel_for(n, pointwise_grain, [&](int64_t begin, int64_t end) {
    if (add) {
      for (int64_t i = begin; i < end; ++i) out[i] += f(x[i], z[i]);
    } else {
      for (int64_t i = begin; i < end; ++i) out[i] = f(x[i], z[i]);
    }
  });
}

/// Dense `out` of shape `shape` = or += f(a, b), where a and b broadcast to `shape`.
template <class T, class F>
void zip(const Shape& shape, const Tensor& a, const Tensor& b, T* out, bool add, F f) {
  const T *const a_data = a.data<T>(), *const b_data = b.data<T>();
  const StridedLoop<3> loop(shape,
                            {contiguous_strides(shape), broadcast_strides(a.shape(), a.strides(), shape),
                             broadcast_strides(b.shape(), b.strides(), shape)});
  const auto run = [&](auto write) {
    loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
      T* const y = out + offsets[0];
      const T *const u = a_data + offsets[1], *const v = b_data + offsets[2];
      const int64_t s = steps[0], t = steps[1], w = steps[2];
      if (s == 1 && t == 1 && w == 1) {
        for (int64_t i = 0; i < n; ++i) write(y[i], f(u[i], v[i]));
      } else if (s == 1 && t == 1 && w == 0) {
        for (int64_t i = 0; i < n; ++i) write(y[i], f(u[i], v[0]));
      } else {
        for (int64_t i = 0; i < n; ++i) write(y[i * s], f(u[i * t], v[i * w]));
      }
    });
  };
  if (add) {
    run([](T& to, T value) { to += value; });
  } else {
    run([](T& to, T value) { to = value; });
  }
}

/// Throws Error unless both tensors are defined and have one floating dtype.
inline void check_operands(const char* operation, const Tensor& a, const Tensor& b) {
  require(a.defined() && b.defined(), operation, ": an operand is undefined");
  require(a.dtype() == b.dtype(), operation, ": dtypes differ: a is ", a.dtype(), ", b is ", b.dtype(),
          "; convert with to()");
}

}  // namespace cladtorch::detail
