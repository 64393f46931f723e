// Runs an operation and its pullback on a CUDA device and compares with the CPU: with double, or with
// bfloat16, whose results are what later operations and the pullback see.
#pragma once

#include <cstring>

#include "tests/support/gradcheck.h"

namespace cladtorch::testing {

inline constexpr Device gpu{DeviceType::cuda};

/// Where elements are of `dtype`, how far a result may be from that in double, relative to the largest.
inline double tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-11;
    case DType::float32:
      return 1e-5;
    default:
      return 1e-2;
  }
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(Device{}).contiguous(), y = b.to(Device{}).contiguous();
  return x.shape() == y.shape() && x.dtype() == y.dtype() && std::memcmp(x.data(), y.data(), x.nbytes()) == 0;
}

/// Operands that the operation does not differentiate, as token ids, must be moved by `forward` and
/// `pullback` to the device of the others.
class DeviceCheck {
 public:
  DeviceCheck(Forward forward, Pullback pullback, Tensors x)
      : forward_(std::move(forward)), pullback_(std::move(pullback)), x_(std::move(x)) {}

  ::testing::AssertionResult run(DType dtype) {
    dtype_ = dtype;
    for (Tensor& x : x_) x = x.to(dtype).to(DType::float64);  // what the device sees
    const DType reference = dtype == DType::bfloat16 ? dtype : DType::float64;
    Tensors x;
    for (const Tensor& one : x_) x.push_back(one.to(reference));
    y_ = forward_(x);
    const DType result = y_.dtype();
    Random random(3);
    d_y_ = randn(y_.shape(), random, DType::float64).to(dtype).to(DType::float64);
    gradients_ = call(x, d_y_.to(result), Tensors(x_.size()));
    y_ = y_.to(DType::float64);
    for (Tensor& d : gradients_) d = d.to(DType::float64);
    for (auto check :
         {&DeviceCheck::value, &DeviceCheck::fresh, &DeviceCheck::unwanted, &DeviceCheck::buffers,
          &DeviceCheck::accumulation, &DeviceCheck::strided, &DeviceCheck::repeated}) {
      Result result = (this->*check)();
      if (!result) return result << " in " << name_of(dtype);
    }
    return ::testing::AssertionSuccess();
  }

 private:
  using Result = ::testing::AssertionResult;

  Tensor there(const Tensor& x) const { return x.to(dtype_).to(gpu); }
  Tensors there(const Tensors& x) const {
    Tensors moved;
    for (const Tensor& one : x) moved.push_back(there(one));
    return moved;
  }
  /// Losses of bfloat16 are float32, and so are their cotangents.
  Tensor cotangent() const { return d_y_.to(forward_(there(x_)).dtype()).to(gpu); }

  Tensors call(const Tensors& x, const Tensor& d_y, Tensors gradients) const {
    std::vector<Tensor*> pointers;
    for (Tensor& gradient : gradients) pointers.push_back(&gradient);
    pullback_(x, d_y, pointers);
    return gradients;
  }

  Result close(const char* what, size_t i, const Tensor& got, const Tensor& expected) const {
    if (!got.defined()) return failure(i) << what << " is undefined";
    if (!got.is_cuda()) return failure(i) << what << " is not on the device";
    if (got.shape() != expected.shape()) return failure(i) << what << " has shape " << got.shape();
    const double difference = relative_difference(got.to(Device{}), expected);
    if (!(difference <= tolerance(dtype_))) return failure(i) << what << " differs by " << difference;
    return ::testing::AssertionSuccess();
  }

  Result all_close(const char* what, const Tensors& got, const Tensors& expected) const {
    for (size_t i = 0; i < got.size(); ++i) {
      const Result result = close(what, i, got[i], expected[i]);
      if (!result) return result;
    }
    return ::testing::AssertionSuccess();
  }

  Result value() { return close("the result", 0, forward_(there(x_)), y_); }

  Result fresh() {
    return all_close("the gradient", call(there(x_), cotangent(), Tensors(x_.size())), gradients_);
  }

  Result unwanted() {
    for (size_t i = 0; i < x_.size(); ++i) {
      std::vector<Tensor*> pointers(x_.size(), nullptr);
      Tensor only;
      pointers[i] = &only;
      pullback_(there(x_), cotangent(), pointers);
      const Result result = close("the gradient that alone is wanted", i, only, gradients_[i]);
      if (!result) return result;
    }
    return ::testing::AssertionSuccess();
  }

  /// float32 for bfloat16; the second contribution is added to the first.
  Result buffers() {
    Tensors marked;
    for (const Tensor& x : there(x_)) marked.push_back(gradient_buffer_like(x));
    Tensors got = call(there(x_), cotangent(), marked);
    Result result = all_close("the gradient in a buffer", got, gradients_);
    if (!result) return result;
    got = call(there(x_), cotangent(), got);
    Tensors twice;
    for (const Tensor& d : gradients_) twice.push_back(moved(d, 1, d));
    for (size_t i = 0; i < got.size(); ++i)
      if (!got[i].shares_storage_with(marked[i])) return failure(i) << "a buffer was replaced";
    return all_close("the gradient of two calls in a buffer", got, twice);
  }

  Result accumulation() {
    Random random(9);
    Tensors started, expected;
    for (size_t i = 0; i < x_.size(); ++i) {
      started.push_back(randn(x_[i].shape(), random, DType::float64).to(dtype_));
      expected.push_back(moved(started[i].to(DType::float64), 1, gradients_[i]));
    }
    return all_close("the gradient added to another", call(there(x_), cotangent(), there(started)), expected);
  }

  Result strided() {
    Tensors x;
    for (const Tensor& one : there(x_)) x.push_back(strided_copy(one));
    const Result result = close("the result of strided operands", 0, forward_(x), y_);
    if (!result) return result;
    return all_close("the gradient of strided operands",
                     call(x, strided_copy(cotangent()), Tensors(x_.size())), gradients_);
  }

  Result repeated() {
    const Tensors first = call(there(x_), cotangent(), Tensors(x_.size())),
                  second = call(there(x_), cotangent(), Tensors(x_.size()));
    if (!same_bits(forward_(there(x_)), forward_(there(x_)))) return failure(0) << "the result changes";
    for (size_t i = 0; i < x_.size(); ++i)
      if (!same_bits(first[i], second[i])) return failure(i) << "the gradient changes from call to call";
    return ::testing::AssertionSuccess();
  }

  Result failure(size_t input) const {
    return ::testing::AssertionFailure() << "operand " << input << " " << x_[input].shape() << ": ";
  }

  Forward forward_;
  Pullback pullback_;
  Tensors x_;
  DType dtype_ = DType::float64;
  Tensor y_, d_y_;
  Tensors gradients_;
};

/// EXPECT_TRUE(agrees_with_cpu(forward, pullback, inputs)) for every dtype; inputs are float64 on the CPU.
inline ::testing::AssertionResult agrees_with_cpu(const Forward& forward, const Pullback& pullback,
                                                  const Tensors& x) {
  for (DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    const ::testing::AssertionResult result = DeviceCheck(forward, pullback, x).run(dtype);
    if (!result) return result;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace cladtorch::testing
