#include "cladtorch/ops/recurrent.h"

#include "cladtorch/ops/count.h"
#include "cladtorch/tensor/gradient_target.h"
#include "ops/common/elementwise.h"
#include "ops/common/one_device.h"
#include "ops/common/rows.h"
#include "simd/kernels.h"

namespace cladtorch {
namespace {

using detail::Computed;

void check_cell(const char* operation, const Tensor& from_x, const Tensor& from_h, const Tensor& kept,
                int64_t parts) {
  detail::check_operands(operation, from_x, from_h);
  detail::check_operands(operation, from_x, kept);
  detail::require_cpu(operation, from_x);
  require(kept.dim() == 2 && from_x.shape() == from_h.shape() &&
              from_x.shape() == Shape{kept.size(0), parts * kept.size(1)},
          operation, ": expected [N, ", parts, " H], the same, and [N, H], got ", from_x.shape(), ", ",
          from_h.shape(), " and ", kept.shape());
}

/// x = f(x)
template <class F, class C>
void apply(int64_t n, C* x) {
  const F f{};
  if constexpr (std::is_same_v<C, float>) {
    simd::kernels().functions[functions::index_of<F>].value(&f, n, x, x);
  } else {
    for (int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
  }
}

/// The forward pass; the gates of `state` are set.
LstmStep step_lstm(const Tensor& from_x, const Tensor& from_h, const Tensor& c, LstmCellState& state) {
  check_cell("lstm_cell", from_x, from_h, c, 4);
  detail::count_op();
  const int64_t rows = c.size(0), n = c.size(1);
  const Tensor a = from_x.contiguous(), b = from_h.contiguous(), old = c.contiguous();
  LstmStep y{Tensor::empty(c.shape(), c.dtype()), Tensor::empty(c.shape(), c.dtype())};
  y.h.set_frozen(all_frozen(from_x, from_h, c));
  y.c.set_frozen(y.h.is_frozen());
  state = {Tensor::empty(a.shape(), detail::computed_in(c.dtype())),
           Tensor::empty(c.shape(), detail::computed_in(c.dtype()))};
  detail::dispatch_real("lstm_cell", c.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    detail::for_each_row<T>(rows, 4 * n, 1, [&](int64_t row, const auto&) {
      C *const gates = state.gates.data<C>() + row * 4 * n, *const tanh_c = state.tanh_c.data<C>() + row * n;
      const T *const x = a.data<T>() + row * 4 * n, *const h = b.data<T>() + row * 4 * n,
                     *const before = old.data<T>() + row * n;
      T *const to_h = y.h.data<T>() + row * n, *const to_c = y.c.data<T>() + row * n;
      for (int64_t i = 0; i < 4 * n; ++i) gates[i] = static_cast<C>(x[i]) + static_cast<C>(h[i]);
      apply<functions::Sigmoid>(2 * n, gates);
      apply<functions::Tanh>(n, gates + 2 * n);
      apply<functions::Sigmoid>(n, gates + 3 * n);
      for (int64_t i = 0; i < n; ++i) {
        tanh_c[i] = gates[n + i] * static_cast<C>(before[i]) + gates[i] * gates[2 * n + i];
        to_c[i] = static_cast<T>(tanh_c[i]);
      }
      apply<functions::Tanh>(n, tanh_c);
      for (int64_t i = 0; i < n; ++i) to_h[i] = static_cast<T>(gates[3 * n + i] * tanh_c[i]);
    });
  });
  return y;
}

Tensor step_gru(const Tensor& from_x, const Tensor& from_h, const Tensor& h, GruCellState& state) {
  check_cell("gru_cell", from_x, from_h, h, 3);
  detail::count_op();
  const int64_t rows = h.size(0), n = h.size(1);
  const Tensor a = from_x.contiguous(), b = from_h.contiguous(), old = h.contiguous();
  Tensor y = Tensor::empty(h.shape(), h.dtype());
  y.set_frozen(all_frozen(from_x, from_h, h));
  state = {Tensor::empty(a.shape(), detail::computed_in(h.dtype()))};
  detail::dispatch_real("gru_cell", h.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    detail::for_each_row<T>(rows, 3 * n, 1, [&](int64_t row, const auto&) {
      C* const gates = state.gates.data<C>() + row * 3 * n;
      const T *const x = a.data<T>() + row * 3 * n, *const z = b.data<T>() + row * 3 * n,
                     *const before = old.data<T>() + row * n;
      T* const to = y.data<T>() + row * n;
      for (int64_t i = 0; i < 2 * n; ++i) gates[i] = static_cast<C>(x[i]) + static_cast<C>(z[i]);
      apply<functions::Sigmoid>(2 * n, gates);
      for (int64_t i = 0; i < n; ++i)
        gates[2 * n + i] = static_cast<C>(x[2 * n + i]) + gates[i] * static_cast<C>(z[2 * n + i]);
      apply<functions::Tanh>(n, gates + 2 * n);
      for (int64_t i = 0; i < n; ++i) {
        const C candidate = gates[2 * n + i];
        to[i] = static_cast<T>(candidate + gates[n + i] * (static_cast<C>(before[i]) - candidate));
      }
    });
  });
  return y;
}

/// Element i of a cotangent that may be undefined.
template <class T>
auto reader(const Tensor& d) {
  const T* const data = d.defined() ? d.data<T>() : nullptr;
  return [data](int64_t i) { return data ? static_cast<Computed<T>>(data[i]) : Computed<T>(0); };
}

}  // namespace

