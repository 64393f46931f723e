// Types of forward mode: tangents in several directions, tangents of arrays whose length only the caller
// knows, and the rows of a Jacobian.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <deque>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "clad/Differentiator/Adjoint.h"
#include "clad/Differentiator/Matrix.h"

namespace clad {

/// Makes an iterator of a class that has operator[], operator+ and position().
template <class Self, class T, class Reference>
struct moving {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = Reference;

  constexpr Reference operator*() const { return self()[0]; }
  constexpr Self operator-(std::ptrdiff_t n) const { return self() + -n; }
  constexpr std::ptrdiff_t operator-(const Self& other) const { return self().position() - other.position(); }
  constexpr Self& operator+=(std::ptrdiff_t n) { return self() = self() + n; }
  constexpr Self& operator-=(std::ptrdiff_t n) { return self() = self() + -n; }
  constexpr Self& operator++() { return *this += 1; }
  constexpr Self& operator--() { return *this -= 1; }
  constexpr Self operator++(int) {
    Self before = self();
    ++*this;
    return before;
  }
  constexpr Self operator--(int) {
    Self before = self();
    --*this;
    return before;
  }
  constexpr bool operator==(const Self& other) const { return *this - other == 0; }
  constexpr auto operator<=>(const Self& other) const { return *this - other <=> 0; }

 private:
  constexpr Self& self() { return static_cast<Self&>(*this); }
  constexpr const Self& self() const { return static_cast<const Self&>(*this); }
};

/// The tangent of an array whose element `index` is the independent variable, as a pointer to the first
/// element: 1 there, 0 elsewhere, however long the array is. For an array without an independent element
/// (`present` is false) all are 0.
template <class T>
class one_hot : public moving<one_hot<T>, T, T> {
 public:
  constexpr explicit one_hot(std::size_t index, bool present = true)
      : index_(static_cast<std::ptrdiff_t>(index)), present_(present) {}
  constexpr T operator[](std::ptrdiff_t i) const { return present_ && i == index_ ? T(1) : T(0); }
  constexpr one_hot operator+(std::ptrdiff_t n) const {
    one_hot moved = *this;
    moved.index_ -= n;
    return moved;
  }
  constexpr std::ptrdiff_t position() const { return -index_; }

 private:
  std::ptrdiff_t index_;
  bool present_;
};

/// The tangent of an array, as a pointer into it. Elements beyond the end are made when they are used, and
/// are zero; references stay valid.
template <class T>
class growing : public moving<growing<T>, T, T&> {
 public:
  explicit growing(std::deque<T>& elements, std::ptrdiff_t offset = 0)
      : elements_(&elements), offset_(offset) {}
  T& operator[](std::ptrdiff_t i) const {
    if (offset_ + i < 0) throw std::out_of_range("clad: an array has no element before its first");
    const auto at = static_cast<std::size_t>(offset_ + i);
    while (at >= elements_->size()) clad::set_zero(elements_->emplace_back());
    return (*elements_)[at];
  }
  T* operator->() const { return &(*this)[0]; }
  growing operator+(std::ptrdiff_t n) const { return growing(*elements_, offset_ + n); }
  std::ptrdiff_t position() const { return offset_; }

