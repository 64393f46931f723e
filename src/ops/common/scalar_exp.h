// The exponential that math templates take, for one float or double.
#pragma once

#include <cmath>

namespace cladtorch::detail {

struct ScalarExp {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
  template <class T>
  static T reciprocal_of(T x) {
    return 1 / x;
  }
};

}  // namespace cladtorch::detail
