// Triangles, diagonals and windows. Each is linear, and its pullback is another of them.
#include "cladtorch/ops/shape.h"

#include <algorithm>

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"

namespace cladtorch {
namespace {

using detail::CpuCall;

CpuCall call_of(const char* operation, const char* name, const Tensor& x, int least_rank) {
  const CpuCall call(operation, {{name, x}});
  require(x.dim() >= least_rank, operation, ": expected rank ", least_rank, " or more, got ", x.shape());
  return call;
}

/// Columns [begin, end) of row i are kept, and the others are zero.
template <class Kept>
Tensor triangle(const char* operation, const Tensor& x, Kept kept) {
  const CpuCall call = call_of(operation, "x", x, 2);
  const Tensor dense = x.contiguous();
  Tensor y = call.result(x.shape());
  const int64_t n = x.size(-2), m = x.size(-1), rows = m == 0 ? 0 : x.numel() / m;
  detail::dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* const from = dense.data<T>();
    T* const to = y.data<T>();
    parallel_for(rows, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(m, 1)),
                 [&](int64_t first, int64_t last) {
                   for (int64_t row = first; row < last; ++row) {
                     const auto [begin, end] = kept(row % n, m);
                     T* const out = to + row * m;
                     std::fill(out, out + begin, T());
                     std::copy(from + row * m + begin, from + row * m + end, out + begin);
                     std::fill(out + end, out + m, T());
                   }
                 });
  });
  return y;
}

/// Both dimensions of a diagonal, the first of its elements in them, and how many there are.
struct Diagonal {
  int dim1, dim2;
  int64_t row, column, length;

  Diagonal(const char* operation, const Shape& shape, int64_t offset, int64_t d1, int64_t d2)
      : dim1(checked_dim(operation, d1, shape.rank())), dim2(checked_dim(operation, d2, shape.rank())) {
    require(dim1 != dim2, operation, ": dim1 and dim2 are both ", dim1);
    row = std::max<int64_t>(0, -offset);
    column = std::max<int64_t>(0, offset);
    length = std::max<int64_t>(0, std::min(shape[dim1] - row, shape[dim2] - column));
  }
  Shape rest(const Shape& shape) const {
    return shape.without(std::max(dim1, dim2)).without(std::min(dim1, dim2));
  }
};

/// Copies between the diagonal of `whole` and `part`, whose last dimension it is.
void copy_diagonal(const Diagonal& at, Tensor whole, Tensor part, bool to_part) {
  for (int64_t i = 0; i < at.length; ++i) {
    Tensor in = whole.narrow(at.dim1, at.row + i, 1).narrow(at.dim2, at.column + i, 1);
    in = in.squeeze(std::max(at.dim1, at.dim2)).squeeze(std::min(at.dim1, at.dim2));
    Tensor out = part.select(-1, i);
    if (to_part) {
      out.copy_from(in);
    } else {
      in.copy_from(out);
    }
  }
}

/// `part` on the diagonal of zeros of this shape.
Tensor on_diagonal(const char* operation, const Tensor& part, const Shape& shape, int64_t offset,
                   int64_t dim1, int64_t dim2) {
  const Diagonal at(operation, shape, offset, dim1, dim2);
  Tensor y = zeros(shape, part.dtype());
  copy_diagonal(at, y, part, false);
  return y;
}

/// The windows of an image, of which `count` are along each dimension.
struct Windows {
  int64_t kernel[2], dilation[2], padding[2], stride[2], count[2], size[2], channels, batch;

  Windows(const char* operation, int64_t n, int64_t c, const int64_t (&extent)[2], const PerDimension& window,
          const UnfoldOptions& options)
      : channels(c), batch(n) {
    for (const PerDimension* numbers : {&window, &options.dilation, &options.padding, &options.stride})
      require(numbers->count() <= 2, operation, ": expected one number or two, got ", numbers->count());
    for (int i = 0; i < 2; ++i) {
      kernel[i] = window[i];
      dilation[i] = options.dilation[i];
      padding[i] = options.padding[i];
      stride[i] = options.stride[i];
      size[i] = extent[i];
      require(kernel[i] > 0 && dilation[i] > 0 && padding[i] >= 0 && stride[i] > 0, operation,
              ": a kernel, dilation or stride that is not positive, or a negative padding");
      const int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
      require(size[i] + 2 * padding[i] >= reach, operation, ": windows of ", reach, " do not fit ", size[i],
              " elements with a padding of ", padding[i]);
      count[i] = (size[i] + 2 * padding[i] - reach) / stride[i] + 1;
    }
  }
  int64_t windows() const { return count[0] * count[1]; }
  int64_t taps() const { return kernel[0] * kernel[1]; }

