#include "cladtorch/nn/summary.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cladtorch/nn/nn.h"

namespace cladtorch {
namespace {

int64_t flops_of(const std::function<void()>& run) {
  const int64_t before = flop_count();
  run();
  return flop_count() - before;
}

struct Net {
  std::vector<nn::Conv2d> convs;
  nn::BatchNorm2d norm;
  std::optional<nn::Linear> gate, absent;
  nn::Sequential<nn::Flatten, nn::Linear, nn::ReLU> head;
  Tensor scale;

  explicit Net(Random& random)
      : norm(4),
        gate(nn::Linear(4, 4, random, false)),
        head(nn::Flatten(), nn::Linear(4 * 8 * 8, 10, random), nn::ReLU()),
        scale(ones({})) {
    convs.emplace_back(3, 4, 3, random, ConvOptions{.padding = 1});
    convs.emplace_back(4, 4, 3, random, ConvOptions{.padding = 1, .groups = 2}, false);
    gate->weight.set_frozen(true);
  }
  Tensor forward(const Tensor& x) const { return head(norm(convs[1](convs[0](x)))) * scale; }
  CLADTORCH_PARAMETERS(convs, norm, gate, absent, head, scale)
};

TEST(Summary, HasALineForEachLayerAndTotals) {
  Random random(1);
  const Net net(random);
  const Tensor x = zeros({2, 3, 8, 8});
  const ModelSummary with = summary(net, [&](const Net& model) { return model.forward(x); });
  EXPECT_EQ(with.to_string(),
            R"(layer    kind        shapes                                                   parameters
(model)  Net         scale []                                                          1  trained
convs.0  Conv2d      weight [4,3,3,3], bias [4]                                      112  trained
convs.1  Conv2d      weight [4,2,3,3]                                                 72  trained
norm     BatchNorm   weight [4], bias [4], running_mean [4], running_var [4]          16  8 trained
gate     Linear      weight [4,4]                                                     16  frozen
head     Sequential
head.0   Flatten
head.1   Linear      weight [10,256], bias [10]                                    2,570  trained
head.2   ReLU

2,787 parameters, 2,763 trained, 11,148 bytes
forward pass: 6 operations, 56,320 FLOPs of products and convolutions
its tensors: 6,416 bytes, at most 6,400 at once
output: [2,10]
)");
  EXPECT_EQ(with.count, parameter_count(net));
  EXPECT_EQ(with.forward->output, (Shape{2, 10}));

  std::ostringstream printed;
  printed << summary(net);
  EXPECT_EQ(printed.str(), with.to_string().substr(0, printed.str().size()));
  EXPECT_TRUE(printed.str().ends_with("bytes\n")) << printed.str();
}

template <class Layer>
struct Wrapped {
  Layer layer;
  CLADTORCH_PARAMETERS(layer)
};

TEST(Summary, NamesKindsAsOneWritesThem) {
  const auto kind = [](const auto& model) { return summary(model).layers[0].kind; };
  EXPECT_EQ(kind(nn::Linear()), "Linear");
  EXPECT_EQ(kind(nn::Conv1d()), "Conv1d");
  EXPECT_EQ(kind(nn::ConvTranspose3d()), "ConvTranspose3d");
  EXPECT_EQ(kind(nn::LSTM()), "LSTM");
  EXPECT_EQ(kind(nn::GRU()), "GRU");
  EXPECT_EQ(kind(nn::RNN()), "RNN");
  EXPECT_EQ(kind(nn::Sequential<nn::Linear, nn::ReLU>()), "Sequential");
  EXPECT_EQ(kind(nn::BatchNorm2d()), "BatchNorm");
  EXPECT_EQ(kind(Wrapped<nn::Conv2d>()), "Wrapped<Conv2d>");
  EXPECT_EQ(kind(nn::MultiheadAttention()), "MultiheadAttention");
}

TEST(Summary, BreaksLongListsOfShapes) {
  Random random(1);
  const nn::LSTM lstm(4, 8, random);
  EXPECT_EQ(summary(lstm).to_string(),
            R"(layer    kind  shapes                                     parameters
(model)  LSTM  weight_ih_l0 [32,4], weight_hh_l0 [32,8],         448  trained
               bias_ih_l0 [32], bias_hh_l0 [32]

448 parameters, 448 trained, 1,792 bytes
)");
}

struct Counted {
  Tensor steps, weight;
  CLADTORCH_PARAMETERS(steps, weight)
};

TEST(Summary, CallsIntegersFrozen) {
  const Counted model{zeros({1}, DType::int64), zeros({2}, DType::bfloat16)};
  const ModelSummary result = summary(model);
  EXPECT_EQ(result.count, 3);
  EXPECT_EQ(result.trained, 2);
  EXPECT_EQ(result.bytes, 12u);
}

TEST(Summary, CountsTheMemoryOfTheForwardPass) {
  Random random(1);
  const nn::Linear layer(16, 16, random);
  const Tensor x = zeros({64, 16});
  const ModelSummary result =
      summary(layer, [&](const nn::Linear& model) { mean(model(model(model(x)))).item(); });
  EXPECT_EQ(result.forward->operations, 4);
  EXPECT_EQ(result.forward->output, std::nullopt);
  EXPECT_GE(result.forward->allocated_bytes, 3u * 64 * 16 * 4 + 4);
  EXPECT_LT(result.forward->allocated_bytes, 4u * 64 * 16 * 4);
  EXPECT_GE(result.forward->peak_bytes, 2u * 64 * 16 * 4);
  EXPECT_LT(result.forward->peak_bytes, 4u * 64 * 16 * 4);
}

TEST(Flops, OfProducts) {
  Random random(1);
  const nn::Linear layer(5, 7, random);
  EXPECT_EQ(flops_of([&] { layer(zeros({2, 3, 5})); }), 2 * (2 * 3) * 5 * 7);
  EXPECT_EQ(flops_of([&] { layer(zeros({0, 5})); }), 0);
  EXPECT_EQ(flops_of([&] { matmul(zeros({4, 5}), zeros({5, 6})); }), 2 * 4 * 5 * 6);
  EXPECT_EQ(flops_of([&] { matmul(zeros({3, 1, 4, 5}), zeros({2, 5, 6})); }), 3 * 2 * 2 * 4 * 5 * 6);
  EXPECT_EQ(flops_of([&] { relu(zeros({4, 5})); }), 0);
}

TEST(Flops, OfConvolutions) {
  const Tensor x = zeros({2, 4, 9, 9});
  EXPECT_EQ(flops_of([&] { conv2d(x, zeros({6, 4, 3, 3}), {}); }), 2 * (2 * 6 * 7 * 7) * 4 * 9);
  EXPECT_EQ(flops_of([&] { conv2d(x, zeros({6, 4, 3, 3}), {}, {.stride = 2, .padding = 1}); }),
            2 * (2 * 6 * 5 * 5) * 4 * 9);
  EXPECT_EQ(flops_of([&] { conv2d(x, zeros({6, 2, 3, 3}), {}, {.groups = 2}); }),
            2 * (2 * 6 * 7 * 7) * 2 * 9);
  EXPECT_EQ(flops_of([&] { conv1d(zeros({1, 3, 10}), zeros({5, 3, 4}), {}); }), 2 * (5 * 7) * 3 * 4);
  EXPECT_EQ(flops_of([&] { conv_transpose2d(x, zeros({4, 3, 2, 2}), {}, {.stride = 2}); }),
            2 * (2 * 4 * 9 * 9) * 3 * 4);
}

TEST(Flops, OfAttentionAndWhatIsFused) {
  constexpr int64_t batch = 2, time = 5, heads = 2, size = 4, channels = heads * size;
  const Tensor x = zeros({batch, time, channels});
  EXPECT_EQ(flops_of([&] { causal_attention(zeros({batch, time, 3 * channels}), heads); }),
            batch * heads * (time * (time + 1) / 2) * 4 * size);
  EXPECT_EQ(flops_of([&] { causal_attention(x, x, x, heads, 1); }), batch * heads * time * 4 * size);
  Tensor keys = zeros({batch, 8, channels}), values = zeros({batch, 8, channels});
  EXPECT_EQ(flops_of([&] { cached_attention(zeros({batch, 1, 3 * channels}), keys, values, 3, heads); }),
            batch * heads * 4 * 4 * size);
  const Tensor up = zeros({16, channels}), down = zeros({channels, 16});
  EXPECT_EQ(flops_of([&] { mlp_gelu_tanh(x, up, zeros({16}), down, zeros({channels})); }),
            2 * (2 * batch * time * channels * 16));
}

}  // namespace
}  // namespace cladtorch
