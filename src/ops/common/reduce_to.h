// Undoing a broadcast: the gradient of a stretched operand.
#pragma once

#include "ops/common/call.h"

namespace cladtorch::detail {

/// *d += x summed over the dimensions that broadcasting `shape` to x's shape stretched. A sum over nothing is
/// shared instead of copied.
void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape);

/// The same for float32 terms of a gradient of `dtype`: a sum that belongs to a bfloat16 gradient is rounded
/// once.
void accumulate_reduced(Tensor* d, Tensor x, const Shape& shape, DType dtype);

/// As add_gradient, of a gradient that is summed to `shape`: on_device(const GradientTarget& d) or
/// on_cpu(T(), Target<Out> d) writes terms of x's shape. Those of sums of bfloat16 are floats.
template <class OnDevice, class OnCpu>
void add_reduced_gradient(const char* operation, Tensor* d, const Shape& shape, const Tensor& x,
                          const OnDevice& on_device, const OnCpu& on_cpu) {
  if (x.shape() == shape)
    return add_gradient(operation, d, x, on_device, [&]<class T>(Target<T> to) { on_cpu(T(), to); });
  Tensor terms = Tensor::empty(x.shape(), computed_in(x.dtype()), x.device());
  run_where(
      operation, x, [&] { on_device(store_into(terms)); },
      [&]<class T>(T) { on_cpu(T(), Target<Computed<T>>{terms.data<Computed<T>>()}); });
  accumulate_reduced(d, std::move(terms), shape, x.dtype());
}

/// The sum of dense rows x [rows, n], added one after the other. T is float or double, and Out the
/// same; or T is bfloat16, sums are in float, and Out is either.
template <class T, class Out>
void sum_rows(int64_t rows, int64_t n, const T* x, Target<Out> sum);

}  // namespace cladtorch::detail
