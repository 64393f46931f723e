// A matrix whose size is known at run time, to which a Jacobian is written.
#pragma once

#include <cstddef>
#include <vector>

namespace clad {

/// A matrix of numbers, row by row.
template <class T>
class matrix {
 public:
  matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), values_(rows * cols) {}
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  T* operator[](std::size_t row) { return values_.data() + row * cols_; }
  const T* operator[](std::size_t row) const { return values_.data() + row * cols_; }
  T& operator()(std::size_t row, std::size_t col) { return (*this)[row][col]; }
  const T& operator()(std::size_t row, std::size_t col) const { return (*this)[row][col]; }

 private:
  std::size_t rows_, cols_;
  std::vector<T> values_;
};

namespace detail {
template <class T>
inline constexpr bool is_matrix = false;
template <class T>
inline constexpr bool is_matrix<matrix<T>> = true;
}  // namespace detail

}  // namespace clad
