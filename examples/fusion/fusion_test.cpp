// A GPT-2 of primitive operations, fused by the compiler, is the one that is written with fused operations.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "steps.h"

namespace {

using cladtorch::DType;
using naive::GPT2;
using naive::Tensor;

Tensor tokens(uint64_t seed) {
  cladtorch::Random random(seed);
  Tensor ids = cladtorch::zeros({3, 20}, DType::int32);
  for (int64_t i = 0; i < ids.numel(); ++i)
    ids.data<int32_t>()[i] = static_cast<int32_t>(random.uniform() * 65);
  return ids;
}

struct Step {
  double loss = 0;
  int64_t operations = 0;
  GPT2 gradient;
};
Step run(decltype(fused_by_compiler)& step, DType dtype, int64_t length = 20) {
  const GPT2 model = naive::make(65, 32, 24, 3, 2, dtype);
  Step result;
  result.gradient = cladtorch::like(model);
  const int64_t before = cladtorch::op_count();
  result.loss = step(model, tokens(1).narrow(1, 0, length).contiguous(),
                     tokens(2).narrow(1, 0, length).contiguous(), &result.gradient);
  result.operations = cladtorch::op_count() - before;
  return result;
}

/// The largest difference of two gradients, relative to each tensor's largest element.
double difference(const GPT2& a, const GPT2& b) {
  double worst = 0;
  const auto x = cladtorch::named_parameters(a), y = cladtorch::named_parameters(b);
  for (size_t i = 0; i < x.size(); ++i) {
    const Tensor p = x[i].tensor.to(DType::float64), q = y[i].tensor.to(DType::float64);
    double largest = 0, apart = 0;
    for (int64_t k = 0; k < p.numel(); ++k) {
      largest = std::max(largest, std::abs(q.data<double>()[k]));
      apart = std::max(apart, std::abs(p.data<double>()[k] - q.data<double>()[k]));
    }
    worst = std::max(worst, apart / largest);
  }
  return worst;
}

TEST(FusedGPT2, RunsTheOperationsOfTheOneWrittenByHand) {
  const int64_t by_hand = run(fused_by_hand, DType::float32).operations;
  EXPECT_EQ(run(fused_by_compiler, DType::float32).operations, by_hand);
  EXPECT_EQ(by_hand, 3 + 2 * 7 + 2);  // embeddings, blocks, norm and loss
  EXPECT_EQ(run(not_fused, DType::float32).operations, 3 + 2 * (7 + 7) + 4);
}

TEST(FusedGPT2, HasTheBitsOfTheOneWrittenByHand) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    const Step a = run(fused_by_compiler, dtype), b = run(fused_by_hand, dtype);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(difference(a.gradient, b.gradient), 0);
  }
}

TEST(FusedGPT2, HasTheGradientOfTheOneThatIsNotFused) {
  for (int64_t length : {20, 1}) {
    const Step a = run(fused_by_compiler, DType::float64, length), b = run(not_fused, DType::float64, length);
    EXPECT_NEAR(a.loss, b.loss, 1e-13);
    EXPECT_LT(difference(a.gradient, b.gradient), 1e-11);
    const Step c = run(fused_by_compiler, DType::float32, length), d = run(not_fused, DType::float32, length);
    EXPECT_NEAR(c.loss, d.loss, 1e-6);
    EXPECT_LT(difference(c.gradient, d.gradient), 1e-4);
  }
}

}  // namespace
