// Functions of two elements: one of ops/functions/functions_of_two.h that has no line here fails
// Catalogue.HasEveryFunctionOfElements.
#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/pushforward.h"
#include "tests/ops/catalogue.h"

namespace cladtorch::testing {
namespace {

/// Every function: its class, the call of it, and the domains of a and b.
#define CLADTORCH_EACH_FUNCTION(X)             \
  X(Atan2, atan2(a, b), -2, 2, 0.3, 2)         \
  X(Hypot, hypot(a, b), -2, 2, 0.3, 2)         \
  X(Logaddexp, logaddexp(a, b), -3, 3, -3, 3)  \
  X(Maximum, maximum(a, b), -3, 3, -3, 3)      \
  X(Minimum, minimum(a, b), -3, 3, -3, 3)      \
  X(Power, pow(a, b), 0.3, 2, -2, 3)           \
  X(Prelu, prelu(a, b), -3, 3, 0.1, 0.5)       \
  X(Remainder, remainder(a, b), -3, 3, 0.7, 2) \
  X(Xlogy, xlogy(a, b), -2, 2, 0.3, 3)

template <class F>
Operation operation(Forward forward, double a_low, double a_high, double b_low, double b_high) {
  namespace pullbacks = clad::custom_derivatives::cladtorch;
  Operation made{std::string("pairwise_") + F::name,
                 {{"a", a_low, a_high}, {"b", b_low, b_high}},
                 {{{3, 1, 5}, {4, 1}},
                  {{}, {}},
                  {{0}, {0}},
                  {{17}, {17}},
                  {{2, 3, 5}, {5}},
                  {{5}, {2, 3, 5}},
                  {{}, {3, 4}},
                  {{513}, {513}},
                  {{3, 7000}, {7000}},
                  {{3, 700}, {3, 1}}},
                 std::move(forward),
                 [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                   pullbacks::pairwise_pullback(F{}, x[0], x[1], std::move(d_y), d[0], d[1]);
                 }};
  made.tangent = [](const Tensors& x) {
    return tangents::plus(tangents::along_first(F{}, x[0], x[1], x[2]),
                          tangents::along_second(F{}, x[0], x[1], x[3]));
  };
  made.tangent_pullback = [](const Tensors& x, const Tensor& d_y, const std::vector<Tensor*>& d) {
    pullbacks::tangents::along_first_pullback(F{}, x[0], x[1], x[2], d_y, d[0], d[1], d[2]);
    pullbacks::tangents::along_second_pullback(F{}, x[0], x[1], x[3], d_y, d[0], d[1], d[3]);
  };
  return made;
}

}  // namespace

std::vector<Operation> functions_of_two() {
#define CLADTORCH_OPERATION(F, call, ...)    \
  operation<functions::F>(                   \
      [](const Tensors& of) {                \
        const Tensor &a = of[0], &b = of[1]; \
        return ::cladtorch::call;            \
      },                                     \
      __VA_ARGS__),
  return {CLADTORCH_EACH_FUNCTION(CLADTORCH_OPERATION)};
#undef CLADTORCH_OPERATION
}

}  // namespace cladtorch::testing
