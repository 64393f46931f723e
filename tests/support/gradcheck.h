// Checks a pullback by itself: a random projection against a central difference in double, and the contract
// of pullbacks (accumulation, unwanted gradients, buffers, strided operands, a zero cotangent).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "cladtorch/random.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch::testing {

using Tensors = std::vector<Tensor>;
using Forward = std::function<Tensor(const Tensors& x)>;
/// Runs the forward (in its stateful form if there is one) and the pullback; gradients may be null.
using Pullback = std::function<void(const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d_x)>;

inline double dot(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data<double>()[i] * y.data<double>()[i];
  return sum;
}

inline double absolute_dot(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += std::abs(x.data<double>()[i] * y.data<double>()[i]);
  return sum;
}

/// x + h v.
inline Tensor moved(const Tensor& x, double h, const Tensor& v) {
  Tensor result = x.clone();
  const Tensor dense = v.contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) result.data<double>()[i] += h * dense.data<double>()[i];
  return result;
}

/// Largest difference of two tensors, relative to the largest element of `expected`.
inline double relative_difference(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.to(DType::float64).contiguous(), b = expected.to(DType::float64).contiguous();
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < b.numel(); ++i) {
    worst = std::fmax(worst, std::abs(a.data<double>()[i] - b.data<double>()[i]));
    largest = std::fmax(largest, std::abs(b.data<double>()[i]));
    if (std::isnan(a.data<double>()[i])) return INFINITY;
  }
  return largest == 0 ? worst : worst / largest;
}

/// The same values with gaps in memory and reversed dimension order.
inline Tensor strided_copy(const Tensor& x) {
  if (x.dim() == 0) return x.clone();
  Shape reversed = x.shape();
  for (int i = 0; i < x.dim(); ++i) reversed[i] = x.shape()[x.dim() - 1 - i];
  reversed[x.dim() - 1] *= 2;
  Shape order = x.shape();
  for (int i = 0; i < x.dim(); ++i) order[i] = x.dim() - 1 - i;
  Tensor view = full(reversed, NAN, x.dtype(), x.device()).slice(-1, 0, x.size(0)).permute(order);
  view.copy_from(x);
  return view;
}

class GradientCheck {
 public:
  GradientCheck(Forward forward, Pullback pullback, Tensors x, uint64_t seed = 1)
      : forward_(std::move(forward)), pullback_(std::move(pullback)), x_(std::move(x)), random_(seed) {}

  ::testing::AssertionResult run() {
    y_ = forward_(x_);
    d_y_ = randn(y_.shape(), random_, DType::float64);
    gradients_ = call(x_, d_y_, Tensors(x_.size()));
    for (auto check : {&GradientCheck::difference, &GradientCheck::accumulation, &GradientCheck::unwanted,
                       &GradientCheck::buffers, &GradientCheck::strided, &GradientCheck::zero_cotangent}) {
      const ::testing::AssertionResult result = (this->*check)();
      if (!result) return result;
    }
    return ::testing::AssertionSuccess();
  }

 private:
  using Result = ::testing::AssertionResult;

  Tensors call(const Tensors& x, const Tensor& d_y, Tensors gradients) const {
    std::vector<Tensor*> pointers;
    for (Tensor& gradient : gradients) pointers.push_back(&gradient);
    pullback_(x, d_y, pointers);
    return gradients;
  }

  /// The rounding error of the difference quotient is about 2e-11 of the output's size at this step.
  Result difference() {
    constexpr double h = 6e-6;
    for (size_t i = 0; i < x_.size(); ++i) {
      if (!gradients_[i].defined()) return failure(i, "has no gradient");
      if (gradients_[i].shape() != x_[i].shape()) return failure(i, "has a gradient of another shape");
      const Tensor v = randn(x_[i].shape(), random_, DType::float64);
      Tensors above = x_, below = x_;
      above[i] = moved(x_[i], h, v);
      below[i] = moved(x_[i], -h, v);
      const double numeric = (dot(d_y_, forward_(above)) - dot(d_y_, forward_(below))) / (2 * h);
      const double analytic = dot(gradients_[i], v);
      const double tolerance = 1e-8 * absolute_dot(gradients_[i], v) + 2e-10 * absolute_dot(d_y_, y_) + 1e-12;
      if (!(std::abs(numeric - analytic) <= tolerance)) {
        return failure(i, "differs from the central difference")
               << ": " << analytic << " against " << numeric;
      }
    }
    return ::testing::AssertionSuccess();
  }

