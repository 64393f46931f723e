// The pointwise functions: each is written here once, of a T that is float, double, a vector of floats or a
// Dual number, and everything else follows. tools/derive-functions lets the plugin write their derivatives
// (derivatives.h). A function with a `slope` has its derivative here, because its bits or its speed matter;
// one with a `slope_of_result` has it of its value y, which is kept in the place of x for the backward pass.
//
// Names, arguments and derivatives at kinks are those of PyTorch; cladtorch/ops/activation.h has the
// equations.
#pragma once

#include "cladtorch/ops/functions/primitives.h"

namespace cladtorch::functions {

/// A primitive is a function too.
#define CLADTORCH_FUNCTION_OF_PRIMITIVE(Function, primitive) \
  struct Function {                                          \
    static constexpr const char* name = #primitive;          \
    template <class T>                                       \
    CLADTORCH_HOST_DEVICE T operator()(T x) const {          \
      return primitive(x);                                   \
    }                                                        \
  };
CLADTORCH_FUNCTION_OF_PRIMITIVE(Exp2, exp2)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Expm1, expm1)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Log, log)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Log2, log2)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Log10, log10)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Log1p, log1p)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Abs, abs)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Sign, sign)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Floor, floor)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Ceil, ceil)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Trunc, trunc)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Round, round)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Sin, sin)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Cos, cos)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Tan, tan)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Asin, asin)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Acos, acos)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Atan, atan)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Sinh, sinh)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Cosh, cosh)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Asinh, asinh)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Acosh, acosh)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Atanh, atanh)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Erf, erf)
CLADTORCH_FUNCTION_OF_PRIMITIVE(Erfc, erfc)
#undef CLADTORCH_FUNCTION_OF_PRIMITIVE

struct Exp {
  static constexpr const char* name = "exp";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return exp(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope_of_result(T y) const {
    return y;
  }
};

struct Sqrt {
  static constexpr const char* name = "sqrt";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return sqrt(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope_of_result(T y) const {
    return T(0.5) / y;
  }
};

struct Rsqrt {
  static constexpr const char* name = "rsqrt";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return T(1) / sqrt(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope_of_result(T y) const {
    return T(-0.5) * y * y * y;
  }
};

struct Square {
  static constexpr const char* name = "square";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x * x;
  }
};

struct Reciprocal {
  static constexpr const char* name = "reciprocal";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope_of_result(T y) const {
    return -y * y;
  }
};

struct Pow {
  static constexpr const char* name = "pow";
  double exponent;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return pow(x, T(exponent));
  }
};

struct Tanh {
  static constexpr const char* name = "tanh";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return tanh(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope_of_result(T y) const {
    return (T(1) - y) * (T(1) + y);
  }
};

struct Sigmoid {
  static constexpr const char* name = "sigmoid";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return sigmoid(x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope_of_result(T y) const {
    return y * (T(1) - y);
  }
};

/// The logarithm of a probability for its loss: at least -100, with the slope of 1e-12 below that, as in
/// PyTorch. The slope of a clamped logarithm would be 0 times infinity at 0.
struct BoundedLog {
  static constexpr const char* name = "bounded_log";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    const T y = log(x);
    return where(y < T(-100), T(-100), y);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope(T x) const {
    return T(1) / where(x < T(1e-12), T(1e-12), x);
  }
};

struct LogSigmoid {
  static constexpr const char* name = "logsigmoid";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x < T(0), x - log1p(exp(x)), -log1p(exp(-x)));
  }
};

/// NaN stays NaN.
struct Relu {
  static constexpr const char* name = "relu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x <= T(0), T(0), x);
  }
};

struct Clamp {
  static constexpr const char* name = "clamp";
  double low, high;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x <= T(low), T(low), where(x >= T(high), T(high), x));
  }
};

/// The derivative is 0 at both ends.
struct Threshold {
  static constexpr const char* name = "threshold";
  double limit, value;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x <= T(limit), T(value), x);
  }
};

struct LeakyRelu {
  static constexpr const char* name = "leaky_relu";
  double negative_slope;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x > T(0), x, T(negative_slope) * x);
  }
};

struct Elu {
  static constexpr const char* name = "elu";
  double alpha;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x > T(0), x, T(alpha) * expm1(x));
  }
};

struct Celu {
  static constexpr const char* name = "celu";
  double alpha;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x > T(0), x, T(alpha) * expm1(x / T(alpha)));
  }
};

struct Selu {
  static constexpr const char* name = "selu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    constexpr double alpha = 1.6732632423543772848170429916717, factor = 1.0507009873554804934193349852946;
    return T(factor) * where(x > T(0), x, T(alpha) * expm1(x));
  }
};

struct Softplus {
  static constexpr const char* name = "softplus";
  double beta, limit;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    const T scaled = x * T(beta);
    return where(scaled > T(limit), x, log1p(exp(scaled)) / T(beta));
  }
};

struct Mish {
  static constexpr const char* name = "mish";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    const T soft = where(x > T(20), x, log1p(exp(x)));
    return x * tanh(soft);
  }
};

struct Softsign {
  static constexpr const char* name = "softsign";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x / (T(1) + abs(x));
  }
};

struct Tanhshrink {
  static constexpr const char* name = "tanhshrink";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x - tanh(x);
  }
};

struct Hardshrink {
  static constexpr const char* name = "hardshrink";
  double limit;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(abs(x) <= T(limit), T(0), x);
  }
};

/// NaN stays NaN.
struct Softshrink {
  static constexpr const char* name = "softshrink";
  double limit;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x > T(limit), x - T(limit), where(x < -T(limit), x + T(limit), T(0) * x));
  }
};

struct Hardsigmoid {
  static constexpr const char* name = "hardsigmoid";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x <= T(-3), T(0), where(x >= T(3), T(1), x / T(6) + T(0.5)));
  }
};

struct Hardswish {
  static constexpr const char* name = "hardswish";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return where(x <= T(-3), T(0), where(x >= T(3), x, x * (x + T(3)) / T(6)));
  }
};

struct Silu {
  static constexpr const char* name = "silu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x * falling_sigmoid(-x);
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope(T x) const {
    return slope_of_gate(x, falling_sigmoid(-x));
  }
  /// The same, given s = sigmoid(x).
  template <class T>
  CLADTORCH_HOST_DEVICE static T slope_of_gate(T x, T s) {
    return s + x * s * (T(1) - s);
  }
};

/// With u = sqrt(2/pi) (x + 0.044715 x^3) it is (1 + tanh u) / 2 = 1 / (1 + exp(-2u)), which does not cancel
/// for negative u.
struct GeluTanh {
  static constexpr const char* name = "gelu_tanh";
  static constexpr double linear = 1.5957691216057307868;   ///< 2 sqrt(2/pi)
  static constexpr double cubic = 0.071354816272600239131;  ///< that times 0.044715
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x * falling_sigmoid(-x * (x * x * T(cubic) + T(linear)));
  }
  template <class T>
  CLADTORCH_HOST_DEVICE T slope(T x) const {
    const T s = falling_sigmoid(-x * (x * x * T(cubic) + T(linear)));
    return s + x * s * (T(1) - s) * (x * x * (T(3) * T(cubic)) + T(linear));
  }
};

struct GeluErf {
  static constexpr const char* name = "gelu_erf";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x * normal_distribution(x);
  }
};

}  // namespace cladtorch::functions