LstmStep lstm_cell(const Tensor& from_x, const Tensor& from_h, const Tensor& c) {
  LstmCellState state;
  return step_lstm(from_x, from_h, c, state);
}
Tensor gru_cell(const Tensor& from_x, const Tensor& from_h, const Tensor& h) {
  GruCellState state;
  return step_gru(from_x, from_h, h, state);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace ops = ::cladtorch;

LstmStep lstm_cell_reverse_forw(const Tensor& from_x, const Tensor& from_h, const Tensor& c,
                                pullback_state<LstmCellState>& state) {
  const LstmStep y = ops::step_lstm(from_x, from_h, c, state.data);
  state.data.gates.set_frozen(from_x.is_frozen());
  state.data.tanh_c.set_frozen(from_h.is_frozen());
  return y;
}
Tensor gru_cell_reverse_forw(const Tensor& from_x, const Tensor& from_h, const Tensor& h,
                             pullback_state<GruCellState>& state) {
  Tensor y = ops::step_gru(from_x, from_h, h, state.data);
  state.data.gates.set_frozen(from_x.is_frozen());
  return y;
}

void lstm_cell_pullback(const Tensor&, const Tensor&, const Tensor& c, LstmStep d_y, Tensor* d_from_x,
                        Tensor* d_from_h, Tensor* d_c, pullback_state<LstmCellState>& state) {
  d_from_x = ops::wanted(d_from_x, state.data.gates);
  d_from_h = ops::wanted(d_from_h, state.data.tanh_c);
  d_c = ops::wanted(d_c, c);
  if ((!d_y.h.defined() && !d_y.c.defined()) || (!d_from_x && !d_from_h && !d_c)) return;
  const int64_t rows = c.size(0), n = c.size(1);
  const Tensor old = c.contiguous(), seed_h = d_y.h.contiguous(), seed_c = d_y.c.contiguous();
  Tensor d_gates = Tensor::empty({rows, 4 * n}, c.dtype()), d_old = Tensor::empty(c.shape(), c.dtype());
  ops::detail::dispatch_real("lstm_cell", c.dtype(), [&]<class T>(T) {
    using C = ops::detail::Computed<T>;
    const auto d_h = ops::reader<T>(seed_h), d_next = ops::reader<T>(seed_c);
    ops::detail::for_each_row<T>(rows, 4 * n, 1, [&](int64_t row, const auto&) {
      const C *const gates = std::as_const(state.data.gates).data<C>() + row * 4 * n,
                     *const tanh_c = std::as_const(state.data.tanh_c).data<C>() + row * n;
      const T* const before = old.data<T>() + row * n;
      T *const to = d_gates.data<T>() + row * 4 * n, *const to_c = d_old.data<T>() + row * n;
      for (int64_t k = 0; k < n; ++k) {
        const C i = gates[k], f = gates[n + k], g = gates[2 * n + k], o = gates[3 * n + k], t = tanh_c[k];
        const C of_h = d_h(row * n + k), of_c = d_next(row * n + k) + of_h * o * (1 - t * t);
        to[k] = static_cast<T>(of_c * g * i * (1 - i));
        to[n + k] = static_cast<T>(of_c * static_cast<C>(before[k]) * f * (1 - f));
        to[2 * n + k] = static_cast<T>(of_c * i * (1 - g * g));
        to[3 * n + k] = static_cast<T>(of_h * t * o * (1 - o));
        to_c[k] = static_cast<T>(of_c * f);
      }
    });
  });
  if (d_c) d_c->accumulate(std::move(d_old));
  if (d_from_x) d_from_x->accumulate(d_gates);
  if (d_from_h) d_from_h->accumulate(std::move(d_gates));
}

void gru_cell_pullback(const Tensor&, const Tensor& from_h, const Tensor& h, Tensor d_y, Tensor* d_from_x,
                       Tensor* d_from_h, Tensor* d_h, pullback_state<GruCellState>& state) {
  d_from_x = ops::wanted(d_from_x, state.data.gates);
  d_from_h = ops::wanted(d_from_h, from_h);
  d_h = ops::wanted(d_h, h);
  if (!d_y.defined() || (!d_from_x && !d_from_h && !d_h)) return;
  const int64_t rows = h.size(0), n = h.size(1);
  const Tensor old = h.contiguous(), parts = from_h.contiguous(), seed = d_y.contiguous();
  Tensor d_x = Tensor::empty({rows, 3 * n}, h.dtype()), d_parts = Tensor::empty({rows, 3 * n}, h.dtype()),
         d_old = Tensor::empty(h.shape(), h.dtype());
  ops::detail::dispatch_real("gru_cell", h.dtype(), [&]<class T>(T) {
    using C = ops::detail::Computed<T>;
    const auto d = ops::reader<T>(seed);
    ops::detail::for_each_row<T>(rows, 3 * n, 1, [&](int64_t row, const auto&) {
      const C* const gates = std::as_const(state.data.gates).data<C>() + row * 3 * n;
      const T *const before = old.data<T>() + row * n, *const part = parts.data<T>() + (row * 3 + 2) * n;
      T *const to_x = d_x.data<T>() + row * 3 * n, *const to_h = d_parts.data<T>() + row * 3 * n,
               *const to = d_old.data<T>() + row * n;
      for (int64_t k = 0; k < n; ++k) {
        const C r = gates[k], z = gates[n + k], candidate = gates[2 * n + k], of_y = d(row * n + k);
        const C of_n = of_y * (1 - z) * (1 - candidate * candidate);
        to_x[k] = to_h[k] = static_cast<T>(of_n * static_cast<C>(part[k]) * r * (1 - r));
        to_x[n + k] = to_h[n + k] =
            static_cast<T>(of_y * (static_cast<C>(before[k]) - candidate) * z * (1 - z));
        to_x[2 * n + k] = static_cast<T>(of_n);
        to_h[2 * n + k] = static_cast<T>(of_n * r);
        to[k] = static_cast<T>(of_y * z);
      }
    });
  });
  if (d_from_x) d_from_x->accumulate(std::move(d_x));
  if (d_from_h) d_from_h->accumulate(std::move(d_parts));
  if (d_h) d_h->accumulate(std::move(d_old));
}

}  // namespace clad::custom_derivatives::cladtorch
