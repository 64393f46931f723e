#include "cladtorch/nn/nn.h"

#include <gmock/gmock.h>

#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

using ::testing::ElementsAre;

template <class Model>
std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for_each_parameter(model, [&](const std::string& name, const Tensor&) { names.push_back(name); });
  return names;
}

/// What a user writes.
struct TwoTowers {
  std::vector<nn::Linear> towers;
  std::array<nn::Embedding, 1> tables;
  Tensor temperature;
  CLADTORCH_PARAMETERS(towers, tables, temperature)
};

TEST(Parameters, NamesFollowTheStructureInDeclarationOrder) {
  Random random(1);
  TwoTowers model{
      {nn::Linear(2, 3, random), nn::Linear(2, 3, random, false)}, {nn::Embedding(4, 2, random)}, {}};
  EXPECT_THAT(names_of(model),
              ElementsAre("towers.0.weight", "towers.0.bias", "towers.1.weight", "tables.0.weight"));
  model.temperature = ones({});
  EXPECT_EQ(names_of(model).back(), "temperature");
  EXPECT_EQ(parameter_count(model), 6 + 3 + 6 + 8 + 1);
}

struct Gated {
  std::optional<nn::Linear> gate;
  std::vector<std::optional<Tensor>> scales;
  CLADTORCH_PARAMETERS(gate, scales)
};

TEST(Parameters, AnOptionalLayerHasTheNameOfTheMember) {
  Random random(1);
  const Gated with{nn::Linear(2, 3, random), {std::nullopt, ones({})}}, without;
  EXPECT_THAT(names_of(with), ElementsAre("gate.weight", "gate.bias", "scales.1"));
  EXPECT_THAT(names_of(without), ElementsAre());
  EXPECT_TRUE(like(with).gate->weight.is_marked_zero());
}

TEST(Parameters, ABlockHasTheNamesOfHuggingFaceCheckpoints) {
  Random random(1);
  const nn::Block block(nn::BlockConfig{.channels = 8, .heads = 2}, random);
  EXPECT_THAT(names_of(block),
              ElementsAre("ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias",
                          "attn.c_proj.weight", "attn.c_proj.bias", "ln_2.weight", "ln_2.bias",
                          "mlp.c_fc.weight", "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias"));
}

TEST(Parameters, LikeMakesGradientBuffersMarkedZero) {
  Random random(1);
  const nn::Linear layer(2, 3, random, false);
  nn::Linear gradient = like(layer);
  EXPECT_TRUE(gradient.weight.is_marked_zero());
  EXPECT_FALSE(gradient.weight.shares_storage_with(layer.weight));
  EXPECT_FALSE(gradient.bias.defined());
  gradient.weight.accumulate(ones({3, 2}));
  EXPECT_EQ(gradient.weight.data<float>()[5], 1);
  zero_grad(gradient);
  EXPECT_TRUE(gradient.weight.is_marked_zero());
  EXPECT_EQ(gradient.weight.data<float>()[5], 0);
}

/// As users of libtorch write it.
struct Shared {
  nn::Linear first;
  std::shared_ptr<nn::Linear> second;
  CLADTORCH_PARAMETERS(first, second)
};
TEST(Parameters, BehindSharedPointersHaveGradientsOfTheirOwn) {
  Random random(3);
  Shared model{nn::Linear(2, 3, random), std::make_shared<nn::Linear>(3, 1, random)};
  ASSERT_EQ(named_parameters(model).size(), 4U);
  EXPECT_EQ(named_parameters(model)[2].name, "second.weight");
  const Shared gradient = like(model);
  EXPECT_NE(gradient.second, model.second);
  EXPECT_FALSE(gradient.second->weight.shares_storage_with(model.second->weight));
  EXPECT_TRUE(gradient.second->weight.is_marked_zero());
  const Shared doubled = with_dtype(model, DType::float64);
  EXPECT_EQ(doubled.second->weight.dtype(), DType::float64);
  EXPECT_EQ(model.second->weight.dtype(), DType::float32);
}

