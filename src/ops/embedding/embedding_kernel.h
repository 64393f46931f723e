// Rows of a table in raw memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/rows.h"
#include "ops/common/scratch.h"
#include "ops/common/target.h"

namespace cladtorch::detail {

/// y row i = row index[i] of the table; rows are n elements of T, of any type.
template <class T>
void gather_rows(int64_t count, int64_t n, const int32_t* index, const T* table, T* y) {
  parallel_for(count, row_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(y + i * n, table + index[i] * n, static_cast<size_t>(n) * sizeof(T));
  });
}

/// Row index[i] of d_table [rows, n] += row i of d_y, or that of zeros. Threads share the columns, not the
/// rows: each walks the indices in order, so repeated ones add up in order. Sums of bfloat16 are in float.
template <class T>
void scatter_rows(int64_t count, int64_t rows, int64_t n, const int32_t* index, const T* d_y,
                  Target<Computed<T>> d_table) {
  using Sum = Computed<T>;
  if (!d_table.add) {
    parallel_for(rows * n, 1 << 16, [&](int64_t begin, int64_t end) {
      std::fill(d_table.data + begin, d_table.data + end, Sum(0));
    });
  }
  constexpr int64_t columns = 64;
  thread_local Scratch scratch;
  double* const grown =
      d_table.squares ? scratch.get<double>(n / columns + 1) : nullptr;  // by block of columns
  parallel_for(n, columns, [&](int64_t begin, int64_t end) {
    double growth = 0;
    const auto squares_of = [&](const Sum* row) {
      double sum = 0;
      for (int64_t j = begin; j < end; ++j) sum += static_cast<double>(row[j]) * static_cast<double>(row[j]);
      return sum;
    };
    for (int64_t i = 0; i < count; ++i) {
      Sum* const row = d_table.data + index[i] * n;
      const T* const from = d_y + i * n;
      if (grown) growth -= squares_of(row);
      if constexpr (std::is_same_v<T, bfloat16>) {
        add_to(end - begin, from + begin, row + begin);
      } else {
        for (int64_t j = begin; j < end; ++j) row[j] += from[j];
      }
      if (grown) growth += squares_of(row);
    }
    if (grown) grown[begin / columns] = growth;
  });
  if (!grown) return;
  *d_table.squares = d_table.squares_before;
  for (int64_t begin = 0; begin < n; begin += columns) *d_table.squares += grown[begin / columns];
}

}  // namespace cladtorch::detail
