// y[i] = y[i - 1] x[i], and for a tangent d of x: t[i] = t[i - 1] x[i] + y[i - 1] d[i]. The gradients walk
// the same steps back, and divide by nothing.
#include "cladtorch/ops/cumulative.h"

#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/common/lines.h"
#include "ops/common/reduce_to.h"
#include "tensor/dispatch.h"

namespace cladtorch {
namespace {

/// Dense, and bfloat16 as float32.
Tensor widened(const Tensor& x) { return x.to(detail::computed_in(x.dtype())).contiguous(); }

/// y and t of dense x and d; no t without d.
struct Steps {
  Tensor y, t;

  Steps(const Tensor& x, const Tensor& d, int dim) : y(Tensor::empty(x.shape(), x.dtype())) {
    if (d.defined()) t = Tensor::empty(x.shape(), x.dtype());
    const detail::Lines lines(x.shape(), dim);
    detail::dispatch_floating("cumprod", x.dtype(), [&]<class T>(T) {
      const T *const factors = x.data<T>(), *const directions = d.defined() ? d.data<T>() : nullptr;
      T *const products = y.data<T>(), *const tangents = d.defined() ? t.data<T>() : nullptr;
      lines.for_each([&](int64_t, int64_t first) {
        T product = 1, tangent = 0;
        for (int64_t i = 0, at = first; i < lines.n; ++i, at += lines.inner) {
          if (tangents) tangents[at] = tangent = tangent * factors[at] + product * directions[at];
          products[at] = product *= factors[at];
        }
      });
    });
  }
};

/// The gradients of t, for its cotangent d_t: *d_d and, unless d is undefined, *d_x.
void pull(const Tensor& given, const Tensor& direction, int64_t dim, const Tensor& d_t, Tensor* d_x,
          Tensor* d_d) {
  const Tensor x = widened(given), seed = widened(d_t),
               d = direction.defined() ? widened(direction) : Tensor();
  const int line = checked_dim("cumprod", dim, x.dim());
  const Steps steps(x, d, line);
  Tensor of_d = Tensor::empty(x.shape(), x.dtype()), of_x = d_x ? zeros_like(x) : Tensor();
  const detail::Lines lines(x.shape(), line);
  detail::dispatch_floating("cumprod", x.dtype(), [&]<class T>(T) {
    const T *const factors = x.data<T>(), *const y = steps.y.data<T>(), *const seeds = seed.data<T>();
    const T *const directions = d_x ? d.data<T>() : nullptr, *const t = d_x ? steps.t.data<T>() : nullptr;
    T *const to_d = of_d.data<T>(), *const to_x = d_x ? of_x.data<T>() : nullptr;
    lines.for_each([&](int64_t, int64_t first) {
      T of_t = 0, of_y = 0;  // cotangents of the step's results
      for (int64_t i = lines.n - 1; i >= 0; --i) {
        const int64_t at = first + i * lines.inner, before = at - lines.inner;
        of_t += seeds[at];
        to_d[at] = of_t * (i > 0 ? y[before] : T(1));
        if (to_x) {
          to_x[at] = i > 0 ? of_t * t[before] + of_y * y[before] : of_y;
          of_y = of_y * factors[at] + of_t * directions[at];
        }
        of_t *= factors[at];
      }
    });
  });
  if (d_x) detail::accumulate_reduced(d_x, std::move(of_x), x.shape(), given.dtype());
  if (d_d) detail::accumulate_reduced(d_d, std::move(of_d), x.shape(), given.dtype());
}

}  // namespace

Tensor cumprod(const Tensor& x, int64_t dim) {
  CLADTORCH_RECORD(cumprod, x, dim);
  const detail::CpuCall call("cumprod", {{"x", x}});
  const int d = detail::line_dim("cumprod", x, dim);
  return call.finish(Steps(widened(x), {}, d).y.to(x.dtype()));
}

Tensor tangents::of_cumprod(const Tensor& x, const Tensor& d, int64_t dim) {
  return Steps(widened(x), widened(d), detail::line_dim("cumprod", x, dim)).t.to(x.dtype());
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {

void cumprod_pullback(const Tensor& x, int64_t dim, Tensor d_y, Tensor* d_x) {
  d_x = ::cladtorch::wanted(d_x, x);
  if (d_x && d_y.defined()) ::cladtorch::pull(x, {}, dim, d_y, nullptr, d_x);
}

void tangents::of_cumprod_pullback(const Tensor& x, const Tensor& d, int64_t dim, Tensor d_t, Tensor* d_x,
                                   Tensor* d_d) {
  if ((d_x || d_d) && d_t.defined()) ::cladtorch::pull(x, d, dim, d_t, d_x, d_d);
}

}  // namespace clad::custom_derivatives::cladtorch