 private:
  std::deque<T>* elements_;
  std::ptrdiff_t offset_;
};

template <class T>
concept scalar = std::is_arithmetic_v<T>;

/// Tangents of one number in N directions.
template <class T, std::size_t N>
class directions {
 public:
  directions() = default;
  /// Converts only from the literal 0, the zero tangent: no other number becomes a tangent implicitly.
  consteval directions(int zero) {
    if (zero != 0) throw std::invalid_argument("clad: a tangent is made of the literal 0 only");
  }
  template <class U>
  directions(const directions<U, N>& other) {
    for (std::size_t k = 0; k < N; ++k) values_[k] = static_cast<T>(other[k]);
  }
  static directions unit(std::size_t direction) {
    directions d;
    if (direction < N) d[direction] = 1;
    return d;
  }
  T& operator[](std::size_t k) { return values_[k]; }
  const T& operator[](std::size_t k) const { return values_[k]; }
  directions operator+() const { return *this; }
  directions operator-() const {
    directions d;
    for (std::size_t k = 0; k < N; ++k) d[k] = -values_[k];
    return d;
  }
  template <class U>
  directions& operator+=(const directions<U, N>& other) {
    for (std::size_t k = 0; k < N; ++k) values_[k] += static_cast<T>(other[k]);
    return *this;
  }
  template <class U>
  directions& operator-=(const directions<U, N>& other) {
    for (std::size_t k = 0; k < N; ++k) values_[k] -= static_cast<T>(other[k]);
    return *this;
  }

 private:
  std::array<T, N> values_{};
};

template <class T, std::size_t N>
struct own_zero<directions<T, N>> {
  static void init(directions<T, N>& d) { d = {}; }
};

template <class T, class U, std::size_t N>
auto operator+(const directions<T, N>& a, const directions<U, N>& b) {
  directions<decltype(T() + U()), N> sum = a;
  return sum += b;
}
template <class T, class U, std::size_t N>
auto operator-(const directions<T, N>& a, const directions<U, N>& b) {
  directions<decltype(T() - U()), N> difference = a;
  return difference -= b;
}
template <class T, scalar S, std::size_t N>
auto operator*(const directions<T, N>& a, S factor) {
  directions<decltype(T() * S()), N> product;
  for (std::size_t k = 0; k < N; ++k) product[k] = a[k] * factor;
  return product;
}
template <class T, scalar S, std::size_t N>
auto operator*(S factor, const directions<T, N>& a) {
  return a * factor;
}
template <class T, scalar S, std::size_t N>
auto operator/(const directions<T, N>& a, S divisor) {
  directions<decltype(T() / S()), N> quotient;
  for (std::size_t k = 0; k < N; ++k) quotient[k] = a[k] / divisor;
  return quotient;
}

/// A zero tangent of type T for `primal`: a vector of its length.
template <class T, class P>
T zero_directions([[maybe_unused]] const P& primal) {
  T zero{};
  if constexpr (requires { zero.resize(primal.size()); }) {
    for (const auto& element : primal) zero.push_back(zero_directions<typename T::value_type>(element));
  } else if constexpr (requires { primal.size(); }) {
    for (std::size_t i = 0; i < primal.size(); ++i)
      zero[i] = zero_directions<typename T::value_type>(primal[i]);
  }
  return zero;
}

/// Where a Jacobian is written: the caller's matrix, or a plain array of as many numbers as it has.
template <class T>
class jacobian_target {
 public:
  explicit jacobian_target(T* values) : values_(values) {}
  explicit jacobian_target(matrix<T>* m) : matrix_(m) {}
  /// Writes the next row, the derivatives of the next output.
  template <class U, std::size_t N>
  void add_row(const directions<U, N>& row) {
    if (matrix_ && (next_ >= matrix_->rows() || N > matrix_->cols()))
      throw std::invalid_argument("clad: the Jacobian has " + std::to_string(next_ + 1) +
                                  " rows or more and " + std::to_string(N) +
                                  " columns, the matrix given has " + std::to_string(matrix_->rows()) +
                                  " and " + std::to_string(matrix_->cols()));
    T* target = matrix_ ? (*matrix_)[next_] : values_ + next_ * N;
    for (std::size_t k = 0; k < N; ++k) target[k] = static_cast<T>(row[k]);
    ++next_;
  }
  /// The rows of an array of outputs.
  template <class R>
  void add_row(const R& outputs)
    requires requires { std::begin(outputs); }
  {
    for (const auto& output : outputs) add_row(output);
  }

 private:
  T* values_ = nullptr;
  matrix<T>* matrix_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace clad
