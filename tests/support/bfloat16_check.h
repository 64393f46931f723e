// Checks an operation on bfloat16 against the same operation on the same values in float32.
#pragma once

#include "tests/support/gradcheck.h"

namespace cladtorch::testing {

/// The largest magnitude.
inline double largest(const Tensor& x) {
  const Tensor values = x.to(DType::float64).contiguous();
  double result = 0;
  for (int64_t i = 0; i < values.numel(); ++i) result = std::fmax(result, std::abs(values.data<double>()[i]));
  return result;
}

/// Whether `got` is `expected`, rounded once: to half a unit in the last of bfloat16's 8 bits unless it is
/// float32, and to the rounding errors of float. `tolerance` is added.
inline ::testing::AssertionResult is_rounded(const Tensor& got, const Tensor& expected,
                                             double tolerance = 0) {
  if (got.shape() != expected.shape()) return ::testing::AssertionFailure() << "has shape " << got.shape();
  const Tensor a = got.to(DType::float64).contiguous(), b = expected.to(DType::float64).contiguous();
  const double half_unit = got.dtype() == DType::bfloat16 ? 0x1p-8 : 0;
  tolerance += 4e-6 * largest(expected);
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    if (!(std::abs(x - y) <= half_unit * std::abs(y) + tolerance))
      return ::testing::AssertionFailure() << "element " << i << " is " << x << ", in float32 " << y;
  }
  return ::testing::AssertionSuccess();
}

class Bfloat16Check {
 public:
  /// `state_slack`: what the pullback loses, relative to the cotangent, because it reads the rounded result
  /// of the forward.
  Bfloat16Check(Forward forward, Pullback pullback, const Tensors& x, double state_slack, uint64_t seed)
      : forward_(std::move(forward)),
        pullback_(std::move(pullback)),
        state_slack_(state_slack),
        random_(seed) {
    for (const Tensor& tensor : x) {
      x_.push_back(tensor.to(DType::bfloat16));
      wide_.push_back(x_.back().to(DType::float32));
    }
  }

  ::testing::AssertionResult run() {
    const Tensor y = forward_(x_), wide_y = forward_(wide_);
    if (Result close = is_rounded(y, wide_y); !close) return close << " in the result";
    d_y_ = randn(y.shape(), random_).to(y.dtype());
    wide_gradients_ = call(wide_, d_y_.to(DType::float32), Tensors(wide_.size()));
    gradients_ = call(x_, d_y_, Tensors(x_.size()));
    for (size_t i = 0; i < x_.size(); ++i) {
      if (gradients_[i].dtype() != DType::bfloat16) return failure(i, "has a gradient of another dtype");
      if (Result close = is_rounded(gradients_[i], wide_gradients_[i], slack()); !close)
        return close << " in the gradient of operand " << i;
    }
    for (auto check : {&Bfloat16Check::buffers, &Bfloat16Check::accumulation, &Bfloat16Check::strided,
                       &Bfloat16Check::unwanted}) {
      const Result result = (this->*check)();
      if (!result) return result;
    }
    return ::testing::AssertionSuccess();
  }

 private:
  using Result = ::testing::AssertionResult;

  double slack() const { return state_slack_ * largest(d_y_); }

  Tensors call(const Tensors& x, const Tensor& d_y, Tensors gradients) const {
    std::vector<Tensor*> pointers;
    for (Tensor& gradient : gradients) pointers.push_back(&gradient);
    pullback_(x, d_y, pointers);
    return gradients;
  }

  /// Of parameters: float32, stored into at first and added to then.
  Result buffers() {
    Tensors marked;
    for (const Tensor& x : x_) {
      marked.push_back(gradient_buffer_like(x));
      marked.back().fill_(NAN);
      marked.back().mark_zero();
    }
    for (int times = 1; times <= 2; ++times) {
      const Tensors got = call(x_, d_y_, marked);
      for (size_t i = 0; i < x_.size(); ++i) {
        if (!got[i].shares_storage_with(marked[i])) return failure(i, "replaces the gradient buffer");
        if (!is_rounded(got[i],
                        moved(wide_gradients_[i].to(DType::float64), times - 1,
                              wide_gradients_[i].to(DType::float64)),
                        slack() + 0x1p-7 * largest(wide_gradients_[i])))
          return failure(i, "is wrong in a float32 buffer");
      }
    }
    return ::testing::AssertionSuccess();
  }

  Result accumulation() {
    Tensors started, before;
    for (const Tensor& x : x_) {
      started.push_back(randn(x.shape(), random_).to(DType::bfloat16));
      before.push_back(started.back().clone());
    }
    const Tensors got = call(x_, d_y_, started);
    for (size_t i = 0; i < x_.size(); ++i) {
      const Tensor sum = moved(before[i].to(DType::float64), 1, wide_gradients_[i].to(DType::float64));
      if (!is_rounded(got[i], sum, slack() + 0x1p-7 * largest(wide_gradients_[i])))
        return failure(i, "does not accumulate");
      if (relative_difference(started[i], before[i]) > 0) return failure(i, "writes into shared storage");
    }
    return ::testing::AssertionSuccess();
  }

  Result strided() {
    Tensors x;
    for (const Tensor& original : x_) x.push_back(strided_copy(original));
    if (relative_difference(forward_(x), forward_(x_)) > 0)
      return failure(0, "changes the result when it is strided");
    const Tensors got = call(x, strided_copy(d_y_), Tensors(x_.size()));
    for (size_t i = 0; i < x_.size(); ++i) {
      if (!is_rounded(got[i], wide_gradients_[i], slack()))
        return failure(i, "is wrong for strided operands");
    }
    return ::testing::AssertionSuccess();
  }

  Result unwanted() {
    pullback_(x_, d_y_, std::vector<Tensor*>(x_.size(), nullptr));
    const Tensors none = call(x_, Tensor(), Tensors(x_.size()));
    for (size_t i = 0; i < x_.size(); ++i) {
      if (none[i].defined()) return failure(i, "gets a gradient from a symbolic zero");
      std::vector<Tensor*> pointers(x_.size(), nullptr);
      Tensor only;
      pointers[i] = &only;
      pullback_(x_, d_y_, pointers);
      if (!is_rounded(only, wide_gradients_[i], slack()))
        return failure(i, "depends on which gradients are wanted");
    }
    return ::testing::AssertionSuccess();
  }

  Result failure(size_t input, const char* what) const {
    return ::testing::AssertionFailure() << "operand " << input << " " << x_[input].shape() << " " << what;
  }

  Forward forward_;
  Pullback pullback_;
  Tensors x_, wide_;
  double state_slack_;
  Random random_;
  Tensor d_y_;
  Tensors gradients_, wide_gradients_;
};

/// EXPECT_TRUE(bfloat16_matches_float(forward, pullback, inputs)); inputs are rounded to bfloat16.
inline ::testing::AssertionResult bfloat16_matches_float(Forward forward, Pullback pullback, const Tensors& x,
                                                         double state_slack = 0, uint64_t seed = 1) {
  return Bfloat16Check(std::move(forward), std::move(pullback), x, state_slack, seed).run();
}

}  // namespace cladtorch::testing
