// The code of all functions in ops/functions/functions.h: float values and backward passes by vectors, the
// rest by loops over elements.
#include "ops/pointwise/pointwise_on_device.h"
#include "simd/kernels.h"

namespace cladtorch::detail {
namespace {

template <class F>
const simd::FunctionKernels& vectors_of() {
  return simd::kernels().functions[functions::index_of<F>];
}

template <class F>
void float_values(const void* f, int64_t n, const float* x, float* y) {
  vectors_of<F>().value(f, n, x, y);
}
template <class F>
void float_pullback(const void* f, int64_t n, const float* at, const float* d_y, float* d_x, bool add) {
  vectors_of<F>().pullback(f, n, at, d_y, d_x, add);
}

template <class F>
constexpr PointwiseCode code_of_library() {
  PointwiseCode code = code_of_loops<F>();
  code.value.of_float = float_values<F>;
  code.slopes[static_cast<int>(Slope::of_backward)].of_float = float_pullback<F>;
  code.value_on_device = [](const void* f, const Tensor& x, const GradientTarget& y) {
    value_on_device<F>(f, x, y);
  };
  code.slope_on_device = [](const void* f, Slope slope, const Tensor& at, const Tensor& d_y,
                            const GradientTarget& d_x) { slope_on_device<F>(f, slope, at, d_y, d_x); };
  return code;
}

}  // namespace

template <class F>
const PointwiseCode& library_code() {
  static constexpr PointwiseCode code = code_of_library<F>();
  return code;
}

#define CLADTORCH_CODE(F)                                     \
  template const PointwiseCode& library_code<functions::F>(); \
  template const PointwiseCode& pointwise_code<functions::F>();
CLADTORCH_FUNCTIONS(CLADTORCH_CODE)

}  // namespace cladtorch::detail
