// The catalogue of functions of two elements: what tests of all kinds need to know of each. One of
// ops/functions/functions_of_two.h that has no entry fails Catalogue.HasEveryFunctionOfTwo.
#pragma once

#include <string>
#include <vector>

#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/functions/slope.h"
#include "cladtorch/ops/pushforward.h"
#include "cladtorch/testing/gradcheck.h"

namespace cladtorch::testing {

struct PairwiseOperation {
  std::string name;
  Forward forward;  ///< as a user calls it
  Pullback pullback;
  Forward tangent;  ///< of a, b, d_a and d_b, each of the shape of its operand
  Pullback tangent_pullback;
  std::string function;    ///< the name of its class
  double low[2], high[2];  ///< where the function is smooth but for kinks

  Tensor draw(int operand, const Shape& shape, uint64_t seed = 5) const {
    Random random(seed, static_cast<uint64_t>(operand));
    Tensor x = Tensor::empty(shape, DType::float64);
    const double from = low[operand], to = high[operand];
    for (int64_t i = 0; i < x.numel(); ++i) x.data<double>()[i] = from + (to - from) * random.uniform();
    return x;
  }
};

/// Every function: its class, the call of it, and the domains of a and b.
#define CLADTORCH_PAIRWISE_OPERATIONS(X)       \
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
PairwiseOperation pairwise_operation(const char* function, Forward forward, double a_low, double a_high,
                                     double b_low, double b_high) {
  namespace pullbacks = clad::custom_derivatives::cladtorch;
  return {F::name,
          std::move(forward),
          [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
            pullbacks::pairwise_pullback(F{}, x[0], x[1], std::move(d_y), d[0], d[1]);
          },
          [](const Tensors& x) {
            return tangents::plus(tangents::along_first(F{}, x[0], x[1], x[2]),
                                  tangents::along_second(F{}, x[0], x[1], x[3]));
          },
          [](const Tensors& x, const Tensor& d_y, const std::vector<Tensor*>& d) {
            pullbacks::tangents::along_first_pullback(F{}, x[0], x[1], x[2], d_y, d[0], d[1], d[2]);
            pullbacks::tangents::along_second_pullback(F{}, x[0], x[1], x[3], d_y, d[0], d[1], d[3]);
          },
          function,
          {a_low, b_low},
          {a_high, b_high}};
}

inline std::vector<PairwiseOperation> pairwise_operations() {
#define CLADTORCH_OPERATION(F, call, ...)    \
  pairwise_operation<functions::F>(          \
      #F,                                    \
      [](const Tensors& of) {                \
        const Tensor &a = of[0], &b = of[1]; \
        return ::cladtorch::call;            \
      },                                     \
      __VA_ARGS__),
  return {CLADTORCH_PAIRWISE_OPERATIONS(CLADTORCH_OPERATION)};
#undef CLADTORCH_OPERATION
}

inline void PrintTo(const PairwiseOperation& operation, std::ostream* out) { *out << operation.name; }

}  // namespace cladtorch::testing