  Result accumulation() {
    Tensors started;
    for (const Tensor& x : x_) started.push_back(randn(x.shape(), random_, DType::float64));
    Tensors expected;
    for (size_t i = 0; i < x_.size(); ++i) expected.push_back(moved(started[i], 1, gradients_[i]));
    const Tensors before = [&] {
      Tensors copies;
      for (const Tensor& d : started) copies.push_back(d.clone());
      return copies;
    }();
    const Tensors got = call(x_, d_y_, started);
    for (size_t i = 0; i < x_.size(); ++i) {
      if (relative_difference(got[i], expected[i]) > 1e-12) return failure(i, "does not accumulate");
      if (relative_difference(started[i], before[i]) > 0) return failure(i, "writes into shared storage");
    }
    return ::testing::AssertionSuccess();
  }

  Result unwanted() {
    pullback_(x_, d_y_, std::vector<Tensor*>(x_.size(), nullptr));
    for (size_t i = 0; i < x_.size(); ++i) {
      std::vector<Tensor*> pointers(x_.size(), nullptr);
      Tensor only;
      pointers[i] = &only;
      pullback_(x_, d_y_, pointers);
      if (relative_difference(only, gradients_[i]) > 1e-12)
        return failure(i, "depends on which gradients are wanted");
    }
    return ::testing::AssertionSuccess();
  }

  Result buffers() {
    Tensors marked;
    for (const Tensor& x : x_) {
      marked.push_back(gradient_buffer_like(x));
      marked.back().fill_(NAN);
      marked.back().mark_zero();
    }
    const Tensors got = call(x_, d_y_, marked);
    for (size_t i = 0; i < x_.size(); ++i) {
      if (!got[i].shares_storage_with(marked[i])) return failure(i, "replaces the gradient buffer");
      if (relative_difference(got[i], gradients_[i]) > 1e-12)
        return failure(i, "is wrong in a buffer marked zero");
    }
    return ::testing::AssertionSuccess();
  }

  Result strided() {
    Tensors x;
    for (const Tensor& original : x_) x.push_back(strided_copy(original));
    if (relative_difference(forward_(x), y_) > 1e-12)
      return failure(0, "changes the result when it is strided");
    const Tensors got = call(x, strided_copy(d_y_), Tensors(x_.size()));
    for (size_t i = 0; i < x_.size(); ++i) {
      if (relative_difference(got[i], gradients_[i]) > 1e-12)
        return failure(i, "is wrong for strided operands");
    }
    return ::testing::AssertionSuccess();
  }

  Result zero_cotangent() {
    const Tensors got = call(x_, Tensor(), Tensors(x_.size()));
    for (size_t i = 0; i < x_.size(); ++i) {
      if (got[i].defined()) return failure(i, "gets a gradient from a symbolic zero");
    }
    return ::testing::AssertionSuccess();
  }

  Result failure(size_t input, const char* what) const {
    return ::testing::AssertionFailure() << "operand " << input << " " << x_[input].shape() << " " << what;
  }

  Forward forward_;
  Pullback pullback_;
  Tensors x_;
  Random random_;
  Tensor y_, d_y_;
  Tensors gradients_;
};

/// EXPECT_TRUE(gradients_match(forward, pullback, inputs)); inputs are float64.
inline ::testing::AssertionResult gradients_match(Forward forward, Pullback pullback, Tensors x,
                                                  uint64_t seed = 1) {
  return GradientCheck(std::move(forward), std::move(pullback), std::move(x), seed).run();
}

/// Standard normal operands of the given shapes.
inline Tensors normals(std::initializer_list<Shape> shapes, uint64_t seed = 5) {
  Random random(seed);
  Tensors result;
  for (const Shape& shape : shapes) result.push_back(randn(shape, random, DType::float64));
  return result;
}

/// The message of the Error that f throws, or "no error".
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace cladtorch::testing
