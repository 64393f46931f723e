// Operations that move, repeat or add elements, in the names of PyTorch. Those that are views of dense
// tensors copy nothing. Dimensions may be negative, and then count from the last. On the CPU, except for what
// is made of views.
#pragma once

#include <vector>

#include "cladtorch/ops/along.h"
#include "cladtorch/ops/convolution.h"
#include "cladtorch/ops/views.h"

namespace cladtorch {

namespace detail {
// Shapes that the functions below need. They throw Error that names the operation.
Shape moved(int rank, const Shape& source, const Shape& destination);
Shape repeated_shape(const char* operation, const Shape& shape, const Shape& repeats, bool tiles);
/// Every extent after an extent of 1, and that of `repeats` instead of the 1 with `expanded`.
Shape interleaved(const Shape& shape, const Shape& repeats, bool expanded);
Shape with_repeats(const Shape& shape, int64_t dim, int64_t repeats, bool joined);
Shape flattened(const Shape& shape, int64_t first, int64_t last);
Shape unflattened(const Shape& shape, int64_t dim, const Shape& sizes);
int64_t chunk_size(const Shape& shape, int64_t chunks, int64_t dim);
int64_t rolled(const Shape& shape, int64_t shift, int64_t dim);
Shape grid_axis(int64_t size, int64_t axis, int64_t axes);
}  // namespace detail

/// What pad() puts around x: a number, or elements of x as in a mirror at its edge elements (which are not
/// repeated), its edge elements, or those of the opposite side.
enum class PadMode { constant, reflect, replicate, circular };

/// x with amounts {left, right} of its last dimension, then {top, bottom} of the one before it, and so on.
/// Negative amounts of `constant` cut elements off. Throws Error that names the dimension if a mode needs
/// more elements than x has.
Tensor pad(const Tensor& x, const Shape& amounts, PadMode mode = PadMode::constant, double value = 0);

/// x [..., N, M] with zeros where column - row > diagonal, or < diagonal. tril(x) with one argument is the
/// mask of attention, and the same for square matrices.
Tensor tril(const Tensor& x, int64_t diagonal);
Tensor triu(const Tensor& x, int64_t diagonal = 0);

/// The elements of x whose indices in dim1 and dim2 differ by dim2 - dim1 = offset, in a new last dimension.
/// A copy.
Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);
/// The last dimension of x on a diagonal of the dimensions dim1 and dim2 of the result, and zeros elsewhere.
Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);

struct UnfoldOptions {
  PerDimension dilation = 1;
  PerDimension padding = 0;  ///< zeros at both ends of each dimension
  PerDimension stride = 1;
};
/// The windows of images x [N, C, H, W], or of one [C, H, W], as columns [N, C kh kw, windows]: F.unfold.
Tensor unfold(const Tensor& x, const PerDimension& kernel, const UnfoldOptions& options = {});
/// The sum of such columns where they came from, in images of `size`: F.fold.
Tensor fold(const Tensor& columns, const PerDimension& size, const PerDimension& kernel,
            const UnfoldOptions& options = {});

/// The elements of x in the opposite order along each of `dims`.
inline Tensor flip(const Tensor& x, const Shape& dims) {
  Tensor y = x;
  for (int i = 0; i < dims.rank(); ++i) y = flip(y, dims[i]);
  return y;
}

/// Element i along `dim` of x is element i + shift of the result, around the end.
inline Tensor roll(const Tensor& x, int64_t shift, int64_t dim) {
  const int64_t size = x.size(dim), start = detail::rolled(x.shape(), shift, dim);
  if (start == 0) return x;
  return cat({x.narrow(dim, size - start, start), x.narrow(dim, 0, size - start)}, dim);
}
/// The same for all elements in row-major order.
inline Tensor roll(const Tensor& x, int64_t shift) { return roll(x.flatten(), shift, 0).reshape(x.shape()); }
inline Tensor roll(const Tensor& x, const Shape& shifts, const Shape& dims) {
  require(shifts.rank() == dims.rank(), "roll: ", shifts, " and ", dims, " are not of one length");
  Tensor y = x;
  for (int i = 0; i < dims.rank(); ++i) y = roll(y, shifts[i], dims[i]);
  return y;
}

/// Copies of x behind one another: repeats[i] along dimension i, where x gets leading dimensions of size 1 if
/// there are more numbers than dimensions.
inline Tensor repeat(const Tensor& x, const Shape& repeats) {
  const Shape whole = detail::repeated_shape("repeat", x.shape(), repeats, false);
  const Shape ones = detail::interleaved(x.shape(), repeats, false);
  return x.reshape(ones).expand(detail::interleaved(x.shape(), repeats, true)).reshape(whole);
}
/// The same, where `repeats` gets leading ones if there are fewer numbers than dimensions.
inline Tensor tile(const Tensor& x, const Shape& repeats) {
  return repeat(x, detail::repeated_shape("tile", x.shape(), repeats, true));
}

