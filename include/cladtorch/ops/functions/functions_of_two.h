// The functions of two elements, written once as those of one are (functions.h), and differentiated by each
// operand.
#pragma once

#include "cladtorch/ops/functions/primitives.h"

namespace cladtorch::functions {

/// Where both are equal each has half of the derivative.
struct Maximum {
  static constexpr const char* name = "maximum";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return where(a > b, a, where(a < b, b, T(0.5) * a + T(0.5) * b));
  }
};

struct Minimum {
  static constexpr const char* name = "minimum";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return where(a < b, a, where(a > b, b, T(0.5) * a + T(0.5) * b));
  }
};

struct Atan2 {
  static constexpr const char* name = "atan2";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return atan2(a, b);
  }
};

struct Hypot {
  static constexpr const char* name = "hypot";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return hypot(a, b);
  }
};

struct Power {
  static constexpr const char* name = "pow";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return pow(a, b);
  }
};

/// log(exp(a) + exp(b)) without overflow.
struct Logaddexp {
  static constexpr const char* name = "logaddexp";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    const T larger = where(a > b, a, where(a < b, b, T(0.5) * a + T(0.5) * b)), distance = abs(a - b);
    return where(distance >= T(0), larger + log1p(exp(-distance)), larger);  // equal infinities have none
  }
};

/// a log(b), and 0 where a is 0; the derivative by a is log(b) there too, unless that is infinite.
struct Xlogy {
  static constexpr const char* name = "xlogy";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    const T l = log(b), product = a * l, none = where(b <= b, T(0), b);
    return where(abs(a) <= T(0), where(l - l <= T(0), product, none), product);
  }
};

/// a - b floor(a / b), which has the sign of b.
struct Remainder {
  static constexpr const char* name = "remainder";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return a - b * floor(a / b);
  }
};

/// a where a > 0, else a times the weight b.
struct Prelu {
  static constexpr const char* name = "prelu";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return where(a > T(0), a, a * b);
  }
};

}  // namespace cladtorch::functions