  /// Calls body(place in the image, number of the window) for each place of tap (i, j) in an image.
  template <class Body>
  void for_each_place(int64_t i, int64_t j, Body&& body) const {
    for (int64_t a = 0; a < count[0]; ++a) {
      const int64_t y = a * stride[0] - padding[0] + i * dilation[0];
      if (y < 0 || y >= size[0]) continue;
      for (int64_t b = 0; b < count[1]; ++b) {
        const int64_t x = b * stride[1] - padding[1] + j * dilation[1];
        if (x >= 0 && x < size[1]) body(y * size[1] + x, a * count[1] + b);
      }
    }
  }
};

Windows windows_of(const Shape& x, const PerDimension& kernel, const UnfoldOptions& options) {
  require(x.rank() == 3 || x.rank() == 4, "unfold: expected images [N,C,H,W] or [C,H,W], got ", x);
  const int first = x.rank() - 3;
  return {"unfold", first ? x[0] : 1, x[first], {x[first + 1], x[first + 2]}, kernel, options};
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal) {
  CLADTORCH_RECORD(tril, unread(x), diagonal);
  return triangle("tril", x, [=](int64_t row, int64_t m) {
    return std::pair<int64_t, int64_t>(0, std::clamp<int64_t>(row + diagonal + 1, 0, m));
  });
}
Tensor triu(const Tensor& x, int64_t diagonal) {
  CLADTORCH_RECORD(triu, unread(x), diagonal);
  return triangle("triu", x, [=](int64_t row, int64_t m) {
    return std::pair<int64_t, int64_t>(std::clamp<int64_t>(row + diagonal, 0, m), m);
  });
}

Tensor diagonal(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2) {
  CLADTORCH_RECORD_STATE(ShapeState, diagonal, unread(x), offset, dim1, dim2);
  const CpuCall call = call_of("diagonal", "x", x, 2);
  const Diagonal at("diagonal", x.shape(), offset, dim1, dim2);
  Shape shape = at.rest(x.shape());
  shape.push_back(at.length);
  Tensor y = call.result(shape);
  copy_diagonal(at, x, y, true);
  return y;
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2) {
  CLADTORCH_RECORD(diag_embed, unread(x), offset, dim1, dim2);
  const CpuCall call = call_of("diag_embed", "x", x, 1);
  const int64_t size = x.size(-1) + std::abs(offset);
  const int rank = x.dim() + 1, first = checked_dim("diag_embed", dim1, rank),
            second = checked_dim("diag_embed", dim2, rank);
  Shape shape;
  for (int i = 0, next = 0; i < rank; ++i)
    shape.push_back(i == first || i == second ? size : x.shape()[next++]);
  return call.finish(on_diagonal("diag_embed", x, shape, offset, dim1, dim2));
}

Tensor unfold(const Tensor& x, const PerDimension& kernel, const UnfoldOptions& options) {
  CLADTORCH_RECORD_STATE(ShapeState, unfold, unread(x), kernel, options);
  const CpuCall call = call_of("unfold", "x", x, 3);
  const Windows w = windows_of(x.shape(), kernel, options);
  const Tensor dense = x.contiguous();
  Tensor y = zeros({w.batch, w.channels * w.taps(), w.windows()}, x.dtype());
  detail::dispatch_real("unfold", x.dtype(), [&]<class T>(T) {
    const T* const from = dense.data<T>();
    T* const to = y.data<T>();
    parallel_for(
        w.batch * w.channels * w.taps(), std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(1, w.windows())),
        [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const T* const image = from + row / w.taps() * w.size[0] * w.size[1];
            const int64_t tap = row % w.taps();
            w.for_each_place(tap / w.kernel[1], tap % w.kernel[1], [&](int64_t place, int64_t window) {
              to[row * w.windows() + window] = image[place];
            });
          }
        });
  });
  return call.finish(x.dim() == 3 ? y.squeeze(0) : y);
}

