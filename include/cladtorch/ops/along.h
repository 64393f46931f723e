// Operations along one dimension: joining tensors, the largest elements, running sums. A dimension may be
// negative, and then counts from the last; one that does not exist is an Error.
#pragma once

#include <clad/opaque.h>

#include <span>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// The parts behind one another along `dim`; all other extents, dtypes and devices must be equal. Throws
/// Error that names the part that does not fit.
Tensor cat(const std::vector<Tensor>& parts, int64_t dim = 0);
/// What cat keeps of a part.
struct CatPart {
  int64_t size;  ///< along the dimension
  bool frozen;
};
namespace detail {
/// `kept`, of as many, is set unless it is null.
Tensor cat_all(std::span<const Tensor> parts, int64_t dim, CatPart* kept = nullptr);
/// To each d_parts[i] what it has of d_y.
void pull_cat(int64_t dim, const Tensor& d_y, Tensor* d_parts, std::span<const CatPart> kept);
}  // namespace detail
/// The same of a list, cat({a, b}, dim), for which no memory is allocated but the result's.
template <size_t N>
Tensor cat(const Tensor (&parts)[N], int64_t dim = 0) {
  if (detail::recorder) return cat(std::vector<Tensor>(parts, parts + N), dim);
  return detail::cat_all(parts, dim);
}

/// The elements of x in the opposite order along `dim`. CPU only.
Tensor flip(const Tensor& x, int64_t dim);

/// y[i] = x[0] + ... + x[i] along `dim`, added one after the other; bfloat16 in float32. CPU only.
Tensor cumsum(const Tensor& x, int64_t dim);

/// The largest and the smallest element along `dim`, which must not be empty; NaN wins. Equal ones share the
/// derivative evenly. With `keepdim` the dimension stays, with size 1. CPU only.
Tensor amax(const Tensor& x, int64_t dim, bool keepdim = false);
Tensor amin(const Tensor& x, int64_t dim, bool keepdim = false);

/// Where the first of them is: int32. Derivatives pass by.
CLAD_NONDIFFERENTIABLE Tensor argmax(const Tensor& x, int64_t dim, bool keepdim = false);
CLAD_NONDIFFERENTIABLE Tensor argmin(const Tensor& x, int64_t dim, bool keepdim = false);

/// What cat keeps of its parts.
struct CatState {
  std::vector<CatPart> parts;
};
template <size_t N>
struct CatListState {
  CatPart parts[N];
};
/// x and the result, with the dimension.
struct ExtremeState {
  Tensor x, y;
};

namespace tangents {
/// What each element of x has of the derivative of its extreme y along `dim`: 1 / how many are equal to it,
/// or 0. y has size 1 there.
Tensor share_of_extreme(const Tensor& x, const Tensor& y, int64_t dim);
}  // namespace tangents

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::CatListState;
using ::cladtorch::CatState;
using ::cladtorch::ExtremeState;
using ::cladtorch::Tensor;

Tensor cat_reverse_forw(const std::vector<Tensor>& parts, int64_t dim, pullback_state<CatState>& state);
void cat_pullback(CLAD_UNUSED const std::vector<Tensor>& parts, int64_t dim, Tensor d_y,
                  std::vector<Tensor>* d_parts, pullback_state<CatState>& state);
template <std::size_t N>
Tensor cat_reverse_forw(const Tensor (&parts)[N], int64_t dim, pullback_state<CatListState<N>>& state) {
  return ::cladtorch::detail::cat_all(parts, dim, state.data.parts);
}
template <std::size_t N>
void cat_pullback(CLAD_UNUSED const Tensor (&)[N], int64_t dim, Tensor d_y, Tensor* d_parts,
                  pullback_state<CatListState<N>>& state) {
  if (d_parts) ::cladtorch::detail::pull_cat(dim, d_y, d_parts, state.data.parts);
}

void flip_pullback(CLAD_UNUSED const Tensor& x, int64_t dim, Tensor d_y, Tensor* d_x);
void cumsum_pullback(CLAD_UNUSED const Tensor& x, int64_t dim, Tensor d_y, Tensor* d_x);

Tensor amax_reverse_forw(const Tensor& x, int64_t dim, bool keepdim, pullback_state<ExtremeState>& state);
void amax_pullback(CLAD_UNUSED const Tensor& x, int64_t dim, bool keepdim, Tensor d_y, Tensor* d_x,
                   pullback_state<ExtremeState>& state);
Tensor amin_reverse_forw(const Tensor& x, int64_t dim, bool keepdim, pullback_state<ExtremeState>& state);
void amin_pullback(CLAD_UNUSED const Tensor& x, int64_t dim, bool keepdim, Tensor d_y, Tensor* d_x,
                   pullback_state<ExtremeState>& state);
}  // namespace clad::custom_derivatives::cladtorch

namespace clad::custom_derivatives::cladtorch::tangents {
/// A step has no slope.
inline void share_of_extreme_pullback(CLAD_UNUSED const Tensor&, CLAD_UNUSED const Tensor&, int64_t, Tensor,
                                      Tensor*, Tensor*) {}
}  // namespace clad::custom_derivatives::cladtorch::tangents
