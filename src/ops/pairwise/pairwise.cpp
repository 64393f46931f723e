#include "cladtorch/ops/pairwise.h"

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/pushforward/pairwise.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/common/reduce_to.h"
#include "ops/pairwise/pairwise_on_device.h"

namespace cladtorch::detail {
namespace {

void require_code(const PairwiseCode& code, const Tensor& x) {
  if (!code.value_on_device) require_cpu(code.name, x);
}

/// Calls kernel(PairRow, offset) for pieces of rows of `shape`, to which a and b broadcast: of T, or of
/// floats for bfloat16. The offset is that of the row in dense memory of that shape.
template <class T, class Kernel>
void each_pair_row(const Shape& shape, const Tensor& a, const Tensor& b, Kernel kernel) {
  const StridedLoop<3> loop(shape,
                            {contiguous_strides(shape), broadcast_strides(a.shape(), a.strides(), shape),
                             broadcast_strides(b.shape(), b.strides(), shape)});
  loop.for_each_row([&](const auto& offsets, int64_t n, const auto& steps) {
    const T *const u = a.data<T>() + offsets[1], *const v = b.data<T>() + offsets[2];
    if constexpr (std::is_same_v<T, bfloat16>) {
      float memory[2][widened_block];
      for (int64_t i = 0; i < n; i += widened_block) {
        const int64_t count = std::min(widened_block, n - i);
        kernel(PairRow<float>{count, readable(count, u + i * steps[1], steps[1], memory[0]), 1,
                              readable(count, v + i * steps[2], steps[2], memory[1]), 1},
               offsets[0] + i);
      }
    } else {
      kernel(PairRow<T>{n, u, steps[1], v, steps[2]}, offsets[0]);
    }
  });
}

}  // namespace

Tensor pairwise(const PairwiseCode& code, const Tensor& a, const Tensor& b) {
  if (Recorder* const graph = recorder_of(a, b)) [[unlikely]]
    return recorded(
        *graph, code.name, [&](const Tensor& x, const Tensor& y) { return pairwise(code, x, y); },
        [&code](const Tensor& x, const Tensor& y, const Tensor& d, Tensor* d_x, Tensor* d_y) {
          pairwise_pullback(code, x, y, d, d_x, d_y);
        },
        a, b);
  const Call call(code.name, {{"a", a}, {"b", b}});
  require_code(code, a);
  const Shape shape = broadcast_shapes(code.name, a.shape(), b.shape());
  return call.result(
      shape, [&](const GradientTarget& y) { code.value_on_device(a, b, shape, y); },
      [&]<class T>(Target<T> y) {
        each_pair_row<T>(shape, a, b, [&]<class C>(const PairRow<C>& row, int64_t offset) {
          C memory[widened_block];
          const Written<T> to(row.n, y.data + offset, false, memory);
          if constexpr (std::is_same_v<C, double>) {
            code.value.of_double(row, to.data());
          } else {
            code.value.of_float(row, to.data());
          }
        });
      });
}

void pairwise_slope(const PairwiseCode& code, PairSlope slope, const Tensor& a, const Tensor& b,
                    const Tensor& d_y, Tensor* d, const Shape& of) {
  if (!d_y.defined()) return;
  require_code(code, a);
  const Tensor dense = d_y.contiguous();
  const PairwiseSlope& slopes = code.slopes[static_cast<std::size_t>(slope)];
  add_reduced_gradient(
      code.name, d, of, dense,
      [&](const GradientTarget& to) { code.slope_on_device(slope, a, b, dense, to); },
      [&]<class T, class Out>(T, Target<Out> to) {
        each_pair_row<T>(d_y.shape(), a, b, [&]<class C>(const PairRow<C>& row, int64_t offset) {
          C memory[2][widened_block];
          const C* const cotangent = readable(row.n, dense.data<T>() + offset, memory[0]);
          const Written<Out> out(row.n, to.data + offset, to.add, memory[1]);
          if constexpr (std::is_same_v<C, double>) {
            slopes.of_double(row, cotangent, out.data(), to.add);
          } else {
            slopes.of_float(row, cotangent, out.data(), to.add);
          }
        });
      });
}

void pairwise_pullback(const PairwiseCode& code, const Tensor& a, const Tensor& b, const Tensor& d_y,
                       Tensor* d_a, Tensor* d_b) {
  if (Tensor* const d = wanted(d_a, a)) pairwise_slope(code, PairSlope::first, a, b, d_y, d, a.shape());
  if (Tensor* const d = wanted(d_b, b)) pairwise_slope(code, PairSlope::second, a, b, d_y, d, b.shape());
}

Tensor along_pair(const PairwiseCode& code, PairSlope slope, const Tensor& a, const Tensor& b,
                  const Tensor& d) {
  if (!d.defined()) return d;
  const Shape shape = broadcast_shapes(code.name, a.shape(), b.shape());
  Tensor d_y;
  pairwise_slope(code, slope, a, b, d.expand(shape), &d_y, shape);
  return d_y;
}

void along_pair_pullback(const PairwiseCode& code, PairSlope slope, const Tensor& a, const Tensor& b,
                         const Tensor& d, const Tensor& d_y, Tensor* a_share, Tensor* b_share,
                         Tensor* d_share) {
  if (!d_y.defined() || !d.defined()) return;
  if (d_share) pairwise_slope(code, slope, a, b, d_y, d_share, d.shape());
  const bool first = slope == PairSlope::first;
  const Tensor product = mul(d_y, d);
  if (a_share)
    pairwise_slope(code, first ? PairSlope::first_first : PairSlope::first_second, a, b, product, a_share,
                   a.shape());
  if (b_share)
    pairwise_slope(code, first ? PairSlope::first_second : PairSlope::second_second, a, b, product, b_share,
                   b.shape());
}

namespace {

template <class F>
constexpr PairwiseCode code_of_library() {
  PairwiseCode code = pair_code_of_loops<F>();
  code.value_on_device = [](const Tensor& a, const Tensor& b, const Shape& shape, const GradientTarget& y) {
    pair_value_on_device<F>(a, b, shape, y);
  };
  code.slope_on_device = [](PairSlope slope, const Tensor& a, const Tensor& b, const Tensor& d_y,
                            const GradientTarget& d) { pair_slope_on_device<F>(slope, a, b, d_y, d); };
  return code;
}

}  // namespace

template <class F>
const PairwiseCode& library_pair_code() {
  static constexpr PairwiseCode code = code_of_library<F>();
  return code;
}

#define CLADTORCH_CODE(F)                                         \
  template const PairwiseCode& library_pair_code<functions::F>(); \
  template const PairwiseCode& pairwise_code<functions::F>();
CLADTORCH_FUNCTIONS_OF_TWO(CLADTORCH_CODE)

}  // namespace cladtorch::detail
