#include "cladtorch/models/gpt2.h"
#include "tests/parity/reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

TEST(GPT2Parity, LossAndEveryGradientAgreeWithPyTorch) {
  const testing::Reference reference;
  GPT2 model({.vocab_size = 29, .n_positions = 16, .n_layer = 2, .n_head = 4, .n_embd = 32});
  for_each_parameter(model, [&](const std::string& name, Tensor& parameter) {
    parameter.copy_from(reference["gpt2/parameter/" + name]);
  });
  GPT2 gradient = like(model);
  const double value =
      loss_and_gradient(model, reference["gpt2/tokens"], reference["gpt2/targets"], &gradient);
  EXPECT_NEAR(value, reference["gpt2/loss"].item(), 1e-5 * value);
  int compared = 0;
  for_each_parameter(gradient, [&](const std::string& name, Tensor& d) {
    EXPECT_LT(testing::relative_difference(d, reference["gpt2/gradient/" + name]), 1e-4) << name;
    ++compared;
  });
  EXPECT_EQ(compared, 2 + 2 * 12 + 2);
}

}  // namespace
}  // namespace cladtorch
