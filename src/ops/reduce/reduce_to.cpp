#include "ops/common/reduce_to.h"

#include <algorithm>

#include "tensor/dispatch.h"
#include "tensor/strided.h"

namespace cladtorch::detail {
namespace {

/// The dimensions of x, sorted into those that stay and those that are summed.
struct Split {
  Shape kept, kept_strides, kept_out_strides;
  Shape summed, summed_strides;
};

Split split(const Tensor& x, const Shape& shape) {
  Split result;
  const Shape out_strides = contiguous_strides(shape);
  const int missing = x.dim() - shape.rank();
  for (int i = 0; i < x.dim(); ++i) {
    const bool stays = i >= missing && shape[i - missing] == x.shape()[i];
    if (stays) {
      result.kept.push_back(x.shape()[i]);
      result.kept_strides.push_back(x.strides()[i]);
      result.kept_out_strides.push_back(out_strides[i - missing]);
    } else {
      result.summed.push_back(x.shape()[i]);
      result.summed_strides.push_back(x.strides()[i]);
    }
  }
  return result;
}

constexpr int64_t columns = 256;  // outputs that one task sums: they stay in the first-level cache

/// Adds all summed elements to `n` outputs, `step` apart in x and `out_step` apart in out.
template <class T>
void add_summed(const StridedLoop<1>& summed, const T* x, int64_t step, T* out, int64_t out_step, int64_t n) {
  const int64_t length = summed.row_length(), stride = summed.strides[0].back();
  for (int64_t row = 0; row < summed.rows(); ++row) {
    const T* from = x + summed.row_offsets(row)[0];
    for (int64_t i = 0; i < length; ++i, from += stride) {
      if (step == 1 && out_step == 1) {
        for (int64_t j = 0; j < n; ++j) out[j] += from[j];
      } else {
        for (int64_t j = 0; j < n; ++j) out[j * out_step] += from[j * step];
      }
    }
  }
}

}  // namespace

void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape) {
  if (!d || !x.defined()) return;
  if (x.shape() == shape) {
    d->accumulate(std::move(x));
    return;
  }
  const Split dims = split(x, shape);
  const GradientTarget target = accumulate_into(d, shape, x.dtype());
  dispatch_floating("sum_to", x.dtype(), [&]<class T>(T) {
    T* const out = target.data<T>();
    const T* const data = x.data<T>();
    const StridedLoop<2> kept(dims.kept, {dims.kept_out_strides, dims.kept_strides});
    const StridedLoop<1> summed(dims.summed, {dims.summed_strides});
    const int64_t length = kept.row_length(), out_step = kept.strides[0].back(),
                  step = kept.strides[1].back();
    if (kept.rows() == 1 && summed.rows() == 1 && out_step == 1 && step == 1 &&
        summed.strides[0].back() == length) {
      sum_rows(summed.row_length(), length, data, Target<T>{out, target.add()});
      return;
    }
    if (!target.add()) std::fill_n(out, shape.numel(), T(0));
    const int64_t pieces_per_row = (length + columns - 1) / columns;
    parallel_for(kept.rows() * pieces_per_row, std::max<int64_t>(1, columns / std::max<int64_t>(length, 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t piece = begin; piece < end; ++piece) {
                     const auto offsets = kept.row_offsets(piece / pieces_per_row);
                     const int64_t first = piece % pieces_per_row * columns;
                     add_summed(summed, data + offsets[1] + first * step, step,
                                out + offsets[0] + first * out_step, out_step,
                                std::min(columns, length - first));
                   }
                 });
  });
}

template <class T>
void sum_rows(int64_t rows, int64_t n, const T* x, Target<T> sum) {
  parallel_for(n, columns, [&](int64_t begin, int64_t end) {
    if (!sum.add) std::fill(sum.data + begin, sum.data + end, T(0));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = begin; i < end; ++i) sum.data[i] += x[row * n + i];
    }
  });
}

template void sum_rows(int64_t, int64_t, const float*, Target<float>);
template void sum_rows(int64_t, int64_t, const double*, Target<double>);

}  // namespace cladtorch::detail
