#include <algorithm>
#include <limits>

#include "cladtorch/ops/attention.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/causal_attention/causal_mask_on_device.h"
#include "ops/common/call.h"
#include "ops/common/rows.h"

namespace cladtorch {
namespace {

/// How many of a row's entries position `row` of T sees.
int64_t seen(int64_t row, const Shape& shape) {
  const int64_t length = shape[shape.rank() - 2];
  return detail::causally_seen(row % length, length, shape.back());
}

Tensor with_rest(const char* operation, const Tensor& x, double rest) {
  const detail::Call call(operation, {{"x", x}});
  require(x.dim() >= 2 && x.size(-2) <= x.size(-1), operation, ": expected [..., T, S] with T up to S, got ",
          x.shape());
  const Tensor dense = x.contiguous();
  const int64_t n = x.size(-1);
  return call.result(
      x.shape(), [&](const GradientTarget& y) { detail::tril_on_device(dense, rest, y); },
      [&]<class T>(detail::Target<T> y) {
        const T* const from = dense.data<T>();
        detail::for_each_row<T>(detail::row_count(x), n, 0, [&](int64_t row, const auto&) {
          const int64_t kept = seen(row, x.shape());
          std::copy_n(from + row * n, kept, y.data + row * n);
          std::fill_n(y.data + row * n + kept, n - kept, detail::convert<T>(rest));
        });
      });
}

}  // namespace

Tensor causal_mask(const Tensor& scores) {
  CLADTORCH_RECORD(causal_mask, unread(scores));
  return with_rest("causal_mask", scores, -std::numeric_limits<double>::infinity());
}
Tensor tril(const Tensor& x) {
  CLADTORCH_RECORD(tril, unread(x));
  return with_rest("tril", x, 0);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

void tril_pullback(const Tensor&, Tensor d_y, Tensor* d_x) {
  d_x = wanted(d_x);
  if (!d_y.defined() || !d_x) return;
  const Tensor d = d_y.contiguous();
  const int64_t n = d.size(-1);
  detail::add_gradient(
      "tril", d_x, d, [&](const GradientTarget& to) { detail::tril_on_device(d, 0, to); },
      [&]<class T>(detail::Target<T> to) {
        const T* const from = d.data<T>();
        detail::for_each_row<T>(detail::row_count(d), n, 2, [&](int64_t row, const auto& memory) {
          const int64_t kept = seen(row, d.shape());
          const auto* const in = detail::readable(n, from + row * n, memory[0]);
          const detail::Written<T> out(n, to.data + row * n, to.add, memory[1]);
          for (int64_t i = 0; i < kept; ++i) out.data()[i] = to.add ? out.data()[i] + in[i] : in[i];
          if (!to.add) std::fill_n(out.data() + kept, n - kept, detail::Computed<T>(0));
        });
      });
}

void causal_mask_pullback(const Tensor& scores, Tensor d_y, Tensor* d_scores) {
  tril_pullback(scores, std::move(d_y), d_scores);
}

}  // namespace clad::custom_derivatives::cladtorch
