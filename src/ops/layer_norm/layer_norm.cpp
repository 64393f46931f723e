#include <algorithm>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/normalization.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/common/reduce_to.h"
#include "ops/common/rows.h"
#include "ops/layer_norm/layer_norm_math.h"
#include "simd/kernels.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require(x.defined() && weight.defined(), "layer_norm: x or weight is undefined");
  require(x.dim() >= 1 && weight.shape() == Shape{x.size(-1)} &&
              (!bias.defined() || bias.shape() == weight.shape()),
          "layer_norm: expected x [..., C], weight and bias [C]: x is ", x.shape(), ", weight is ",
          weight.shape(), ", bias is ", bias.shape());
  require(weight.dtype() == x.dtype() && (!bias.defined() || bias.dtype() == x.dtype()),
          "layer_norm: dtypes differ: x is ", x.dtype(), ", weight is ", weight.dtype());
}

Tensor forward(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
               LayerNormState* state) {
  check(x, weight, bias);
  detail::count_op();
  const Tensor dense = x.contiguous(), w = weight.contiguous(), b = bias.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const int64_t n = detail::row_length(x), rows = detail::row_count(x);
  if (state) *state = {Tensor::empty({rows}, x.dtype()), Tensor::empty({rows}, x.dtype())};
  detail::dispatch_floating("layer_norm", x.dtype(), [&]<class T>(T) {
    const T *in = dense.data<T>(), *scale = w.data<T>(), *shift = b.defined() ? b.data<T>() : nullptr;
    T *out = y.data<T>(), *mean = state ? state->mean.data<T>() : nullptr;
    T* rstd = state ? state->rstd.data<T>() : nullptr;
    parallel_for(rows, detail::row_grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T *mean_out = mean ? mean + row : nullptr, *rstd_out = rstd ? rstd + row : nullptr;
        if constexpr (std::is_same_v<T, float>) {
          simd::kernels().layer_norm_row(n, in + row * n, scale, shift, static_cast<float>(epsilon),
                                         out + row * n, mean_out, rstd_out);
        } else {
          detail::layer_norm_row(n, in + row * n, scale, shift, static_cast<T>(epsilon), out + row * n,
                                 mean_out, rstd_out);
        }
      }
    });
  });
  return y;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  return forward(x, weight, bias, epsilon, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor layer_norm_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon,
                               pullback_state<LayerNormState>& state) {
  return ::cladtorch::forward(x, weight, bias, epsilon, &state.data);
}

// Rows are shared out in pieces of fixed size; each piece sums its share of d_weight and d_bias into rows of
// its own, which are then added in order, so the sums do not depend on the number of threads.
void layer_norm_pullback(const Tensor& x, const Tensor& weight, const Tensor& bias, double, Tensor d_y,
                         Tensor* d_x, Tensor* d_weight, Tensor* d_bias, double* d_epsilon,
                         pullback_state<LayerNormState>& state) {
  if (!d_y.defined()) return;
  if (!bias.defined()) d_bias = nullptr;
  const Tensor dense = x.contiguous(), w = weight.contiguous(), d = d_y.contiguous();
  const int64_t n = detail::row_length(x), rows = detail::row_count(x);
  constexpr int64_t most_pieces = 32, fewest_rows = 4;
  const int64_t grain = std::max(fewest_rows, (rows + most_pieces - 1) / most_pieces);
  const int64_t pieces = (rows + grain - 1) / grain;
  const auto parts = [&](const Tensor* wanted) {
    return wanted ? Tensor::empty({pieces, n}, x.dtype()) : Tensor();
  };
  Tensor weight_parts = parts(d_weight), bias_parts = parts(d_bias);
  Tensor projected = d_epsilon ? Tensor::empty({rows}, x.dtype()) : Tensor();

  detail::dispatch_floating("layer_norm", x.dtype(), [&]<class T>(T) {
    const auto row_of = [&](Tensor& t, int64_t piece) {
      return t.defined() ? t.data<T>() + piece * n : nullptr;
    };
    const T *in = dense.data<T>(), *scale = w.data<T>(), *d_out = d.data<T>();
    const T *mean = state.data.mean.data<T>(), *rstd = state.data.rstd.data<T>();
    T *d_in = nullptr, *const sums = d_epsilon ? projected.data<T>() : nullptr;
    bool add = false;
    if (d_x) {
      const GradientTarget target = accumulate_into(d_x, x.shape(), x.dtype());
      d_in = target.data<T>();
      add = target.add();
    }
    parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
      T *const d_w = row_of(weight_parts, begin / grain), *const d_b = row_of(bias_parts, begin / grain);
      if constexpr (std::is_same_v<T, float>) {
        ::cladtorch::simd::kernels().layer_norm_pullback({n, in, scale, mean, rstd, d_out, d_in, add, sums},
                                                         begin, end, d_w, d_b);
      } else {
        if (d_w) std::fill_n(d_w, n, T(0));
        if (d_b) std::fill_n(d_b, n, T(0));
        for (int64_t row = begin; row < end; ++row) {
          const T sum =
              detail::layer_norm_pullback_row(n, in + row * n, scale, mean[row], rstd[row], d_out + row * n,
                                              d_in ? d_in + row * n : nullptr, add, d_w, d_b);
          if (sums) sums[row] = sum;
        }
      }
    });
    for (int64_t row = 0; sums && row < rows; ++row)
      *d_epsilon -= 0.5 * static_cast<double>(rstd[row] * rstd[row] * sums[row]);
  });
  if (d_weight) detail::accumulate_reduced(d_weight, std::move(weight_parts), weight.shape());
  if (d_bias) detail::accumulate_reduced(d_bias, std::move(bias_parts), bias.shape());
}

}  // namespace clad::custom_derivatives::cladtorch
