// One step of a recurrent network. bfloat16 operands are widened, and the results rounded once.
#include "cladtorch/ops/count.h"
#include "cladtorch/ops/recurrent.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/common/one_device.h"
#include "ops/common/rows.h"
#include "ops/recurrent/cells.h"

namespace cladtorch {
namespace {

template <class Cell>
void check_cell(const char* operation, const Tensor& from_x, const Tensor& from_h, const Tensor& kept) {
  detail::check_operands(operation, from_x, from_h);
  detail::check_operands(operation, from_x, kept);
  detail::require_cpu(operation, from_x);
  require(kept.dim() == 2 && from_x.shape() == from_h.shape() &&
              from_x.shape() == Shape{kept.size(0), Cell::gates * kept.size(1)},
          operation, ": expected [N, ", Cell::gates, " H], the same, and [N, H], got ", from_x.shape(), ", ",
          from_h.shape(), " and ", kept.shape());
}

/// As it is computed with.
Tensor computed(const Tensor& x) { return x.to(detail::computed_in(x.dtype())).contiguous(); }

/// body(C{}, row) for each row of `kept`.
template <class Body>
void for_each_row(const char* operation, const Tensor& kept, int64_t parts, Body&& body) {
  detail::dispatch_floating(operation, detail::computed_in(kept.dtype()), [&]<class C>(C type) {
    detail::for_each_row<C>(kept.size(0), parts * kept.size(1), 0,
                            [&](int64_t row, const auto&) { body(type, row); });
  });
}

/// The forward pass; `state` is set.
LstmStep step_lstm(const Tensor& from_x, const Tensor& from_h, const Tensor& c, LstmCellState& state) {
  check_cell<detail::LstmCell>("lstm_cell", from_x, from_h, c);
  detail::count_op();
  const int64_t n = c.size(1);
  const Tensor parts = computed(from_h), old = computed(c);
  const bool frozen = all_frozen(from_x, from_h, c);
  state = {computed(from_x).clone(), Tensor::empty(c.shape(), old.dtype())};
  Tensor h = Tensor::empty(c.shape(), old.dtype()), next = Tensor::empty(c.shape(), old.dtype());
  for_each_row("lstm_cell", c, 4, [&]<class C>(C, int64_t row) {
    C* const gates = state.gates.data<C>() + row * 4 * n;
    for (int64_t i = 0; i < 4 * n; ++i) gates[i] += parts.data<C>()[row * 4 * n + i];
    detail::LstmCell::forward<C>(n, {.gates = gates,
                                     .c = old.data<C>() + row * n,
                                     .tanh_c = state.tanh_c.data<C>() + row * n,
                                     .next_h = h.data<C>() + row * n,
                                     .next_c = next.data<C>() + row * n});
  });
  LstmStep y{h.to(c.dtype()), next.to(c.dtype())};
  y.h.set_frozen(frozen);
  y.c.set_frozen(frozen);
  return y;
}

Tensor step_gru(const Tensor& from_x, const Tensor& from_h, const Tensor& h, GruCellState& state) {
  check_cell<detail::GruCell>("gru_cell", from_x, from_h, h);
  detail::count_op();
  const int64_t n = h.size(1);
  const Tensor parts = computed(from_h), old = computed(h);
  state.gates = computed(from_x).clone();
  Tensor next = Tensor::empty(h.shape(), old.dtype());
  for_each_row("gru_cell", h, 3, [&]<class C>(C, int64_t row) {
    detail::GruCell::forward<C>(n, {.gates = state.gates.data<C>() + row * 3 * n,
                                    .from_h = parts.data<C>() + row * 3 * n,
                                    .h = old.data<C>() + row * n,
                                    .next_h = next.data<C>() + row * n});
  });
  Tensor y = next.to(h.dtype());
  y.set_frozen(all_frozen(from_x, from_h, h));
  return y;
}

/// A copy of a cotangent of the states, zeros if it is undefined.
Tensor seeded(const Tensor& d, const Tensor& like) {
  const DType dtype = detail::computed_in(like.dtype());
  return d.defined() ? d.to(dtype).clone() : zeros(like.shape(), dtype);
}

}  // namespace

LstmStep lstm_cell(const Tensor& from_x, const Tensor& from_h, const Tensor& c) {
  CLADTORCH_RECORD_STATE(LstmCellState, lstm_cell, unread(from_x), unread(from_h), c);
  LstmCellState state;
  return step_lstm(from_x, from_h, c, state);
}
Tensor gru_cell(const Tensor& from_x, const Tensor& from_h, const Tensor& h) {
  CLADTORCH_RECORD_STATE(GruCellState, gru_cell, unread(from_x), from_h, h);
  GruCellState state;
  return step_gru(from_x, from_h, h, state);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace ops = ::cladtorch;
namespace detail = ::cladtorch::detail;

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
  const int64_t n = c.size(1);
  const Tensor old = ops::computed(c), &gates = state.data.gates, &tanh_c = state.data.tanh_c;
  Tensor of_h = ops::seeded(d_y.h, c), of_c = ops::seeded(d_y.c, c);
  Tensor d_gates = Tensor::empty({c.size(0), 4 * n}, old.dtype());
  ops::for_each_row("lstm_cell", c, 4, [&]<class C>(C, int64_t row) {
    detail::LstmCell::pullback<C>(n, {.gates = gates.data<C>() + row * 4 * n,
                                      .c = old.data<C>() + row * n,
                                      .tanh_c = tanh_c.data<C>() + row * n,
                                      .d_h = of_h.data<C>() + row * n,
                                      .d_c = of_c.data<C>() + row * n,
                                      .d_from_x = d_gates.data<C>() + row * 4 * n});
  });
  d_gates = d_gates.to(c.dtype());
  if (d_c) d_c->accumulate(of_c.to(c.dtype()));
  if (d_from_x) d_from_x->accumulate(d_gates);
  if (d_from_h) d_from_h->accumulate(std::move(d_gates));
}

void gru_cell_pullback(const Tensor&, const Tensor& from_h, const Tensor& h, Tensor d_y, Tensor* d_from_x,
                       Tensor* d_from_h, Tensor* d_h, pullback_state<GruCellState>& state) {
  d_from_x = ops::wanted(d_from_x, state.data.gates);
  d_from_h = ops::wanted(d_from_h, from_h);
  d_h = ops::wanted(d_h, h);
  if (!d_y.defined() || (!d_from_x && !d_from_h && !d_h)) return;
  const int64_t n = h.size(1);
  const Tensor old = ops::computed(h), parts = ops::computed(from_h), &gates = state.data.gates;
  Tensor of_h = ops::seeded(d_y, h), d_x = Tensor::empty({h.size(0), 3 * n}, old.dtype()),
         d_parts = Tensor::empty({h.size(0), 3 * n}, old.dtype());
  ops::for_each_row("gru_cell", h, 3, [&]<class C>(C, int64_t row) {
    detail::GruCell::pullback<C>(n, {.gates = gates.data<C>() + row * 3 * n,
                                     .from_h = parts.data<C>() + row * 3 * n,
                                     .h = old.data<C>() + row * n,
                                     .d_h = of_h.data<C>() + row * n,
                                     .d_from_x = d_x.data<C>() + row * 3 * n,
                                     .d_from_h = d_parts.data<C>() + row * 3 * n});
  });
  if (d_from_x) d_from_x->accumulate(d_x.to(h.dtype()));
  if (d_from_h) d_from_h->accumulate(d_parts.to(h.dtype()));
  if (d_h) d_h->accumulate(of_h.to(h.dtype()));
}

}  // namespace clad::custom_derivatives::cladtorch