Tensor fold(const Tensor& columns, const PerDimension& size, const PerDimension& kernel,
            const UnfoldOptions& options) {
  CLADTORCH_RECORD(fold, unread(columns), size, kernel, options);
  const CpuCall call = call_of("fold", "columns", columns, 2);
  require(columns.dim() <= 3, "fold: expected columns [N,C kh kw,L] or [C kh kw,L], got ", columns.shape());
  const int64_t batch = columns.dim() == 3 ? columns.size(0) : 1;
  const Windows w("fold", batch, 0, {size[0], size[1]}, kernel, options);
  require(columns.size(-2) % w.taps() == 0 && columns.size(-1) == w.windows(), "fold: expected columns of ",
          w.taps(), " C elements for ", w.windows(), " windows, got ", columns.shape());
  const int64_t channels = columns.size(-2) / w.taps(), plane = w.size[0] * w.size[1];
  const Tensor dense = columns.contiguous();
  Tensor y = call.empty({batch, channels, w.size[0], w.size[1]});
  detail::dispatch_real("fold", columns.dtype(), [&]<class T>(T) {
    using C = detail::Computed<T>;
    const T* const from = dense.data<T>();
    T* const to = y.data<T>();
    parallel_for(batch * channels, 1, [&](int64_t begin, int64_t end) {
      std::vector<C> sums(static_cast<size_t>(plane));
      for (int64_t image = begin; image < end; ++image) {
        std::fill(sums.begin(), sums.end(), C(0));
        for (int64_t tap = 0; tap < w.taps(); ++tap) {
          const T* const row = from + (image * w.taps() + tap) * w.windows();
          w.for_each_place(tap / w.kernel[1], tap % w.kernel[1], [&](int64_t place, int64_t window) {
            sums[static_cast<size_t>(place)] += static_cast<C>(row[window]);
          });
        }
        for (int64_t i = 0; i < plane; ++i)
          to[image * plane + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
      }
    });
  });
  return call.finish(columns.dim() == 2 ? y.squeeze(0) : y);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;

void tril_pullback(const Tensor&, int64_t diagonal, Tensor d_y, Tensor* d_x) {
  if (wanted(d_x) && d_y.defined()) d_x->accumulate(tril(d_y, diagonal));
}
void triu_pullback(const Tensor&, int64_t diagonal, Tensor d_y, Tensor* d_x) {
  if (wanted(d_x) && d_y.defined()) d_x->accumulate(triu(d_y, diagonal));
}

Tensor diagonal_reverse_forw(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2,
                             pullback_state<ShapeState>& state) {
  state.data.shape = x.shape();
  return diagonal(x, offset, dim1, dim2);
}
void diagonal_pullback(const Tensor&, int64_t offset, int64_t dim1, int64_t dim2, Tensor d_y, Tensor* d_x,
                       pullback_state<ShapeState>& state) {
  if (wanted(d_x) && d_y.defined())
    d_x->accumulate(on_diagonal("diagonal", d_y, state.data.shape, offset, dim1, dim2));
}
void diag_embed_pullback(const Tensor&, int64_t offset, int64_t dim1, int64_t dim2, Tensor d_y, Tensor* d_x) {
  if (wanted(d_x) && d_y.defined()) d_x->accumulate(diagonal(d_y, offset, dim1, dim2));
}

Tensor unfold_reverse_forw(const Tensor& x, const PerDimension& kernel, const UnfoldOptions& options,
                           pullback_state<ShapeState>& state) {
  state.data.shape = x.shape();
  return unfold(x, kernel, options);
}
void unfold_pullback(const Tensor&, const PerDimension& kernel, const UnfoldOptions& options, Tensor d_y,
                     Tensor* d_x, pullback_state<ShapeState>& state) {
  const Shape& shape = state.data.shape;
  if (wanted(d_x) && d_y.defined())
    d_x->accumulate(fold(d_y, {shape[shape.rank() - 2], shape.back()}, kernel, options));
}
void fold_pullback(const Tensor&, const PerDimension&, const PerDimension& kernel,
                   const UnfoldOptions& options, Tensor d_y, Tensor* d_columns) {
  if (wanted(d_columns) && d_y.defined()) d_columns->accumulate(unfold(d_y, kernel, options));
}

}  // namespace clad::custom_derivatives::cladtorch