TEST(Parameters, LayersOfOneKindAreFoundByName) {
  Random random(1);
  nn::Block block(nn::BlockConfig{.channels = 8, .heads = 2}, random);
  std::vector<std::string> names;
  for_each_layer<nn::Linear>(block, [&](const std::string& name, nn::Linear& layer) {
    names.push_back(name);
    layer.bias = Tensor();
  });
  EXPECT_THAT(names, ElementsAre("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"));
  EXPECT_FALSE(block.mlp.c_fc.bias.defined());
  const TwoTowers model{{nn::Linear(), nn::Linear()}, {}, {}};
  names.clear();
  for_each_layer<nn::Linear>(model,
                             [&](const std::string& name, const nn::Linear&) { names.push_back(name); });
  EXPECT_THAT(names, ElementsAre("towers.0", "towers.1"));
}

TEST(Layers, ALinearLayerWithAnAdapterAddsItsProduct) {
  Random random(1);
  nn::LoRALinear layer(4, 3, random, true, 1, DType::float64);
  EXPECT_EQ(names_of(layer), (std::vector<std::string>{"weight", "bias"}));
  const Tensor x = randn({2, 4}, random, DType::float64), before = layer(x);
  layer.add_lora({.rank = 2, .scale = 0.5}, random);
  EXPECT_EQ(names_of(layer), (std::vector<std::string>{"weight", "bias", "lora_A", "lora_B"}));
  EXPECT_EQ(testing::relative_difference(layer(x), before), 0);
  layer.lora_B.copy_from(randn({3, 2}, random, DType::float64));
  const Tensor product = matmul(layer.lora_B, layer.lora_A);
  const Tensor expected = before + matmul(x, product.transpose(0, 1)) * 0.5;
  EXPECT_LT(testing::relative_difference(layer(x), expected), 1e-14);
  EXPECT_EQ(testing::error_of([&] { layer.add_lora({}, random); }),
            "add_lora: the layer has an adapter already");
  const Tensor weight = layer.weight;
  layer.merge_lora();
  EXPECT_TRUE(layer.weight.shares_storage_with(weight));
  EXPECT_FALSE(layer.has_lora());
  EXPECT_LT(testing::relative_difference(layer(x), expected), 1e-14);
  layer.merge_lora();
  EXPECT_LT(testing::relative_difference(layer(x), expected), 1e-14);
}

TEST(Layers, DrawNothingWhileInitializationIsSkipped) {
  Random random(1);
  {
    const nn::SkipInitialization skip;
    const nn::Linear layer(4, 3, random);
    EXPECT_EQ(layer.weight.shape(), (Shape{3, 4}));
    EXPECT_EQ(nn::Embedding(5, 2, random, 0.02, DType::bfloat16).weight.dtype(), DType::bfloat16);
  }
  EXPECT_EQ(random.position(), 0u);
  const nn::Linear layer(4, 3, random);
  EXPECT_GT(random.position(), 0u);
}

TEST(Layers, ForwardsMatchTheirOperations) {
  Random random(1);
  const nn::Linear layer(4, 3, random, true, 1, DType::float64);
  const Tensor x = randn({2, 4}, random, DType::float64);
  EXPECT_EQ(testing::relative_difference(layer(x), matmul(x, layer.weight.transpose(0, 1))), 0);
  const nn::LayerNorm norm(4, true, 1e-5, DType::float64);
  EXPECT_NEAR(mean(norm(x)).item(), 0, 1e-15);
  const nn::Embedding table(5, 2, random);
  EXPECT_EQ(table(arange(3)).shape(), (Shape{3, 2}));
}

TEST(Layers, ABlockDecodesAsItRunsForward) {
  Random random(1);
  const nn::BlockConfig config{.channels = 8, .heads = 2, .residual_deviation = 0.3, .dtype = DType::float64};
  const nn::Block block(config, random);
  const Tensor x = randn({1, 5, 8}, random, DType::float64);
  Tensor keys = zeros({1, 5, 8}, DType::float64), values = zeros({1, 5, 8}, DType::float64);
  const Tensor expected = block(x);
  for (int64_t t = 0; t < 5; ++t) {
    const Tensor y = block.decode(x.narrow(1, t, 1), keys, values, t);
    EXPECT_LT(testing::relative_difference(y, expected.narrow(1, t, 1)), 1e-14);
  }
}

}  // namespace
}  // namespace cladtorch
