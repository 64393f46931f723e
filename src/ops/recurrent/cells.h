// What the cells of recurrent networks do in a step, for one sequence of a batch, and its derivative. C is
// float or double, and a state has n elements.
#pragma once

#include <cstdint>

#include "cladtorch/ops/functions/functions.h"
#include "simd/kernels.h"

namespace cladtorch::detail {

/// x = f(x)
template <class F, class C>
void apply_in_place(int64_t n, C* x) {
  const F f{};
  if constexpr (std::is_same_v<C, float>) {
    simd::kernels().functions[functions::index_of<F>].value(&f, n, x, x);
  } else {
    for (int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
  }
}

/// The values of one step. A cell that `adds_parts` gets the sum of both linear parts in `gates`; another
/// gets that of x there and that of h in `from_h`. What the nonlinearities return takes its place in `gates`.
template <class C>
struct CellStep {
  C* gates;
  const C* from_h = nullptr;  ///< if the parts are not added
  const C *h = nullptr, *c = nullptr;
  C* tanh_c = nullptr;                     ///< only if the cell has_c
  C *next_h = nullptr, *next_c = nullptr;  ///< may be h and c
};

/// Its derivative. `d_h` holds that of the next h and becomes what h gets beside the linear part; `d_c` holds
/// that of the next c and becomes that of c.
template <class C>
struct CellPullback {
  const C *gates, *from_h = nullptr, *h = nullptr, *c = nullptr, *tanh_c = nullptr;
  C *d_h, *d_c = nullptr;
  C *d_from_x, *d_from_h = nullptr;  ///< d_from_h if the parts are not added
};

struct TanhCell {
  static constexpr const char* name = "rnn_sequence";
  static constexpr int64_t gates = 1;
  static constexpr bool has_c = false, adds_parts = true;

  template <class C>
  static void forward(int64_t n, const CellStep<C>& step) {
    apply_in_place<functions::Tanh>(n, step.gates);
    for (int64_t i = 0; i < n; ++i) step.next_h[i] = step.gates[i];
  }
  template <class C>
  static void pullback(int64_t n, const CellPullback<C>& step) {
    for (int64_t i = 0; i < n; ++i) {
      step.d_from_x[i] = step.d_h[i] * (1 - step.gates[i] * step.gates[i]);
      step.d_h[i] = 0;
    }
  }
};

struct LstmCell {
  static constexpr const char* name = "lstm_sequence";
  static constexpr int64_t gates = 4;
  static constexpr bool has_c = true, adds_parts = true;

  template <class C>
  static void forward(int64_t n, const CellStep<C>& step) {
    C *const gates = step.gates, *const tanh_c = step.tanh_c;
    apply_in_place<functions::Sigmoid>(2 * n, gates);
    apply_in_place<functions::Tanh>(n, gates + 2 * n);
    apply_in_place<functions::Sigmoid>(n, gates + 3 * n);
    for (int64_t i = 0; i < n; ++i)
      step.next_c[i] = tanh_c[i] = gates[n + i] * step.c[i] + gates[i] * gates[2 * n + i];
    apply_in_place<functions::Tanh>(n, tanh_c);
    for (int64_t i = 0; i < n; ++i) step.next_h[i] = gates[3 * n + i] * tanh_c[i];
  }
  template <class C>
  static void pullback(int64_t n, const CellPullback<C>& step) {
    C* const d = step.d_from_x;
    for (int64_t k = 0; k < n; ++k) {
      const C i = step.gates[k], f = step.gates[n + k], g = step.gates[2 * n + k], o = step.gates[3 * n + k],
              t = step.tanh_c[k], of_h = step.d_h[k], of_c = step.d_c[k] + of_h * o * (1 - t * t);
      d[k] = of_c * g * i * (1 - i);
      d[n + k] = of_c * step.c[k] * f * (1 - f);
      d[2 * n + k] = of_c * i * (1 - g * g);
      d[3 * n + k] = of_h * t * o * (1 - o);
      step.d_c[k] = of_c * f;
      step.d_h[k] = 0;
    }
  }
};

struct GruCell {
  static constexpr const char* name = "gru_sequence";
  static constexpr int64_t gates = 3;
  static constexpr bool has_c = false, adds_parts = false;

  template <class C>
  static void forward(int64_t n, const CellStep<C>& step) {
    C* const gates = step.gates;
    for (int64_t i = 0; i < 2 * n; ++i) gates[i] += step.from_h[i];
    apply_in_place<functions::Sigmoid>(2 * n, gates);
    for (int64_t i = 0; i < n; ++i) gates[2 * n + i] += gates[i] * step.from_h[2 * n + i];
    apply_in_place<functions::Tanh>(n, gates + 2 * n);
    for (int64_t i = 0; i < n; ++i) {
      const C candidate = gates[2 * n + i];
      step.next_h[i] = candidate + gates[n + i] * (step.h[i] - candidate);
    }
  }
  template <class C>
  static void pullback(int64_t n, const CellPullback<C>& step) {
    C *const to_x = step.d_from_x, *const to_h = step.d_from_h;
    for (int64_t k = 0; k < n; ++k) {
      const C r = step.gates[k], z = step.gates[n + k], candidate = step.gates[2 * n + k], of_y = step.d_h[k];
      const C of_n = of_y * (1 - z) * (1 - candidate * candidate);
      to_x[k] = to_h[k] = of_n * step.from_h[2 * n + k] * r * (1 - r);
      to_x[n + k] = to_h[n + k] = of_y * (step.h[k] - candidate) * z * (1 - z);
      to_x[2 * n + k] = of_n;
      to_h[2 * n + k] = of_n * r;
      step.d_h[k] = of_y * z;
    }
  }
};

}  // namespace cladtorch::detail
