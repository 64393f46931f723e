// Elementwise arithmetic and its pullbacks, one element at a time.
#pragma once

#include "cladtorch/tensor/host_device.h"

namespace cladtorch::detail {

struct Add {
  static constexpr const char* name = "add";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

struct Subtract {
  static constexpr const char* name = "sub";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return a - b;
  }
};

/// Its pullback too: d_a = d_y b.
struct Multiply {
  static constexpr const char* name = "mul";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return a * b;
  }
};

/// d_a = d_y / b too.
struct Divide {
  static constexpr const char* name = "div";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T a, T b) const {
    return a / b;
  }
};

/// Half of div's d_b = -d_y a / b^2: -d_y a.
struct NegativeProduct {
  static constexpr const char* name = "div";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T d_y, T a) const {
    return -d_y * a;
  }
};

/// The other half: that over b^2.
struct DivideBySquare {
  static constexpr const char* name = "div";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T product, T b) const {
    return product / (b * b);
  }
};

struct Negate {
  static constexpr const char* name = "sub";
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return -x;
  }
};

/// Its pullback too.
struct Scale {
  static constexpr const char* name = "scale";
  double factor;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x * static_cast<T>(factor);
  }
};

struct AddScalar {
  static constexpr const char* name = "add_scalar";
  double value;
  template <class T>
  CLADTORCH_HOST_DEVICE T operator()(T x) const {
    return x + static_cast<T>(value);
  }
};

}  // namespace cladtorch::detail
