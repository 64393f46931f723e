// What the gradient of any model must be: each function checks one property of loss_and_gradient().
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/nn/parameters.h"
#include "cladtorch/ops/count.h"
#include "cladtorch/ops/dropout.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch::testing {

struct Batch {
  Tensor tokens, targets;
};

/// One target is left out.
inline Batch batch_for(int64_t vocabulary, int64_t batch = 2, int64_t length = 5) {
  Batch result{random_tokens({batch, length}, vocabulary, 1), random_tokens({batch, length}, vocabulary, 2)};
  result.targets.data<int32_t>()[batch * length - 1] = -100;
  return result;
}

/// Moves every parameter away from its special initial value.
template <class Model>
Model perturbed(Model model) {
  Random random(17);
  for_each_parameter(model, [&](const std::string&, Tensor& parameter) {
    parameter.copy_from(parameter + scale(randn(parameter.shape(), random, parameter.dtype()), 0.3));
  });
  return model;
}

/// Checks each parameter's gradient by one random projection; `value` computes the loss of `model` as it is.
template <class Model, class Loss>
void expect_central_differences(Model& model, Model& gradient, Loss value) {
  EXPECT_TRUE(passes([&] { return matches_central_differences(model, gradient, value, 23); }));
  for (const NamedTensor& d : named_parameters(gradient))
    EXPECT_GT(absolute_dot(d.tensor, d.tensor), 0) << d.name << " has no gradient";
}

/// Checks loss and gradient of `model` and gives the gradient; with `training` under some dropout masks,
/// which must make a difference.
template <class Model>
Model checked_gradient(Model& model, const Batch& batch, bool training = false) {
  const auto in_scope = [&](auto compute) {
    std::optional<TrainingScope> scope;
    if (training) scope.emplace(5, 9);
    return compute();
  };
  const auto plain_value = [&] { return loss(model, batch.tokens, batch.targets); };
  const auto value = [&] { return in_scope(plain_value); };
  Model gradient = like(model);
  EXPECT_EQ(in_scope([&] { return loss_and_gradient(model, batch.tokens, batch.targets, &gradient); }),
            value());
  if (training) {
    EXPECT_NE(value(), plain_value());
  }
  expect_central_differences(model, gradient, value);
  return gradient;
}

/// How many operations the loss takes, and how many its gradient, which repeats none of the forward pass.
template <class Model>
void expect_operation_counts(const Model& model, int64_t primal, int64_t forward_of_gradient) {
  const Batch batch = batch_for(model.config.vocab_size);
  const int64_t start = op_count();
  loss(model, batch.tokens, batch.targets);
  EXPECT_EQ(op_count() - start, primal);
  Model gradient = like(model);
  loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
  EXPECT_EQ(op_count() - start - primal, forward_of_gradient);
}

/// That the tensors of `got` are those of `expected` times `factor`.
template <class Model>
void expect_multiple(const Model& got, const Model& expected, double factor, double tolerance) {
  const std::vector<NamedTensor> a = named_parameters(got), b = named_parameters(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_LE(relative_difference(a[i].tensor, factor == 1 ? b[i].tensor : scale(b[i].tensor, factor)),
              tolerance)
        << a[i].name;
}

template <class Model>
void expect_gradients_add_up_until_marked_zero(const Model& model, const Batch& batch) {
  Model once = like(model), twice = like(model);
  loss_and_gradient(model, batch.tokens, batch.targets, &once);
  for (int i = 0; i < 2; ++i) loss_and_gradient(model, batch.tokens, batch.targets, &twice);
  expect_multiple(twice, once, 2, 1e-13);
  zero_grad(twice);
  loss_and_gradient(model, batch.tokens, batch.targets, &twice);
  expect_multiple(twice, once, 1, 1e-13);
}

/// Rows of a batch taken one by one, each weighted by its share of the targets, and one that has none.
template <class Model>
void expect_weighted_rows_add_up_to_the_batch(const Model& model) {
  const int64_t rows = 4, length = 5;
  Batch batch = batch_for(model.config.vocab_size, rows, length);
  int32_t* const targets = batch.targets.template data<int32_t>();
  std::fill_n(targets + 1, 3, -100);
  std::fill_n(targets + length, length, -100);
  std::fill_n(targets + 2 * length, 1, -100);
  const double counted[] = {2, 0, 4, 4};
  Model whole = like(model), parts = like(model);
  const double value = loss_and_gradient(model, batch.tokens, batch.targets, &whole);
  double sum = 0;
  for (int64_t row = 0; row < rows; ++row) {
    sum += loss_and_gradient(model, batch.tokens.narrow(0, row, 1), batch.targets.narrow(0, row, 1), &parts,
                             counted[row] / 10);
  }
  EXPECT_NEAR(sum, value, 1e-13 * value);
  expect_multiple(parts, whole, 1, 1e-12);
}

/// Loss and gradients of two micro-batches, one after the other.
template <class Model>
std::vector<NamedTensor> two_micro_batches(const Model& model, const Batch& batch) {
  const TrainingScope scope(5, 9);
  Model gradient = like(model);
  std::vector<NamedTensor> result;
  for (int i = 0; i < 2; ++i) {  // the second one draws other masks
    const double value = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
    result.push_back({"loss", full({}, value, DType::float64)});
  }
  for (NamedTensor& d : named_parameters(gradient)) result.push_back(std::move(d));
  return result;
}

template <class Model>
void expect_the_same_bits_on_any_threads_and_checkpointed(Model model) {
  const int before = num_threads();
  const Batch batch = batch_for(model.config.vocab_size, 3, 40);
  const auto gradient_with = [&](bool checkpointing, int threads) {
    model.config.gradient_checkpointing = checkpointing;
    set_num_threads(threads);
    return two_micro_batches(model, batch);
  };
  const std::vector<NamedTensor> expected = gradient_with(false, 1);
  for (const auto& [checkpointing, threads] : {std::pair{false, 3}, {true, 1}, {true, 3}}) {
    const std::vector<NamedTensor> found = gradient_with(checkpointing, threads);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(relative_difference(found[i].tensor, expected[i].tensor), 0)
          << found[i].name << ", " << threads << " threads, checkpointing " << checkpointing;
  }
  set_num_threads(before);
}

/// Rounding errors of activations are 2^-9 each, and independent; a wrong term would be of the size of 1.
template <class Model>
void expect_bfloat16_gradients_near_float32(const Model& narrow, double tolerance) {
  const Model wide = narrow.to(DType::float32);
  const Batch batch = batch_for(narrow.config.vocab_size, 3, 40);
  Model gradient = like(narrow), expected = like(wide);
  const double value = loss_and_gradient(narrow, batch.tokens, batch.targets, &gradient);
  const double wide_value = loss_and_gradient(wide, batch.tokens, batch.targets, &expected);
  EXPECT_NEAR(value, wide_value, 5e-3 * wide_value);
  EXPECT_EQ(value, loss(narrow, batch.tokens, batch.targets));
  const std::vector<NamedTensor> got = named_parameters(gradient), exact = named_parameters(expected);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].tensor.dtype(), DType::float32) << got[i].name;
    const Tensor difference = (got[i].tensor - exact[i].tensor).to(DType::float64),
                 size = exact[i].tensor.to(DType::float64);
    EXPECT_LT(std::sqrt(testing::dot(difference, difference)),
              tolerance * std::sqrt(testing::dot(size, size)))
        << got[i].name;
  }
}

}  // namespace cladtorch::testing
