#include "cladtorch/ops/views.h"

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "ops/common/reduce_to.h"

namespace clad::custom_derivatives::class_functions {
namespace {

using State = pullback_state<ShapeState>;
using ::cladtorch::accumulate_into;
using ::cladtorch::checked_dim;

void remember(const Tensor& self, State& state) { state.data = {self.shape(), self.dtype(), self.device()}; }

/// *d += d_y, laid out as `shape`.
void accumulate_reshaped(Tensor* d, const Tensor& d_y, const Shape& shape) {
  if (d && d_y.defined()) d->accumulate(d_y.reshape(shape));
}

/// Adds d_y to a window of *d, a tensor of the remembered shape that is zero elsewhere.
template <class Window>
void accumulate_window(Tensor* d, const Tensor& d_y, const State& state, Window&& window) {
  if (!::cladtorch::wanted(d) || !d_y.defined()) return;
  // Storing the zeros is the first contribution; adding them to a gradient that exists would be a wasted
  // pass.
  const auto target = accumulate_into(d, state.data.shape, state.data.dtype, state.data.device);
  if (!target.add()) d->zero_();
  Tensor part = window(*d);
  Tensor sum = part.clone();
  sum.accumulate(d_y);
  part.copy_from(sum);
}

}  // namespace

double item_reverse_forw(const Tensor* self, State& state) {
  remember(*self, state);
  return self->item();
}
void item_pullback(const Tensor*, double d_y, Tensor* d_self, State& state) {
  const ::cladtorch::ShapeState& x = state.data;
  if (d_self) d_self->accumulate(::cladtorch::full(x.shape, d_y, x.dtype, x.device));
}

Tensor reshape_reverse_forw(const Tensor* self, const Shape& shape, State& state) {
  remember(*self, state);
  return self->reshape(shape);
}
void reshape_pullback(const Tensor*, const Shape&, Tensor d_y, Tensor* d_self, State& state) {
  accumulate_reshaped(d_self, d_y, state.data.shape);
}

Tensor flatten_reverse_forw(const Tensor* self, State& state) {
  remember(*self, state);
  return self->flatten();
}
void flatten_pullback(const Tensor*, Tensor d_y, Tensor* d_self, State& state) {
  accumulate_reshaped(d_self, d_y, state.data.shape);
}

void transpose_pullback(const Tensor*, int64_t dim0, int64_t dim1, Tensor d_y, Tensor* d_self) {
  if (d_self && d_y.defined()) d_self->accumulate(d_y.transpose(dim0, dim1));
}

void permute_pullback(const Tensor*, const Shape& dims, Tensor d_y, Tensor* d_self) {
  if (!d_self || !d_y.defined()) return;
  Shape inverse = dims;
  for (int i = 0; i < dims.rank(); ++i) inverse[checked_dim("permute", dims[i], dims.rank())] = i;
  d_self->accumulate(d_y.permute(inverse));
}

Tensor narrow_reverse_forw(const Tensor* self, int64_t dim, int64_t start, int64_t length, State& state) {
  remember(*self, state);
  return self->narrow(dim, start, length);
}
void narrow_pullback(const Tensor*, int64_t dim, int64_t start, int64_t length, Tensor d_y, Tensor* d_self,
                     State& state) {
  accumulate_window(d_self, d_y, state, [&](const Tensor& d) { return d.narrow(dim, start, length); });
}

Tensor slice_reverse_forw(const Tensor* self, int64_t dim, int64_t start, int64_t end, State& state) {
  remember(*self, state);
  return self->slice(dim, start, end);
}
void slice_pullback(const Tensor*, int64_t dim, int64_t start, int64_t end, Tensor d_y, Tensor* d_self,
                    State& state) {
  accumulate_window(d_self, d_y, state, [&](const Tensor& d) { return d.slice(dim, start, end); });
}

Tensor select_reverse_forw(const Tensor* self, int64_t dim, int64_t index, State& state) {
  remember(*self, state);
  return self->select(dim, index);
}
void select_pullback(const Tensor*, int64_t dim, int64_t index, Tensor d_y, Tensor* d_self, State& state) {
  accumulate_window(d_self, d_y, state, [&](const Tensor& d) { return d.select(dim, index); });
}

std::vector<Tensor> split_reverse_forw(const Tensor* self, int64_t size, int64_t dim, State& state) {
  remember(*self, state);
  return self->split(size, dim);
}
void split_pullback(const Tensor*, int64_t size, int64_t dim, std::vector<Tensor> d_y, Tensor* d_self,
                    State& state) {
  const int64_t extent = state.data.shape[checked_dim("split", dim, state.data.shape.rank())];
  for (size_t i = 0; i < d_y.size(); ++i) {
    const int64_t start = static_cast<int64_t>(i) * size;
    accumulate_window(d_self, d_y[i], state,
                      [&](const Tensor& d) { return d.narrow(dim, start, std::min(size, extent - start)); });
  }
}

Tensor unsqueeze_reverse_forw(const Tensor* self, int64_t dim, State& state) {
  remember(*self, state);
  return self->unsqueeze(dim);
}
void unsqueeze_pullback(const Tensor*, int64_t, Tensor d_y, Tensor* d_self, State& state) {
  accumulate_reshaped(d_self, d_y, state.data.shape);
}

Tensor squeeze_reverse_forw(const Tensor* self, int64_t dim, State& state) {
  remember(*self, state);
  return self->squeeze(dim);
}
void squeeze_pullback(const Tensor*, int64_t, Tensor d_y, Tensor* d_self, State& state) {
  accumulate_reshaped(d_self, d_y, state.data.shape);
}

Tensor expand_reverse_forw(const Tensor* self, const Shape& shape, State& state) {
  remember(*self, state);
  return self->expand(shape);
}
void expand_pullback(const Tensor*, const Shape&, Tensor d_y, Tensor* d_self, State& state) {
  ::cladtorch::detail::accumulate_reduced(d_self, std::move(d_y), state.data.shape);
}

void contiguous_pullback(const Tensor*, Tensor d_y, Tensor* d_self) {
  if (d_self) d_self->accumulate(std::move(d_y));
}
void clone_pullback(const Tensor*, Tensor d_y, Tensor* d_self) {
  if (d_self) d_self->accumulate(std::move(d_y));
}

Tensor to_reverse_forw(const Tensor* self, DType dtype, State& state) {
  remember(*self, state);
  return self->to(dtype);
}
void to_pullback(const Tensor*, DType dtype, Tensor d_y, Tensor* d_self, State& state) {
  // Rounding to an integer is a step.
  if (!d_self || !d_y.defined() || !is_floating(dtype) || !is_floating(state.data.dtype)) return;
  // A buffer of float32 for a bfloat16 parameter takes the contribution before it is rounded.
  d_self->accumulate(d_self->defined() && d_self->dtype() == d_y.dtype() ? d_y : d_y.to(state.data.dtype));
}

}  // namespace clad::custom_derivatives::class_functions