/// Each element of x along `dim`, `repeats` times in succession.
inline Tensor repeat_interleave(const Tensor& x, int64_t repeats, int64_t dim) {
  const Shape separate = detail::with_repeats(x.shape(), dim, repeats, false);
  return x.unsqueeze(checked_dim("repeat_interleave", dim, x.dim()) + 1)
      .expand(separate)
      .reshape(detail::with_repeats(x.shape(), dim, repeats, true));
}
/// The same for all elements in row-major order.
inline Tensor repeat_interleave(const Tensor& x, int64_t repeats) {
  return repeat_interleave(x.flatten(), repeats, 0);
}

/// At most `chunks` pieces of x along `dim`, of one size but for the last: views.
inline std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim = 0) {
  return x.split(detail::chunk_size(x.shape(), chunks, dim), dim);
}
/// The entries of x along `dim`, which disappears: views.
inline std::vector<Tensor> unbind(const Tensor& x, int64_t dim = 0) {
  std::vector<Tensor> entries;
  for (int64_t i = 0; i < x.size(dim); ++i) entries.push_back(x.select(dim, i));
  return entries;
}

/// Dimension source[i] moves to the place destination[i], and the others keep their order: a view.
inline Tensor movedim(const Tensor& x, const Shape& source, const Shape& destination) {
  return x.permute(detail::moved(x.dim(), source, destination));
}
inline Tensor movedim(const Tensor& x, int64_t source, int64_t destination) {
  return movedim(x, Shape{source}, Shape{destination});
}
/// x.transpose(dim0, dim1), by its other names.
inline Tensor swapaxes(const Tensor& x, int64_t dim0, int64_t dim1) { return x.transpose(dim0, dim1); }
inline Tensor swapdims(const Tensor& x, int64_t dim0, int64_t dim1) { return x.transpose(dim0, dim1); }

/// x.expand(shape), by its other name.
inline Tensor broadcast_to(const Tensor& x, const Shape& shape) { return x.expand(shape); }

/// Dimensions `first` to `last` in one.
inline Tensor flatten(const Tensor& x, int64_t first = 0, int64_t last = -1) {
  return x.reshape(detail::flattened(x.shape(), first, last));
}
/// Dimension `dim` as dimensions of `sizes`, one of which may be -1.
inline Tensor unflatten(const Tensor& x, int64_t dim, const Shape& sizes) {
  return x.reshape(detail::unflattened(x.shape(), dim, sizes));
}

/// Each vector along a dimension of its own of a grid of all of them: PyTorch's indexing="ij".
inline std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes) {
  Shape grid;
  for (const Tensor& axis : axes) grid.push_back(axis.numel());
  std::vector<Tensor> result;
  for (int i = 0; i < grid.rank(); ++i) {
    const Tensor axis = axes[static_cast<size_t>(i)];
    result.push_back(axis.reshape(detail::grid_axis(axis.numel(), i, grid.rank())).expand(grid));
  }
  return result;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::PadMode;
using ::cladtorch::PerDimension;
using ::cladtorch::Shape;
using ::cladtorch::ShapeState;
using ::cladtorch::Tensor;
using ::cladtorch::UnfoldOptions;

void pad_pullback(CLAD_UNUSED const Tensor& x, const Shape& amounts, PadMode mode, double value, Tensor d_y,
                  Tensor* d_x, double* d_value);

void tril_pullback(CLAD_UNUSED const Tensor& x, int64_t diagonal, Tensor d_y, Tensor* d_x);
void triu_pullback(CLAD_UNUSED const Tensor& x, int64_t diagonal, Tensor d_y, Tensor* d_x);

Tensor diagonal_reverse_forw(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2,
                             pullback_state<ShapeState>& state);
void diagonal_pullback(CLAD_UNUSED const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2, Tensor d_y,
                       Tensor* d_x, pullback_state<ShapeState>& state);
void diag_embed_pullback(CLAD_UNUSED const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2, Tensor d_y,
                         Tensor* d_x);

Tensor unfold_reverse_forw(const Tensor& x, const PerDimension& kernel, const UnfoldOptions& options,
                           pullback_state<ShapeState>& state);
void unfold_pullback(CLAD_UNUSED const Tensor& x, const PerDimension& kernel, const UnfoldOptions& options,
                     Tensor d_y, Tensor* d_x, pullback_state<ShapeState>& state);
void fold_pullback(CLAD_UNUSED const Tensor& columns, const PerDimension& size, const PerDimension& kernel,
                   const UnfoldOptions& options, Tensor d_y, Tensor* d_columns);
}  // namespace clad::custom_derivatives::cladtorch
