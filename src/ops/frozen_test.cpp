// Constants for derivatives: what is computed from them alone, and pullbacks that leave out the work for
// them.
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

}  // namespace
}  // namespace cladtorch
