// Constants for derivatives: what is computed from them alone, and pullbacks that leave out the work for
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/gradient_target.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::same_bits;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;
template <class S>
using State = clad::pullback_state<S>;

TEST(Constants, ALinearLayerDoesNotReadItsInputInThePullback) {
  Tensor weight = testing::normals({{4, 5}})[0], d_x, d_weight = gradient_sink({4, 5}, DType::float64);
  pullbacks::linear_pullback(Tensor(), weight, ones({2, 3, 4}, DType::float64), &d_x, &d_weight);
  EXPECT_EQ(d_x.shape(), (Shape{2, 3, 5}));
}

TEST(Constants, AClassifierKeepsNothingForItsWeight) {
  Tensor x = testing::normals({{300, 8}})[0], weight = testing::normals({{50000, 8}})[0];
  const Tensor targets = testing::random_tokens({300}, 50000, 3);
  for (const bool frozen : {false, true}) {
    weight.set_frozen(frozen);
    State<LinearCrossEntropyState> state;
    pullbacks::linear_cross_entropy_reverse_forw(x, weight, targets, -100, state);
    EXPECT_EQ(state.data.d_weight.defined(), !frozen);
    EXPECT_FALSE(state.data.exponentials.defined());
  }
}

TEST(Constants, ConstantsPassThroughOperationsOfOneArgument) {
  Tensor x = testing::normals({{1, 2, 6}})[0].to(DType::float32);
  x.set_frozen(true);
  const Tensor table = rotary_table(RotaryFrequencies({}, 2), 0, 2);
  for (const Tensor& y :
       {gelu_tanh(x), gelu_erf(x), relu(x), tanh(x), sigmoid(x), silu(x), softmax(x), log_softmax(x), tril(x),
        sum(x), mean(x), causal_attention(x, 1), rotary_embedding(x, table), dropout(x, 0.5)})
    EXPECT_TRUE(y.is_frozen());
  EXPECT_FALSE(scale(x, 2).is_frozen()) << "a factor may have a derivative";
  EXPECT_FALSE(add(x, ones({6})).is_frozen());
}

/// A number that is trained while the tensors beside it are not.
TEST(Constants, DoNotSwallowTheDerivativeByANumber) {
  Tensor x = testing::normals({{2, 3}})[0], weight = ones({3}, DType::float64);
  x.set_frozen(true);
  weight.set_frozen(true);
  const functions::Elu f{0.5};
  functions::Elu d_f{0};
  EXPECT_TRUE(pointwise(f, x).is_frozen());
  EXPECT_EQ(
      testing::error_of([&] { pullbacks::pointwise_pullback(f, x, Tensor(), &d_f, nullptr); }),
      "elu: all operands are frozen, so that the result is a constant and a number that is trained gets no "
      "derivative; leave an operand without set_frozen(true)");
  double d_epsilon = 0;
  State<RMSNormState> state;
  pullbacks::rms_norm_reverse_forw(x, weight, 1e-5, state);
  EXPECT_THAT(testing::error_of([&] {
                pullbacks::rms_norm_pullback(x, weight, 1e-5, Tensor(), nullptr, nullptr, &d_epsilon, state);
              }),
              ::testing::HasSubstr("rms_norm: all operands are frozen"));
  EXPECT_NO_THROW(pullbacks::rms_norm_pullback(x, weight, 1e-5, Tensor(), nullptr, nullptr, nullptr, state));
  const Tensor y = pad(x, {1, 0}, PadMode::constant, 0.25);
  EXPECT_FALSE(y.is_frozen());
  double d_value = 0;
  pullbacks::pad_pullback(x, {1, 0}, PadMode::constant, 0.25, ones(y.shape(), y.dtype()), nullptr, &d_value);
  EXPECT_EQ(d_value, 2);
}

}  // namespace
}  // namespace cladtorch
