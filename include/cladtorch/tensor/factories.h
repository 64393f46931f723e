// Functions that make tensors. Names and defaults follow PyTorch where there is no reason to differ.
#pragma once

#include <span>

#include "cladtorch/random.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

Tensor empty(const Shape& shape, DType dtype = DType::float32, Device device = {});
Tensor zeros(const Shape& shape, DType dtype = DType::float32, Device device = {});
Tensor ones(const Shape& shape, DType dtype = DType::float32, Device device = {});
Tensor full(const Shape& shape, double value, DType dtype = DType::float32, Device device = {});
/// A constant for derivatives, whatever `other` is.
CLAD_NONDIFFERENTIABLE Tensor zeros_like(const Tensor& other);
CLAD_NONDIFFERENTIABLE Tensor ones_like(const Tensor& other);
CLAD_NONDIFFERENTIABLE Tensor full_like(const Tensor& other, double value);

/// 0, 1, ..., n - 1. Operations take indices of int32 and of int64, and give int32 unless told otherwise.
Tensor arange(int64_t n, DType dtype = DType::int32, Device device = {});

/// `steps` numbers at equal distances from `first` to `last`; one alone is `first`.
Tensor linspace(double first, double last, int64_t steps, DType dtype = DType::float32);
/// [n, n] with ones on the diagonal.
Tensor eye(int64_t n, DType dtype = DType::float32);
/// Integer `indices` [...] as [..., classes]: 1 where the class is the index, else 0. Throws Error for an
/// index outside [0, classes).
CLAD_NONDIFFERENTIABLE Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype = DType::float32);

/// Normal values; element i depends only on the generator's state and i. Advances the generator. In bfloat16
/// they are the float32 values of the same generator, rounded.
Tensor normal(const Shape& shape, Random& random, double mean, double deviation,
              DType dtype = DType::float32);
/// Standard normal values.
Tensor randn(const Shape& shape, Random& random, DType dtype = DType::float32);
/// Uniform in [0, 1).
Tensor rand(const Shape& shape, Random& random, DType dtype = DType::float32);

/// Whole numbers in [low, high), each equally likely.
Tensor randint(int64_t low, int64_t high, const Shape& shape, Random& random, DType dtype = DType::int32);
/// 0, 1, ..., n - 1 in random order.
Tensor randperm(int64_t n, Random& random, DType dtype = DType::int32);
/// 1 with each element's probability, else 0, in the dtype of `probability` on the CPU.
CLAD_NONDIFFERENTIABLE Tensor bernoulli(const Tensor& probability, Random& random);

/// A copy of `values` in row-major order; throws Error if the counts differ.
template <class T>
Tensor from_values(const Shape& shape, std::span<const T> values) {
  require(static_cast<int64_t>(values.size()) == shape.numel(), "from_values: ", shape, " needs ",
          shape.numel(), " values, got ", values.size());
  Tensor result = Tensor::empty(shape, dtype_of<T>::value);
  T* out = result.data<T>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return result;
}
template <class T>
Tensor from_values(const Shape& shape, std::initializer_list<T> values) {
  return from_values<T>(shape, std::span<const T>(values.begin(), values.size()));
}

}  // namespace cladtorch
