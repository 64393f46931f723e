// Elements that are chosen by conditions and by indices, on the CPU.
//
// A condition or mask is bool (ops/comparison.h). Indices are int32 or int64 and count from 0; one that is
// negative or too large is an Error that names it. Results do not depend on the number of threads. Everything
// here takes tensors of any dtype but float8, and has derivatives for the floating ones.
#pragma once

#include <clad/opaque.h>

#include <cmath>

#include "cladtorch/ops/comparison.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// The element of a where `condition` is true, else that of b. All three broadcast by PyTorch's rules, and a
/// and b have one dtype. What is not chosen has no part in the derivative, be it infinite or NaN.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b);

namespace detail {
/// The largest finite number of a floating dtype.
CLAD_NONDIFFERENTIABLE double largest_number(DType dtype);
}  // namespace detail

/// x with `value` where the mask, which broadcasts to x, is true.
inline Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  const Tensor y = where(mask, value, x);
  require(y.shape() == x.shape(), "masked_fill: the mask of ", mask.shape(), " does not broadcast to ",
          x.shape());
  return y;
}

/// x with `nan` instead of NaN and `posinf` and `neginf` instead of infinities, which then are constants. As
/// in PyTorch, the largest numbers of the dtype stand for infinities unless you say otherwise.
inline Tensor nan_to_num(const Tensor& x, double nan, double posinf, double neginf) {
  const Tensor finite = where(isnan(x), nan, where(ge(x, INFINITY), posinf, x));
  return where(le(x, -INFINITY), neginf, finite);
}
inline Tensor nan_to_num(const Tensor& x, double nan = 0) {
  const double most = detail::largest_number(x.dtype());
  return nan_to_num(x, nan, most, -most);
}

/// y[i][j] = x[index[i][j]][j] for two dimensions and `dim` 0, and so on: the shape of `index` is that of the
/// result. It has the rank of x, and is not larger in other dimensions than `dim`.
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index);

/// A copy of x to which src is added at the places that gather would read: y[index[i][j]][j] += src[i][j],
/// one after the other along `dim`; bfloat16 in float32. `index` is in no dimension larger than src.
Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src);

/// The same with = instead of +=. Of several elements for one place the last along `dim` stays, which alone
/// has a derivative; PyTorch gives it to all.
Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src);

namespace detail {
/// index [n], of entries below `extent`, as gather(x, dim, ...) takes it for x of `shape`: it selects the
/// same entries everywhere.
CLAD_NONDIFFERENTIABLE Tensor index_along(const char* operation, const Tensor& index, int64_t dim,
                                          const Shape& shape, int64_t extent);
/// `shape` broadcast to `other` in all dimensions but `dim`.
Shape broadcast_but(const char* operation, const Shape& shape, const Shape& other, int64_t dim);
/// Where the mask, broadcast to `shape`, is true: places in row-major order, int32 [n].
CLAD_NONDIFFERENTIABLE Tensor true_places(const char* operation, const Tensor& mask, const Shape& shape);
}  // namespace detail

inline Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, double value) {
  return scatter(x, dim, index,
                 where(ones({}, DType::boolean), value, zeros(index.shape(), x.dtype(), x.device())));
}

/// The entries of `dim` that index [n] names, in its order.
inline Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  return gather(x, dim, detail::index_along("index_select", index, dim, x.shape(), x.size(dim)));
}

/// A copy of x to whose entry index[i] of `dim` the entry i of src is added, one after the other.
inline Tensor index_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter_add(x, dim, detail::index_along("index_add", index, dim, src.shape(), x.size(dim)), src);
}

/// gather(x, dim, indices) of operands that broadcast in the other dimensions, such as what argmax(x, dim,
/// true) and argsort return.
inline Tensor take_along_dim(const Tensor& x, const Tensor& indices, int64_t dim) {
  const Shape of_x = detail::broadcast_but("take_along_dim", x.shape(), indices.shape(), dim);
  const Shape of_indices = detail::broadcast_but("take_along_dim", indices.shape(), x.shape(), dim);
  return gather(x.expand(of_x), dim, indices.expand(of_indices));
}

/// The elements of x where the mask is true, in row-major order, as one dimension; both broadcast.
inline Tensor masked_select(const Tensor& x, const Tensor& mask) {
  const Shape shape = broadcast_shapes("masked_select", x.shape(), mask.shape());
  return index_select(x.expand(shape).flatten(), 0, detail::true_places("masked_select", mask, shape));
}

/// The places of the elements that are not 0, in row-major order: int32 [n, x.dim()].
CLAD_NONDIFFERENTIABLE Tensor nonzero(const Tensor& x);

/// What the derivative needs of the operands besides the condition.
struct WhereState {
  Shape a, b;
  bool a_frozen = false, b_frozen = false;
};
struct GatherState {
  Shape x;
  bool frozen = false;
};
struct ScatterState {
  Shape src;
  bool x_frozen = false, src_frozen = false;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::GatherState;
using ::cladtorch::ScatterState;
using ::cladtorch::Tensor;
using ::cladtorch::WhereState;

// Conditions and indices have no derivative: their gradients do not change.
Tensor where_reverse_forw(const Tensor& condition, const Tensor& a, const Tensor& b,
                          pullback_state<WhereState>& state);
void where_pullback(const Tensor& condition, CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b,
                    Tensor d_y, Tensor* d_condition, Tensor* d_a, Tensor* d_b,
                    pullback_state<WhereState>& state);
Tensor where_reverse_forw(const Tensor& condition, const Tensor& a, double b,
                          pullback_state<WhereState>& state);
void where_pullback(const Tensor& condition, CLAD_UNUSED const Tensor& a, double b, Tensor d_y,
                    Tensor* d_condition, Tensor* d_a, double* d_b, pullback_state<WhereState>& state);
Tensor where_reverse_forw(const Tensor& condition, double a, const Tensor& b,
                          pullback_state<WhereState>& state);
void where_pullback(const Tensor& condition, double a, CLAD_UNUSED const Tensor& b, Tensor d_y,
                    Tensor* d_condition, double* d_a, Tensor* d_b, pullback_state<WhereState>& state);

Tensor gather_reverse_forw(const Tensor& x, int64_t dim, const Tensor& index,
                           pullback_state<GatherState>& state);
void gather_pullback(CLAD_UNUSED const Tensor& x, int64_t dim, const Tensor& index, Tensor d_y, Tensor* d_x,
                     Tensor* d_index, pullback_state<GatherState>& state);

Tensor scatter_add_reverse_forw(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                                pullback_state<ScatterState>& state);
void scatter_add_pullback(CLAD_UNUSED const Tensor& x, int64_t dim, const Tensor& index,
                          CLAD_UNUSED const Tensor& src, Tensor d_y, Tensor* d_x, Tensor* d_index,
                          Tensor* d_src, pullback_state<ScatterState>& state);

Tensor scatter_reverse_forw(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src,
                            pullback_state<ScatterState>& state);
void scatter_pullback(CLAD_UNUSED const Tensor& x, int64_t dim, const Tensor& index,
                      CLAD_UNUSED const Tensor& src, Tensor d_y, Tensor* d_x, Tensor* d_index, Tensor* d_src,
                      pullback_state<ScatterState>& state);
}  // namespace clad::custom_derivatives::cladtorch
