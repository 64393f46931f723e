// Checks gradients against central differences in double: a pullback by itself, with the contract of
// pullbacks, or the compiled gradient of a model. Needs no test framework.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/nn/parameters.h"
#include "cladtorch/random.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch {
namespace testing {

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

  /// Throws Error that says what is wrong.
  void run() {
    y_ = forward_(x_);
    d_y_ = randn(y_.shape(), random_, DType::float64);
    gradients_ = call(x_, d_y_, Tensors(x_.size()));
    for (auto check : {&GradientCheck::difference, &GradientCheck::accumulation, &GradientCheck::unwanted,
                       &GradientCheck::buffers, &GradientCheck::strided, &GradientCheck::zero_cotangent})
      (this->*check)();
  }

 private:
  Tensors call(const Tensors& x, const Tensor& d_y, Tensors gradients) const {
    std::vector<Tensor*> pointers;
    for (Tensor& gradient : gradients) pointers.push_back(&gradient);
    pullback_(x, d_y, pointers);
    return gradients;
  }

  /// The rounding error of the difference quotient is about 2e-11 of the output's size at this step.
  void difference() {
    constexpr double h = 6e-6;
    for (size_t i = 0; i < x_.size(); ++i) {
      if (!gradients_[i].defined()) failure(i, "has no gradient");
      if (gradients_[i].shape() != x_[i].shape()) failure(i, "has a gradient of another shape");
      const Tensor v = randn(x_[i].shape(), random_, DType::float64);
      Tensors above = x_, below = x_;
      above[i] = moved(x_[i], h, v);
      below[i] = moved(x_[i], -h, v);
      const double numeric =
          (testing::dot(d_y_, forward_(above)) - testing::dot(d_y_, forward_(below))) / (2 * h);
      const double analytic = testing::dot(gradients_[i], v);
      const double tolerance = 1e-8 * absolute_dot(gradients_[i], v) + 2e-10 * absolute_dot(d_y_, y_) + 1e-12;
      if (!(std::abs(numeric - analytic) <= tolerance)) {
        failure(i, "differs from the central difference: ", analytic, " against ", numeric);
      }
    }
  }

  void accumulation() {
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
      if (relative_difference(got[i], expected[i]) > 1e-12) failure(i, "does not accumulate");
      if (relative_difference(started[i], before[i]) > 0) failure(i, "writes into shared storage");
    }
  }

  void unwanted() {
    pullback_(x_, d_y_, std::vector<Tensor*>(x_.size(), nullptr));
    for (size_t i = 0; i < x_.size(); ++i) {
      std::vector<Tensor*> pointers(x_.size(), nullptr);
      Tensor only;
      pointers[i] = &only;
      pullback_(x_, d_y_, pointers);
      if (relative_difference(only, gradients_[i]) > 1e-12)
        failure(i, "depends on which gradients are wanted");
    }
  }

  void buffers() {
    Tensors marked;
    for (const Tensor& x : x_) {
      marked.push_back(gradient_buffer_like(x));
      marked.back().fill_(NAN);
      marked.back().mark_zero();
    }
    const Tensors got = call(x_, d_y_, marked);
    for (size_t i = 0; i < x_.size(); ++i) {
      if (!got[i].shares_storage_with(marked[i])) failure(i, "replaces the gradient buffer");
      if (relative_difference(got[i], gradients_[i]) > 1e-12) failure(i, "is wrong in a buffer marked zero");
    }
  }

  void strided() {
    Tensors x;
    for (const Tensor& original : x_) x.push_back(strided_copy(original));
    if (relative_difference(forward_(x), y_) > 1e-12) failure(0, "changes the result when it is strided");
    const Tensors got = call(x, strided_copy(d_y_), Tensors(x_.size()));
    for (size_t i = 0; i < x_.size(); ++i) {
      if (relative_difference(got[i], gradients_[i]) > 1e-12) failure(i, "is wrong for strided operands");
    }
  }

  void zero_cotangent() {
    const Tensors got = call(x_, Tensor(), Tensors(x_.size()));
    for (size_t i = 0; i < x_.size(); ++i) {
      if (got[i].defined()) failure(i, "gets a gradient from a symbolic zero");
    }
  }

  template <class... Parts>
  [[noreturn]] void failure(size_t input, const Parts&... what) const {
    fail("gradcheck: operand ", input, " ", x_[input].shape(), " ", what...);
  }

  Forward forward_;
  Pullback pullback_;
  Tensors x_;
  Random random_;
  Tensor y_, d_y_;
  Tensors gradients_;
};

}  // namespace testing

