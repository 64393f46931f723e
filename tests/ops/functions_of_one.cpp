// Functions of one element: a function of ops/functions/functions.h that has no line here fails
// Catalogue.HasEveryFunctionOfElements.
#include "cladtorch/ops/activation.h"
#include "cladtorch/ops/functions/slope.h"
#include "cladtorch/ops/pushforward.h"
#include "tests/ops/catalogue.h"

namespace cladtorch::testing {
namespace {

/// Every function: its class with the parameters of `call`, which is of x, and its domain.
#define CLADTORCH_EACH_FUNCTION(X)                               \
  X(Abs{}, abs(x), -3, 3)                                        \
  X(Acos{}, acos(x), -0.9, 0.9)                                  \
  X(Acosh{}, acosh(x), 1.1, 4)                                   \
  X(Asin{}, asin(x), -0.9, 0.9)                                  \
  X(Asinh{}, asinh(x), -3, 3)                                    \
  X(Atan{}, atan(x), -3, 3)                                      \
  X(Atanh{}, atanh(x), -0.9, 0.9)                                \
  X(Ceil{}, ceil(x), -3, 3)                                      \
  X(BoundedLog{}, pointwise(functions::BoundedLog{}, x), 0.2, 4) \
  X((Celu{0.7}), celu(x, 0.7), -3, 3)                            \
  X((Clamp{-1, 2}), clamp(x, -1, 2), -3, 3)                      \
  X(Cos{}, cos(x), -6, 6)                                        \
  X(Cosh{}, cosh(x), -3, 3)                                      \
  X(Elu{1.3}, elu(x, 1.3), -3, 3)                                \
  X(Erf{}, erf(x), -3, 3)                                        \
  X(Erfc{}, erfc(x), -3, 3)                                      \
  X(Exp{}, exp(x), -3, 3)                                        \
  X(Exp2{}, exp2(x), -3, 3)                                      \
  X(Expm1{}, expm1(x), -3, 3)                                    \
  X(Floor{}, floor(x), -3, 3)                                    \
  X(GeluErf{}, gelu_erf(x), -4, 4)                               \
  X(GeluTanh{}, gelu_tanh(x), -3, 3)                             \
  X(Hardshrink{0.5}, hardshrink(x), -3, 3)                       \
  X(Hardsigmoid{}, hardsigmoid(x), -4, 4)                        \
  X(Hardswish{}, hardswish(x), -4, 4)                            \
  X(LeakyRelu{0.2}, leaky_relu(x, 0.2), -3, 3)                   \
  X(Log{}, log(x), 0.2, 4)                                       \
  X(Log10{}, log10(x), 0.2, 4)                                   \
  X(Log1p{}, log1p(x), -0.8, 4)                                  \
  X(Log2{}, log2(x), 0.2, 4)                                     \
  X(LogSigmoid{}, logsigmoid(x), -6, 6)                          \
  X(Mish{}, mish(x), -4, 4)                                      \
  X(Pow{2.5}, pow(x, 2.5), 0.2, 3)                               \
  X(Reciprocal{}, reciprocal(x), 0.3, 3)                         \
  X(Relu{}, relu(x), -3, 3)                                      \
  X(Round{}, round(x), -3, 3)                                    \
  X(Rsqrt{}, rsqrt(x), 0.3, 4)                                   \
  X(Selu{}, selu(x), -3, 3)                                      \
  X(Sigmoid{}, sigmoid(x), -6, 6)                                \
  X(Sign{}, sign(x), -3, 3)                                      \
  X(Silu{}, silu(x), -6, 6)                                      \
  X(Sin{}, sin(x), -6, 6)                                        \
  X(Sinh{}, sinh(x), -3, 3)                                      \
  X((Softplus{1.5, 4}), softplus(x, 1.5, 4), -4, 4)              \
  X(Softshrink{0.5}, softshrink(x), -3, 3)                       \
  X(Softsign{}, softsign(x), -3, 3)                              \
  X(Sqrt{}, sqrt(x), 0.2, 4)                                     \
  X(Square{}, square(x), -3, 3)                                  \
  X(Tan{}, tan(x), -1.2, 1.2)                                    \
  X(Tanh{}, tanh(x), -3, 3)                                      \
  X(Tanhshrink{}, tanhshrink(x), -3, 3)                          \
  X((Threshold{0.3, -0.5}), threshold(x, 0.3, -0.5), -3, 3)      \
  X(Trunc{}, trunc(x), -3, 3)

/// The pullback of F as the backward pass calls it: one that keeps the result gets no x.
template <class F>
void pointwise_pullback_of(const F& f, const Tensor& x, Tensor d_y, Tensor* d_x) {
  namespace pullbacks = clad::custom_derivatives::cladtorch;
  if constexpr (functions::HasSlopeOfResult<F>) {
    clad::pullback_state<OutputState> state;
    pullbacks::pointwise_of_result_reverse_forw(f, x, state);
    pullbacks::pointwise_of_result_pullback(f, {}, std::move(d_y), d_x, state);
  } else if constexpr (std::is_empty_v<F>) {
    pullbacks::pointwise_pullback(f, x, std::move(d_y), d_x);
  } else {
    pullbacks::pointwise_pullback(f, x, std::move(d_y), static_cast<F*>(nullptr), d_x);
  }
}

double largest(const Tensor& x) {
  double result = 0;
  for (int64_t i = 0; i < x.numel(); ++i) result = std::fmax(result, std::abs(x.data<double>()[i]));
  return result;
}

template <class F>
Operation operation(F f, Forward forward, double low, double high) {
  Operation made{F::name,
                 {{"x", low, high}},
                 {{{3, 9}}, {{}}, {{0}}, {{15}}, {{16}}, {{17}}, {{511}}, {{513}}, {{3, 20000}}},
                 std::move(forward),
                 [f](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
                   pointwise_pullback_of(f, x[0], std::move(d_y), d[0]);
                 }};
  // The result that is kept has 8 bits; a slope of it loses that much of what it multiplies.
  if (functions::HasSlopeOfResult<F>) made.rounding = 0.03 * largest(made.forward(made.draw({{1000}})));
  made.tangent = [f](const Tensors& x) { return tangents::along(f, x[0], x[1]); };
  made.tangent_pullback = [f](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d) {
    using clad::custom_derivatives::cladtorch::tangents::along_pullback;
    if constexpr (std::is_empty_v<F>) {
      along_pullback(f, x[0], x[1], std::move(d_y), d[0], d[1]);
    } else {
      along_pullback(f, x[0], x[1], std::move(d_y), static_cast<F*>(nullptr), d[0], d[1]);
    }
  };
  return made;
}

}  // namespace

std::vector<Operation> functions_of_one() {
  using namespace functions;
#define CLADTORCH_OPERATION(f, call, low, high) \
  operation(                                    \
      f,                                        \
      [](const Tensors& of) {                   \
        const Tensor& x = of[0];                \
        return ::cladtorch::call;               \
      },                                        \
      low, high),
  return {CLADTORCH_EACH_FUNCTION(CLADTORCH_OPERATION)};
#undef CLADTORCH_OPERATION
}

}  // namespace cladtorch::testing
