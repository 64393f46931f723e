// Loops that elementwise operations share.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>

#include "ops/common/call.h"
#include "ops/common/widened.h"
#include "tensor/dispatch.h"
#include "tensor/strided.h"

namespace cladtorch::detail {

/// Elements per parallel piece of a pointwise loop: large enough to hide the cost of handing it out.
inline constexpr int64_t pointwise_grain = 1 << 14;

/// bfloat16 elements that are computed together: with two operands, 6 KB of floats.
inline constexpr int64_t widened_block = 512;

/// Calls kernel(n, in..., out) for pieces of dense memory, in parallel; with floats for bfloat16. The kernel
/// adds if out.add, else it stores.
template <class T, class Kernel, class... In>
void pointwise(int64_t n, Target<T> out, Kernel kernel, const In*... in) {
  parallel_for(n, pointwise_grain, [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, bfloat16>) {
      float memory[sizeof...(In) + 1][widened_block];
      for (int64_t i = begin; i < end; i += widened_block) {
        const int64_t count = std::min(widened_block, end - i);
        const Written<T> to(count, out.data + i, out.add, memory[0]);
        int operand = 0;
        const std::array<const float*, sizeof...(In)> from = {readable(count, in + i, memory[++operand])...};
        std::apply([&](auto... x) { kernel(count, x..., to.data()); }, from);
      }
    } else {
      kernel(end - begin, (in + begin)..., out.data + begin);
    }
  });
}

/// out[i] = f(x[i]) over dense memory.
template <class T, class F>
void map(int64_t n, const T* x, T* out, F f) {
  const auto kernel = [&](int64_t count, const Computed<T>* from, Computed<T>* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = f(from[i]);
  };
  pointwise(n, Target<T>{out}, kernel, x);
}

/// out[i] = or += f(x[i], z[i]) over dense memory.
template <class T, class F>
void map2(int64_t n, const T* x, const T* z, Target<T> out, F f) {
  using C = Computed<T>;
  const auto kernel = [&](int64_t count, const C* u, const C* v, C* to) {
    if (out.add) {
      for (int64_t i = 0; i < count; ++i) to[i] += f(u[i], v[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = f(u[i], v[i]);
    }
  };
  pointwise(n, out, kernel, x, z);
}

/// Dense `out` of shape `shape` = or += f(a, b), where a and b of T broadcast to `shape`.
template <class T, class Out, class F>
void zip(const Shape& shape, const Tensor& a, const Tensor& b, Target<Out> out, F f) {
  using C = Computed<T>;
  const T *const a_data = a.data<T>(), *const b_data = b.data<T>();
  if constexpr (std::is_same_v<T, Out>) {
    const auto dense = [&](const Tensor& x) { return x.shape() == shape && x.is_contiguous(); };
    if (dense(a) && dense(b)) return map2(shape.numel(), a_data, b_data, out, f);
  }
  const StridedLoop<3> loop(shape,
                            {contiguous_strides(shape), broadcast_strides(a.shape(), a.strides(), shape),
                             broadcast_strides(b.shape(), b.strides(), shape)});
  const auto run = [&](auto write) {
    const auto row = [&](int64_t n, C* y, int64_t s, const C* u, int64_t t, const C* v, int64_t w) {
      if (s == 1 && t == 1 && w == 1) {
        for (int64_t i = 0; i < n; ++i) write(y[i], f(u[i], v[i]));
      } else if (s == 1 && t == 1 && w == 0) {
        for (int64_t i = 0; i < n; ++i) write(y[i], f(u[i], v[0]));
      } else {
        for (int64_t i = 0; i < n; ++i) write(y[i * s], f(u[i * t], v[i * w]));
      }
    };
    loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
      Out* const y = out.data + offsets[0];
      const T *const u = a_data + offsets[1], *const v = b_data + offsets[2];
      const int64_t s = steps[0], t = steps[1], w = steps[2];
      if constexpr (std::is_same_v<T, bfloat16>) {  // s is 1: `out` is dense
        C memory[3][widened_block];
        for (int64_t i = 0; i < n; i += widened_block) {
          const int64_t count = std::min(widened_block, n - i);
          const Written<Out> to(count, y + i, out.add, memory[0]);
          row(count, to.data(), 1, readable(count, u + i * t, t, memory[1]), 1,
              readable(count, v + i * w, w, memory[2]), 1);
        }
      } else {
        row(n, y, s, u, t, v, w);
      }
    });
  };
  if (out.add) {
    run([](C& to, C value) { to += value; });
  } else {
    run([](C& to, C value) { to = value; });
  }
}

}  // namespace cladtorch::detail
