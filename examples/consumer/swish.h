// An operation of the user's own, with its derivative: nothing in the library knows of it.
#pragma once

#include <cladtorch/cladtorch.h>

#include <cmath>
#include <utility>

namespace spiral {
using cladtorch::Tensor;

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Calls body(T()) with the type of the elements: float, or double for gradcheck().
template <class Body>
void with_element_type(const Tensor& x, Body body) {
  if (x.dtype() == cladtorch::DType::float64) return body(double());
  body(float());
}

/// x * sigmoid(x), element by element. Source: Ramachandran et al., "Searching for activation functions",
/// 2017.
inline Tensor swish(const Tensor& x) {
  const Tensor in = x.contiguous();
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  with_element_type(x, [&]<class T>(T) {
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double value = in.data<T>()[i];
      out.data<T>()[i] = static_cast<T>(value * sigmoid(value));
    }
  });
  return out;
}

}  // namespace spiral

namespace clad::custom_derivatives::spiral {
using ::cladtorch::Tensor;

/// Adds d_y * (s + x s (1 - s)) to *d_x, with s = sigmoid(x). The plugin finds it by its name.
inline void swish_pullback(const Tensor& x, Tensor d_y, Tensor* d_x) {
  if (!d_y.defined() || !d_x) return;
  const Tensor in = x.contiguous(), seed = d_y.contiguous();
  Tensor contribution = Tensor::empty(x.shape(), x.dtype());
  ::spiral::with_element_type(x, [&]<class T>(T) {
    for (int64_t i = 0; i < x.numel(); ++i) {
      const double value = in.data<T>()[i];
      const double s = ::spiral::sigmoid(value);
      contribution.data<T>()[i] = static_cast<T>(seed.data<T>()[i] * (s + value * s * (1 - s)));
    }
  });
  d_x->accumulate(std::move(contribution));
}

}  // namespace clad::custom_derivatives::spiral
