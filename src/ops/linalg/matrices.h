// Loops over the matrices of a tensor.
#pragma once

#include <string>
#include <vector>

#include "cladtorch/ops/linalg.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/common/call.h"
#include "ops/linalg/lapack.h"

namespace cladtorch::linalg {

inline Shape batch_of(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<size_t>(shape.rank() - 2)));
}
inline Shape matrices(Shape batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}
inline Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }

/// The call of an operation on a tensor of matrices, and on one of square ones. Throws Error for other
/// tensors.
inline cladtorch::detail::CpuCall call_of(const char* operation, const Tensor& a) {
  require(cladtorch::detail::lapack::available(), operation,
          ": this build has no LAPACK; install liblapack-dev and configure again");
  const cladtorch::detail::CpuCall call(operation, {{"a", a}});
  require(a.dim() >= 2, operation, ": expected matrices, got ", a.shape());
  return call;
}
inline cladtorch::detail::CpuCall call_of_square(const char* operation, const Tensor& a) {
  const cladtorch::detail::CpuCall call = call_of(operation, a);
  require(a.size(-1) == a.size(-2), operation, ": expected square matrices, got ", a.shape());
  return call;
}

/// Calls one(i), which returns LAPACK's info, for each of `count` matrices, in parallel. Where one is not 0,
/// throws Error "<operation>: matrix <i> <what>".
template <class One>
void for_each_matrix(const char* operation, const char* what, int64_t count, One one) {
  std::vector<int> infos(static_cast<size_t>(count));
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) infos[static_cast<size_t>(i)] = one(i);
  };
  // A library that has threads of its own has them inside each matrix.
  if (cladtorch::detail::lapack::has_threads()) {
    run(0, count);
  } else {
    parallel_for(count, 1, run);
  }
  for (int64_t i = 0; i < count; ++i)
    require(infos[static_cast<size_t>(i)] == 0, operation, ": matrix ", i, " ", what);
}

/// Which of the matrices of `batch` is at `index` of a batch to which it broadcasts.
inline int64_t broadcast_index(int64_t index, const Shape& full, const Shape& batch) {
  int64_t result = 0, step = 1;
  for (int i = full.rank() - 1, k = batch.rank() - 1; k >= 0; --i, --k) {
    if (batch[k] != 1) result += index % full[i] * step;
    index /= full[i];
    step *= batch[k];
  }
  return result;
}

/// Solutions for each column of b: solve(number of the matrix of a, k, k rows of n elements).
template <class T, class Solve>
Tensor solved_columns(const char* operation, const char* what, const Shape& a, const Tensor& b, Solve solve) {
  const Shape full = broadcast_shapes(operation, batch_of(a), batch_of(b.shape()));
  const int64_t n = b.size(-2), k = b.size(-1);
  Tensor x = Tensor::empty(matrices(full, k, n), b.dtype());
  x.copy_from(transposed(b.expand(matrices(full, n, k))));
  T* const data = x.data<T>();
  for_each_matrix(operation, what, full.numel(), [&](int64_t i) {
    return solve(broadcast_index(i, full, batch_of(a)), static_cast<int>(k), data + i * n * k);
  });
  return transposed(x);
}

// In solve.cpp.
Factors factors_of(const char* operation, const Tensor& a, bool singular_is_error);
/// X with a X = b, or a^T X = b.
Tensor solved(const char* operation, const Factors& factors, const Tensor& b, bool by_transposed);
/// The same for a triangle.
Tensor solved_triangle(const char* operation, const Tensor& a, const Tensor& b, bool upper,
                       bool by_transposed, bool unit);
Tensor inverse(const char* operation, const Factors& factors);

// In decompositions.cpp.
/// x[i, j] / (values[j] - values[i]), or of their squares, and 0 on the diagonal and where x is 0. Throws
/// Error that says which of `what` are equal.
Tensor divided_by_gaps(const char* operation, const char* what, const Tensor& x, const Tensor& values,
                       bool of_squares);

}  // namespace cladtorch::linalg
