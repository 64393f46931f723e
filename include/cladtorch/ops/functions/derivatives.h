// Written by tools/derive-functions: the derivatives of the functions of one and two elements, by our own
// plugin.
#pragma once

#include "cladtorch/ops/functions/functions.h"
#include "cladtorch/ops/functions/functions_of_two.h"

// clang-format off
/// X(Function) of every function of one element.
#define CLADTORCH_FUNCTIONS(X) \
  X(Abs) \
  X(Acos) \
  X(Acosh) \
  X(Asin) \
  X(Asinh) \
  X(Atan) \
  X(Atanh) \
  X(BoundedLog) \
  X(Ceil) \
  X(Celu) \
  X(Clamp) \
  X(Cos) \
  X(Cosh) \
  X(Elu) \
  X(Erf) \
  X(Erfc) \
  X(Exp) \
  X(Exp2) \
  X(Expm1) \
  X(Floor) \
  X(GeluErf) \
  X(GeluTanh) \
  X(Hardshrink) \
  X(Hardsigmoid) \
  X(Hardswish) \
  X(LeakyRelu) \
  X(Log) \
  X(Log10) \
  X(Log1p) \
  X(Log2) \
  X(LogSigmoid) \
  X(Mish) \
  X(Pow) \
  X(Reciprocal) \
  X(Relu) \
  X(Round) \
  X(Rsqrt) \
  X(Selu) \
  X(Sigmoid) \
  X(Sign) \
  X(Silu) \
  X(Sin) \
  X(Sinh) \
  X(Softplus) \
  X(Softshrink) \
  X(Softsign) \
  X(Sqrt) \
  X(Square) \
  X(Tan) \
  X(Tanh) \
  X(Tanhshrink) \
  X(Threshold) \
  X(Trunc)
/// X(Function) of every function of two.
#define CLADTORCH_FUNCTIONS_OF_TWO(X) \
  X(Atan2) \
  X(Hypot) \
  X(Logaddexp) \
  X(Maximum) \
  X(Minimum) \
  X(Power) \
  X(Prelu) \
  X(Remainder) \
  X(Xlogy)
// clang-format on