/// Whether the pullback of a function is right: true, or throws Error that says what is wrong. Compares a
/// random projection of each operand's gradient with a central difference, and checks what the plugin relies
/// on: that gradients accumulate, that each can be left out, that gradient buffers are kept, that operands
/// may be strided, and that an undefined cotangent adds nothing. `x` are float64; the function must not be
/// used near a kink.
///
///     gradcheck([](const Tensors& x) { return swish(x[0]); },
///               [](const Tensors& x, Tensor d_y, const std::vector<Tensor*>& d_x) {
///                 clad::custom_derivatives::swish_pullback(x[0], d_y, d_x[0]);
///               },
///               {randn({5, 3}, random, DType::float64)});
inline bool gradcheck(testing::Forward forward, testing::Pullback pullback, testing::Tensors x,
                      uint64_t seed = 1) {
  for (const Tensor& operand : x) {
    require(operand.dtype() == DType::float64, "gradcheck: an operand is ", operand.dtype(),
            "; differences need float64: operand.to(DType::float64)");
  }
  testing::GradientCheck(std::move(forward), std::move(pullback), std::move(x), seed).run();
  return true;
}

/// Whether `gradient` holds the derivatives of `value()`, a function of `model`, whose parameters are
/// float64: by one random projection for each parameter. Moves the parameters, and puts them back. Throws
/// Error that names the first parameter whose gradient differs, or which has none.
template <class Model, class Value>
bool matches_central_differences(Model& model, const Model& gradient, Value value, uint64_t seed = 1) {
  const std::vector<NamedTensor> parameters = named_parameters(model), gradients = named_parameters(gradient);
  require(parameters.size() == gradients.size(), "gradcheck: the model has ", parameters.size(),
          " parameters, the gradient ", gradients.size());
  Random random(seed);
  for (size_t i = 0; i < parameters.size(); ++i) {
    constexpr double h = 6e-6;
    const auto& [name, tensor] = parameters[i];
    Tensor parameter = tensor;
    require(parameter.dtype() == DType::float64, "gradcheck: '", name, "' is ", parameter.dtype(),
            "; differences need float64: with_dtype(model, DType::float64)");
    const Tensor& d = gradients[i].tensor;
    const Tensor v = randn(parameter.shape(), random, DType::float64), original = parameter.clone();
    parameter.copy_from(testing::moved(original, h, v));
    const double above = value();
    parameter.copy_from(testing::moved(original, -h, v));
    const double below = value();
    parameter.copy_from(original);
    const double analytic = testing::dot(d, v), size = testing::absolute_dot(d, v),
                 numeric = (above - below) / (2 * h);
    require(std::abs(numeric - analytic) <= 1e-7 * size + 1e-9, "gradcheck: the gradient of '", name,
            "' differs from the central difference: ", analytic, " against ", numeric);
  }
  return true;
}

/// Whether a compiled gradient is right: true, or throws Error that says which parameter's is not. Works on a
/// copy of `model` in float64, so that the loss has to take float64 inputs.
///
///     auto step = clad::gradient(loss, "model");
///     const Tensor inputs = x.to(DType::float64);
///     gradcheck(model, [&](const Net& m) { return loss(m, inputs, labels); },
///               [&](const Net& m, Net* d_m) { step.execute(m, inputs, labels, d_m); });
template <class Model, class Loss, class Gradient>
  requires requires(Model& model) { for_each_parameter(model, [](const std::string&, Tensor&) {}); }
bool gradcheck(const Model& model, Loss loss, Gradient gradient, uint64_t seed = 1) {
  Model copy = with_dtype(model, DType::float64);
  for_each_parameter(copy, [](const std::string&, Tensor& parameter) { parameter = parameter.clone(); });
  Model d = like(copy);
  gradient(std::as_const(copy), &d);
  return matches_central_differences(
      copy, d, [&] { return static_cast<double>(loss(std::as_const(copy))); }, seed);
}

}  // namespace cladtorch
