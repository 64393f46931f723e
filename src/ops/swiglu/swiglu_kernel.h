// SwiGLU of dense memory, for every floating type.
#pragma once

#include "ops/common/elementwise.h"
#include "ops/swiglu/swiglu_functions.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

/// y = silu(gate) up
template <class T>
void swiglu(int64_t n, const T* gate, const T* up, T* y) {
  if constexpr (std::is_same_v<T, double>) {
    map2(n, gate, up, Target<T>{y}, Swiglu{});
  } else {
    pointwise(n, Target<T>{y}, simd::kernels().swiglu, gate, up);
  }
}

/// One piece of the pullback in float or double.
template <class T>
void swiglu_pullback_piece(int64_t n, const T* gate, const T* up, const T* d_y, Target<T> d_gate,
                           Target<T> d_up) {
  if constexpr (std::is_same_v<T, float>) {
    simd::kernels().swiglu_pullback(n, gate, up, d_y, d_gate.data, d_gate.add, d_up.data, d_up.add);
  } else {
    const auto put = [](const Target<T>& to, int64_t i, T d) { to.data[i] = to.add ? to.data[i] + d : d; };
    for (int64_t i = 0; i < n; ++i) {
      const SwigluGradients<T> d = swiglu_gradients(gate[i], up[i], d_y[i]);
      if (d_gate) put(d_gate, i, d.gate);
      if (d_up) put(d_up, i, d.up);
    }
  }
}

/// Either gradient may be unwanted.
template <class T>
void swiglu_pullback(int64_t n, const T* gate, const T* up, const T* d_y, Target<T> d_gate, Target<T> d_up) {
  const auto from = [](Target<T> to, int64_t i) {
    if (to) to.data += i;
    return to;
  };
  parallel_for(n, pointwise_grain, [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, bfloat16>) {
      float memory[5][widened_block];
      for (int64_t i = begin; i < end; i += widened_block) {
        const int64_t count = std::min(widened_block, end - i);
        const Written<T> to_gate(d_gate ? count : 0, from(d_gate, i).data, d_gate.add, memory[3]),
            to_up(d_up ? count : 0, from(d_up, i).data, d_up.add, memory[4]);
        swiglu_pullback_piece<float>(count, readable(count, gate + i, memory[0]),
                                     readable(count, up + i, memory[1]), readable(count, d_y + i, memory[2]),
                                     {d_gate ? to_gate.data() : nullptr, d_gate.add},
                                     {d_up ? to_up.data() : nullptr, d_up.add});
      }
    } else {
      swiglu_pullback_piece<T>(end - begin, gate + begin, up + begin, d_y + begin, from(d_gate, begin),
                               from(d_up, begin));
    }
  });
}

}  // namespace cladtorch::detail