namespace cladtorch::functions {

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Abs&, T x, T d_x) {
  Dual<T> both = abs_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Acos&, T x, T d_x) {
  Dual<T> both = acos_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Acosh&, T x, T d_x) {
  Dual<T> both = acosh_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Asin&, T x, T d_x) {
  Dual<T> both = asin_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Asinh&, T x, T d_x) {
  Dual<T> both = asinh_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Atan&, T x, T d_x) {
  Dual<T> both = atan_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Atanh&, T x, T d_x) {
  Dual<T> both = atanh_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const BoundedLog&, T x, T d_x) {
  Dual<T> both = log_pushforward(x, d_x);
  T y = both.value;
  T d_y = both.pushforward;
  Dual<T> both_1 = where_pushforward(y < T(-100), T(-100), y, T(0), d_y);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Ceil&, T x, T d_x) {
  Dual<T> both = ceil_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Celu& self, T x, T d_x) {
  Dual<T> both = expm1_pushforward(x / T(self.alpha), T(d_x / T(self.alpha)));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x > T(0), x, T(self.alpha) * t, d_x, T(T(self.alpha) * d_t));
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Celu& self, T x, const Celu& d_self) {
  Dual<T> both =
      expm1_pushforward(x / T(self.alpha), T(-(x * T(d_self.alpha)) / (T(self.alpha) * T(self.alpha))));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 =
      where_pushforward(x > T(0), x, T(self.alpha) * t, T(0), T(T(d_self.alpha) * t + T(self.alpha) * d_t));
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Clamp& self, T x, T d_x) {
  Dual<T> both = where_pushforward(x >= T(self.high), T(self.high), x, T(0), d_x);
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x <= T(self.low), T(self.low), t, T(0), d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Clamp& self, T x, const Clamp& d_self) {
  Dual<T> both = where_pushforward(x >= T(self.high), T(self.high), x, T(d_self.high), T(0));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x <= T(self.low), T(self.low), t, T(d_self.low), d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Cos&, T x, T d_x) {
  Dual<T> both = cos_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Cosh&, T x, T d_x) {
  Dual<T> both = cosh_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Elu& self, T x, T d_x) {
  Dual<T> both = expm1_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x > T(0), x, T(self.alpha) * t, d_x, T(T(self.alpha) * d_t));
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Elu& self, T x, const Elu& d_self) {
  T t = expm1(x);
  Dual<T> both = where_pushforward(x > T(0), x, T(self.alpha) * t, T(0), T(T(d_self.alpha) * t));
  T t_1 = both.value;
  T d_t_1 = both.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Erf&, T x, T d_x) {
  Dual<T> both = erf_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Erfc&, T x, T d_x) {
  Dual<T> both = erfc_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Exp&, T x, T d_x) {
  Dual<T> both = exp_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Exp2&, T x, T d_x) {
  Dual<T> both = exp2_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Expm1&, T x, T d_x) {
  Dual<T> both = expm1_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Floor&, T x, T d_x) {
  Dual<T> both = floor_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const GeluErf&, T x, T d_x) {
  Dual<T> both = normal_distribution_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{x * t, d_x * t + x * d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const GeluTanh&, T x, T d_x) {
  Dual<T> both = falling_sigmoid_pushforward(-x * (x * x * T(GeluTanh::cubic) + T(GeluTanh::linear)),
                                             T(-d_x * (x * x * T(GeluTanh::cubic) + T(GeluTanh::linear)) +
                                               -x * ((d_x * x + x * d_x) * T(GeluTanh::cubic))));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{x * t, d_x * t + x * d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Hardshrink& self, T x, T d_x) {
  Dual<T> both = abs_pushforward(x, d_x);
  T t = both.value;
  Dual<T> both_1 = where_pushforward(t <= T(self.limit), T(0), x, T(0), d_x);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Hardshrink& self, T x, const Hardshrink&) {
  T t = abs(x);
  T t_1 = where(t <= T(self.limit), T(0), x);
  return Dual<T>{t_1, T(0)};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Hardsigmoid&, T x, T d_x) {
  Dual<T> both = where_pushforward(x >= T(3), T(1), x / T(6) + T(0.5), T(0), T(d_x / T(6)));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x <= T(-3), T(0), t, T(0), d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Hardswish&, T x, T d_x) {
  Dual<T> both =
      where_pushforward(x >= T(3), x, x * (x + T(3)) / T(6), d_x, T((d_x * (x + T(3)) + x * d_x) / T(6)));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x <= T(-3), T(0), t, T(0), d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const LeakyRelu& self, T x, T d_x) {
  Dual<T> both =
      where_pushforward(x > T(0), x, T(self.negative_slope) * x, d_x, T(T(self.negative_slope) * d_x));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const LeakyRelu& self, T x, const LeakyRelu& d_self) {
  Dual<T> both =
      where_pushforward(x > T(0), x, T(self.negative_slope) * x, T(0), T(T(d_self.negative_slope) * x));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Log&, T x, T d_x) {
  Dual<T> both = log_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Log10&, T x, T d_x) {
  Dual<T> both = log10_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Log1p&, T x, T d_x) {
  Dual<T> both = log1p_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Log2&, T x, T d_x) {
  Dual<T> both = log2_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const LogSigmoid&, T x, T d_x) {
  Dual<T> both = exp_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = log1p_pushforward(t, d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  Dual<T> both_2 = exp_pushforward(-x, T(-d_x));
  T t_2 = both_2.value;
  T d_t_2 = both_2.pushforward;
  Dual<T> both_3 = log1p_pushforward(t_2, d_t_2);
  T t_3 = both_3.value;
  T d_t_3 = both_3.pushforward;
  Dual<T> both_4 = where_pushforward(x < T(0), x - t_1, -t_3, T(d_x - d_t_1), T(-d_t_3));
  T t_4 = both_4.value;
  T d_t_4 = both_4.pushforward;
  return Dual<T>{t_4, d_t_4};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Mish&, T x, T d_x) {
  Dual<T> both = exp_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = log1p_pushforward(t, d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  Dual<T> both_2 = where_pushforward(x > T(20), x, t_1, d_x, d_t_1);
  T soft = both_2.value;
  T d_soft = both_2.pushforward;
  Dual<T> both_3 = tanh_pushforward(soft, d_soft);
  T t_3 = both_3.value;
  T d_t_3 = both_3.pushforward;
  return Dual<T>{x * t_3, d_x * t_3 + x * d_t_3};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Pow& self, T x, T d_x) {
  Dual<T> both = pow_pushforward(x, T(self.exponent), d_x, T(0));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Pow& self, T x, const Pow& d_self) {
  Dual<T> both = pow_pushforward(x, T(self.exponent), T(0), T(d_self.exponent));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Reciprocal&, T x, T d_x) {
  return Dual<T>{T(1) / x, -(T(1) * d_x) / (x * x)};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Relu&, T x, T d_x) {
  Dual<T> both = where_pushforward(x <= T(0), T(0), x, T(0), d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Round&, T x, T d_x) {
  Dual<T> both = round_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Rsqrt&, T x, T d_x) {
  Dual<T> both = sqrt_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{T(1) / t, -(T(1) * d_t) / (t * t)};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Selu&, T x, T d_x) {
  T alpha = T(1.6732632423543772848170429916717);
  T factor = T(1.0507009873554804934193349852946);
  Dual<T> both = expm1_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x > T(0), x, alpha * t, d_x, T(alpha * d_t));
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{factor * t_1, factor * d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Sigmoid&, T x, T d_x) {
  Dual<T> both = sigmoid_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Sign&, T x, T d_x) {
  Dual<T> both = sign_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Silu&, T x, T d_x) {
  Dual<T> both = falling_sigmoid_pushforward(-x, T(-d_x));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{x * t, d_x * t + x * d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Sin&, T x, T d_x) {
  Dual<T> both = sin_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Sinh&, T x, T d_x) {
  Dual<T> both = sinh_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Softplus& self, T x, T d_x) {
  T d_scaled = d_x * T(self.beta);
  T scaled = x * T(self.beta);
  Dual<T> both = exp_pushforward(scaled, d_scaled);
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = log1p_pushforward(t, d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  Dual<T> both_2 =
      where_pushforward(scaled > T(self.limit), x, t_1 / T(self.beta), d_x, T(d_t_1 / T(self.beta)));
  T t_2 = both_2.value;
  T d_t_2 = both_2.pushforward;
  return Dual<T>{t_2, d_t_2};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Softplus& self, T x, const Softplus& d_self) {
  T d_scaled = x * T(d_self.beta);
  T scaled = x * T(self.beta);
  Dual<T> both = exp_pushforward(scaled, d_scaled);
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = log1p_pushforward(t, d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  Dual<T> both_2 =
      where_pushforward(scaled > T(self.limit), x, t_1 / T(self.beta), T(0),
                        T((d_t_1 * T(self.beta) - t_1 * T(d_self.beta)) / (T(self.beta) * T(self.beta))));
  T t_2 = both_2.value;
  T d_t_2 = both_2.pushforward;
  return Dual<T>{t_2, d_t_2};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Softshrink& self, T x, T d_x) {
  Dual<T> both = where_pushforward(x < -T(self.limit), x + T(self.limit), T(0) * x, d_x, T(T(0) * d_x));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x > T(self.limit), x - T(self.limit), t, d_x, d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Softshrink& self, T x, const Softshrink& d_self) {
  Dual<T> both = where_pushforward(x < -T(self.limit), x + T(self.limit), T(0) * x, T(d_self.limit), T(0));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(x > T(self.limit), x - T(self.limit), t, T(-T(d_self.limit)), d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Softsign&, T x, T d_x) {
  Dual<T> both = abs_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{x / (T(1) + t), (d_x * (T(1) + t) - x * d_t) / ((T(1) + t) * (T(1) + t))};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Sqrt&, T x, T d_x) {
  Dual<T> both = sqrt_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Square&, T x, T d_x) {
  return Dual<T>{x * x, d_x * x + x * d_x};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Tan&, T x, T d_x) {
  Dual<T> both = tan_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Tanh&, T x, T d_x) {
  Dual<T> both = tanh_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Tanhshrink&, T x, T d_x) {
  Dual<T> both = tanh_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{x - t, d_x - d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Threshold& self, T x, T d_x) {
  Dual<T> both = where_pushforward(x <= T(self.limit), T(self.value), x, T(0), d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Threshold& self, T x, const Threshold& d_self) {
  Dual<T> both = where_pushforward(x <= T(self.limit), T(self.value), x, T(d_self.value), T(0));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> pushforward(const Trunc&, T x, T d_x) {
  Dual<T> both = trunc_pushforward(x, d_x);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Atan2&, T a, T b, T d_a) {
  Dual<T> both = atan2_pushforward(a, b, d_a, T(0));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Atan2&, T a, T b, T d_b) {
  Dual<T> both = atan2_pushforward(a, b, T(0), d_b);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Hypot&, T a, T b, T d_a) {
  Dual<T> both = hypot_pushforward(a, b, d_a, T(0));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Hypot&, T a, T b, T d_b) {
  Dual<T> both = hypot_pushforward(a, b, T(0), d_b);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Logaddexp&, T a, T b, T d_a) {
  Dual<T> both = where_pushforward(a < b, b, T(0.5) * a + T(0.5) * b, T(0), T(T(0.5) * d_a));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(a > b, a, t, d_a, d_t);
  T larger = both_1.value;
  T d_larger = both_1.pushforward;
  Dual<T> both_2 = abs_pushforward(a - b, d_a);
  T distance = both_2.value;
  T d_distance = both_2.pushforward;
  Dual<T> both_3 = exp_pushforward(-distance, T(-d_distance));
  T t_3 = both_3.value;
  T d_t_3 = both_3.pushforward;
  Dual<T> both_4 = log1p_pushforward(t_3, d_t_3);
  T t_4 = both_4.value;
  T d_t_4 = both_4.pushforward;
  Dual<T> both_5 = where_pushforward(distance >= T(0), larger + t_4, larger, T(d_larger + d_t_4), d_larger);
  T t_5 = both_5.value;
  T d_t_5 = both_5.pushforward;
  return Dual<T>{t_5, d_t_5};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Logaddexp&, T a, T b, T d_b) {
  Dual<T> both = where_pushforward(a < b, b, T(0.5) * a + T(0.5) * b, d_b, T(T(0.5) * d_b));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(a > b, a, t, T(0), d_t);
  T larger = both_1.value;
  T d_larger = both_1.pushforward;
  Dual<T> both_2 = abs_pushforward(a - b, T(-d_b));
  T distance = both_2.value;
  T d_distance = both_2.pushforward;
  Dual<T> both_3 = exp_pushforward(-distance, T(-d_distance));
  T t_3 = both_3.value;
  T d_t_3 = both_3.pushforward;
  Dual<T> both_4 = log1p_pushforward(t_3, d_t_3);
  T t_4 = both_4.value;
  T d_t_4 = both_4.pushforward;
  Dual<T> both_5 = where_pushforward(distance >= T(0), larger + t_4, larger, T(d_larger + d_t_4), d_larger);
  T t_5 = both_5.value;
  T d_t_5 = both_5.pushforward;
  return Dual<T>{t_5, d_t_5};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Maximum&, T a, T b, T d_a) {
  Dual<T> both = where_pushforward(a < b, b, T(0.5) * a + T(0.5) * b, T(0), T(T(0.5) * d_a));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(a > b, a, t, d_a, d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Maximum&, T a, T b, T d_b) {
  Dual<T> both = where_pushforward(a < b, b, T(0.5) * a + T(0.5) * b, d_b, T(T(0.5) * d_b));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(a > b, a, t, T(0), d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Minimum&, T a, T b, T d_a) {
  Dual<T> both = where_pushforward(a > b, b, T(0.5) * a + T(0.5) * b, T(0), T(T(0.5) * d_a));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(a < b, a, t, d_a, d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Minimum&, T a, T b, T d_b) {
  Dual<T> both = where_pushforward(a > b, b, T(0.5) * a + T(0.5) * b, d_b, T(T(0.5) * d_b));
  T t = both.value;
  T d_t = both.pushforward;
  Dual<T> both_1 = where_pushforward(a < b, a, t, T(0), d_t);
  T t_1 = both_1.value;
  T d_t_1 = both_1.pushforward;
  return Dual<T>{t_1, d_t_1};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Power&, T a, T b, T d_a) {
  Dual<T> both = pow_pushforward(a, b, d_a, T(0));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Power&, T a, T b, T d_b) {
  Dual<T> both = pow_pushforward(a, b, T(0), d_b);
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Prelu&, T a, T b, T d_a) {
  Dual<T> both = where_pushforward(a > T(0), a, a * b, d_a, T(d_a * b));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Prelu&, T a, T b, T d_b) {
  Dual<T> both = where_pushforward(a > T(0), a, a * b, T(0), T(a * d_b));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{t, d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Remainder&, T a, T b, T d_a) {
  Dual<T> both = floor_pushforward(a / b, T(d_a / b));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{a - b * t, d_a - b * d_t};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Remainder&, T a, T b, T d_b) {
  Dual<T> both = floor_pushforward(a / b, T(-(a * d_b) / (b * b)));
  T t = both.value;
  T d_t = both.pushforward;
  return Dual<T>{a - b * t, -(d_b * t + b * d_t)};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> first_pushforward(const Xlogy&, T a, T b, T d_a) {
  T l = log(b);
  T d_product = d_a * l;
  T product = a * l;
  T none = where(b <= b, T(0), b);
  Dual<T> both = abs_pushforward(a, d_a);
  T t_2 = both.value;
  Dual<T> both_1 = where_pushforward(l - l <= T(0), product, none, d_product, T(0));
  T t_3 = both_1.value;
  T d_t_3 = both_1.pushforward;
  Dual<T> both_2 = where_pushforward(t_2 <= T(0), t_3, product, d_t_3, d_product);
  T t_4 = both_2.value;
  T d_t_4 = both_2.pushforward;
  return Dual<T>{t_4, d_t_4};
}

template <class T>
CLADTORCH_HOST_DEVICE inline Dual<T> second_pushforward(const Xlogy&, T a, T b, T d_b) {
  Dual<T> both = log_pushforward(b, d_b);
  T l = both.value;
  T d_l = both.pushforward;
  T d_product = a * d_l;
  T product = a * l;
  Dual<T> both_1 = where_pushforward(b <= b, T(0), b, T(0), d_b);
  T none = both_1.value;
  T d_none = both_1.pushforward;
  T t_2 = abs(a);
  Dual<T> both_2 = where_pushforward(l - l <= T(0), product, none, d_product, d_none);
  T t_3 = both_2.value;
  T d_t_3 = both_2.pushforward;
  Dual<T> both_3 = where_pushforward(t_2 <= T(0), t_3, product, d_t_3, d_product);
  T t_4 = both_3.value;
  T d_t_4 = both_3.pushforward;
  return Dual<T>{t_4, d_t_4};
}

}  // namespace cladtorch::functions
