// A tensor as dense rows of its last dimension.
#pragma once

#include <type_traits>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/tensor.h"
#include "ops/common/scratch.h"
#include "ops/common/widened.h"

namespace cladtorch::detail {

inline int64_t row_length(const Tensor& x) { return x.dim() == 0 ? 1 : x.shape().back(); }
inline int64_t row_count(const Tensor& x) {
  const int64_t length = row_length(x);
  return length == 0 ? 0 : x.numel() / length;
}

/// Rows per parallel piece, for about 16 thousand elements each.
inline int64_t row_grain(int64_t length) { return length >= 1 << 14 ? 1 : (1 << 14) / (length ? length : 1); }

/// Floats for some rows of T, if T is bfloat16; else none.
template <class T>
class RowMemory {
 public:
  RowMemory(int64_t rows, int64_t length) {
    if constexpr (std::is_same_v<T, bfloat16>) {
      stride_ = (length + 15) / 16 * 16;
      data_ = thread_scratch<float>(rows * stride_);
    }
  }
  Computed<T>* operator[](int64_t row) const { return data_ ? data_ + row * stride_ : nullptr; }

 private:
  Computed<T>* data_ = nullptr;
  int64_t stride_ = 0;
};

/// Calls body(begin, end, memory) for pieces of `rows` rows, in parallel; `memory` has place for `kept` of
/// them.
template <class T, class Body>
void for_each_row_piece(int64_t rows, int64_t grain, int64_t length, int64_t kept, Body&& body) {
  parallel_for(
      rows, grain, [&] { RowMemory<T>(kept, length); },
      [&](int64_t begin, int64_t end) { body(begin, end, RowMemory<T>(kept, length)); });
}

/// Calls body(row, memory) for each.
template <class T, class Body>
void for_each_row(int64_t rows, int64_t length, int64_t kept, Body&& body) {
  for_each_row_piece<T>(rows, row_grain(length), length, kept,
                        [&](int64_t begin, int64_t end, const RowMemory<T>& memory) {
                          for (int64_t row = begin; row < end; ++row) body(row, memory);
                        });
}

/// sum [n] = a [n] + b [n], rounded once; `memory` has place for three rows.
template <class T>
void add_row(int64_t n, const T* a, const T* b, T* sum, const RowMemory<T>& memory) {
  const auto *const x = readable(n, a, memory[0]), *const z = readable(n, b, memory[1]);
  const Written<T> total(n, sum, false, memory[2]);
  for (int64_t i = 0; i < n; ++i) total.data()[i] = x[i] + z[i];
}

}  // namespace cladtorch::detail
