#include "ops/common/reduce_to.h"

#include <algorithm>

#include "ops/reduce/reduce_on_device.h"
#include "ops/reduce/summed_dimensions.h"
#include "simd/kernels.h"
#include "tensor/bfloat16_kernels.h"
#include "tensor/dispatch.h"
#include "tensor/strided.h"

namespace cladtorch::detail {
namespace {

constexpr int64_t shortest_row = 16;  // from which summing a row is faster than adding columns
constexpr int64_t columns = 256;      // outputs that one task sums: they stay in the first-level cache

/// Adds x [n], whose elements are `step` apart, to sums.
template <class T>
void add_row(const T* x, int64_t step, int64_t n, Computed<T>* sums) {
  if (step != 1) {
    for (int64_t j = 0; j < n; ++j) sums[j] += static_cast<Computed<T>>(x[j * step]);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    add_to(n, x, sums);
  } else {
    for (int64_t j = 0; j < n; ++j) sums[j] += x[j];
  }
}

/// Calls add_to_sums(sums) with n <= columns sums that start from zero or from what lies in `to`, `to_step`
/// apart, where they end.
template <class Sum, class Out, class F>
void sum_into(Out* to, int64_t to_step, int64_t n, bool add, F add_to_sums) {
  Sum sums[columns];
  for (int64_t j = 0; j < n; ++j) sums[j] = add ? static_cast<Sum>(to[j * to_step]) : Sum(0);
  add_to_sums(sums);
  for (int64_t j = 0; j < n; ++j) to[j * to_step] = static_cast<Out>(sums[j]);
}

/// Adds all summed elements to `n` sums; the elements of one term are `step` apart in x.
template <class T>
void add_summed(const StridedLoop<1>& summed, const T* x, int64_t step, int64_t n, Computed<T>* sums) {
  const int64_t length = summed.row_length(), stride = summed.strides[0].back();
  for (int64_t row = 0; row < summed.rows(); ++row) {
    const T* from = x + summed.row_offsets(row)[0];
    for (int64_t i = 0; i < length; ++i, from += stride) add_row(from, step, n, sums);
  }
}

/// The sum of a dense row: float in double, bfloat16 in float.
template <class T>
auto sum_of_row(int64_t n, const T* x) {
  if constexpr (std::is_same_v<T, float>) {
    return simd::kernels().sum(n, x);
  } else {
    constexpr int64_t lanes = 16;
    Computed<T> sums[lanes] = {}, total = 0;
    const int64_t whole = n / lanes * lanes;
    for (int64_t i = 0; i < whole; i += lanes)
      for (int64_t k = 0; k < lanes; ++k) sums[k] += static_cast<Computed<T>>(x[i + k]);
    for (int64_t i = whole; i < n; ++i) total += static_cast<Computed<T>>(x[i]);
    for (const Computed<T> sum : sums) total += sum;
    return total;
  }
}

/// Every sum is of dense rows: one after the other, each by vectors.
template <class T, class Out>
void sum_dense_rows(const StridedLoop<2>& kept, const StridedLoop<1>& summed, const T* x, Out* out,
                    bool add) {
  const int64_t length = kept.row_length(), n = summed.row_length(), rows = summed.rows();
  const int64_t out_step = kept.strides[0].back(), step = kept.strides[1].back();
  parallel_for(kept.rows() * length, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(n * rows, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const auto offsets = kept.row_offsets(i / length);
                   const T* const from = x + offsets[1] + i % length * step;
                   Out& to = out[offsets[0] + i % length * out_step];
                   decltype(sum_of_row(n, from)) sum = add ? convert<float>(to) : 0;
                   if constexpr (std::is_same_v<Out, double>) sum = add ? to : 0;
                   for (int64_t row = 0; row < rows; ++row)
                     sum += sum_of_row(n, from + summed.row_offsets(row)[0]);
                   to = convert<Out>(sum);
                 }
               });
}

}  // namespace

void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape) {
  if (!wanted(d) || !x.defined()) return;
  if (x.shape() == shape) {
    d->accumulate(std::move(x));
    return;
  }
  const SummedDimensions dims(x, shape);
  const GradientTarget target = accumulate_into(d, shape, x.dtype(), x.device());
  if (x.is_cuda()) {
    sum_to_on_device(x, shape, 1, target);
    return;
  }
  const StridedLoop<2> kept(dims.kept, {dims.kept_out_strides, dims.kept_strides});
  const StridedLoop<1> summed(dims.summed, {dims.summed_strides});
  const int64_t length = kept.row_length(), out_step = kept.strides[0].back(), step = kept.strides[1].back();
  const bool dense_rows = kept.rows() == 1 && summed.rows() == 1 && out_step == 1 && step == 1 &&
                          summed.strides[0].back() == length;
  const int64_t pieces_per_row = (length + columns - 1) / columns;
  dispatch_real("sum_to", x.dtype(), [&]<class T>(T) {
    const T* const data = x.data<T>();
    write_to<T>(target, [&]<class Out>(Out* out, bool add) {
      if (summed.strides[0].back() == 1 && summed.row_length() >= shortest_row && (step != 1 || length == 1))
        return sum_dense_rows(kept, summed, data, out, add);
      if (dense_rows) return sum_rows(summed.row_length(), length, data, Target<Out>{out, add});
      const auto sum_pieces = [&](int64_t begin, int64_t end) {
        for (int64_t piece = begin; piece < end; ++piece) {
          const auto offsets = kept.row_offsets(piece / pieces_per_row);
          const int64_t first = piece % pieces_per_row * columns, n = std::min(columns, length - first);
          sum_into<Computed<T>>(out + offsets[0] + first * out_step, out_step, n, add,
                                [&](Computed<T>* sums) {
                                  add_summed(summed, data + offsets[1] + first * step, step, n, sums);
                                });
        }
      };
      parallel_for(kept.rows() * pieces_per_row, std::max<int64_t>(1, columns / std::max<int64_t>(length, 1)),
                   sum_pieces);
    });
  });
}

void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape, DType dtype) {
  if (!wanted(d) || dtype == x.dtype() || (d->defined() && d->dtype() == x.dtype())) {
    accumulate_reduced(d, std::move(x), shape);
    return;
  }
  Tensor sum;
  accumulate_reduced(&sum, std::move(x), shape);
  d->accumulate(sum.to(dtype));
}

template <class T, class Out>
void sum_rows(int64_t rows, int64_t n, const T* x, Target<Out> sum) {
  parallel_for(n, columns, [&](int64_t begin, int64_t end) {
    sum_into<Computed<T>>(sum.data + begin, 1, end - begin, sum.add, [&](Computed<T>* sums) {
      for (int64_t row = 0; row < rows; ++row) add_row(x + row * n + begin, 1, end - begin, sums);
    });
  });
}

template void sum_rows(int64_t, int64_t, const float*, Target<float>);
template void sum_rows(int64_t, int64_t, const double*, Target<double>);
template void sum_rows(int64_t, int64_t, const bfloat16*, Target<float>);
template void sum_rows(int64_t, int64_t, const bfloat16*, Target<bfloat16>);

}  // namespace cladtorch::detail
