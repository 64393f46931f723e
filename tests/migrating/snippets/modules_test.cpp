// The C++ of docs/migrating-from-pytorch.md about modules, compiled and run. guide_test.cpp checks that
// none is missing in this folder.
#include <clad/Differentiator/Differentiator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "cladtorch/cladtorch.h"
#include "cladtorch/models/gpt2.h"
#include "tests/migrating/snippets/values.h"
#include "tests/support/tokens.h"

namespace cladtorch {
using testing::random_tokens;
using testing::values;

namespace {

/// What would be a ModuleDict.
struct Pair {
  nn::Linear first, second;

  Tensor forward(const Tensor& x) const { return second(relu(first(x))); }
  CLADTORCH_PARAMETERS(first, second)
};

TEST(Migrating, Convolutions) {
  Random random(3);
  const Tensor images = randn({2, 4, 6, 6}, random), kernel = randn({8, 4, 3, 3}, random),
               transposed = randn({4, 8, 2, 2}, random), bias = randn({8}, random);
  Tensor mean = zeros({4}), variance = ones({4});
  const Tensor gain = ones({4}), shift = zeros({4});
  const Tensor lines = randn({2, 4, 9}, random), line_kernel = randn({8, 4, 3}, random);
  EXPECT_EQ(conv1d(lines, line_kernel).shape(), nn::Conv1d(4, 8, 3, random).forward(lines).shape());
  EXPECT_EQ(nn::Conv3d(4, 8, 3, random).forward(randn({2, 4, 3, 3, 3}, random)).shape(),
            (Shape{2, 8, 1, 1, 1}));
  EXPECT_EQ(conv2d(images, kernel, bias, {.stride = 2, .padding = 1}).shape(), (Shape{2, 8, 3, 3}));
  EXPECT_EQ(conv_transpose2d(images, transposed, {}, {.stride = 2}).shape(), (Shape{2, 8, 12, 12}));
  EXPECT_EQ(max_pool2d(images, 2).shape(), (Shape{2, 4, 3, 3}));
  EXPECT_EQ(avg_pool2d(images, 3, {.stride = 1, .padding = 1}).shape(), images.shape());
  EXPECT_EQ(adaptive_avg_pool2d(images, 1).shape(), (Shape{2, 4, 1, 1}));
  EXPECT_EQ(interpolate(images, {9, 9}, Interpolation::bilinear).shape(), (Shape{2, 4, 9, 9}));
  const Tensor normal = batch_norm(images, mean, variance, gain, shift, true);
  EXPECT_NE(mean.select(0, 0).item(), 0);
  EXPECT_NEAR(sum(normal).item(), 0, 1e-3);
  EXPECT_EQ(group_norm(images, 2, gain, shift).shape(), images.shape());
  EXPECT_EQ(instance_norm(images, {}, {}).shape(), images.shape());

  const Tensor x = randn({2, 3, 6, 6}, random);
  EXPECT_EQ(nn::Conv2d(3, 8, 3, random, {.padding = 1}).forward(x).shape(), (Shape{2, 8, 6, 6}));
  EXPECT_EQ(nn::Conv2d(3, 8, 3, random, {}, false).forward(x).shape(), (Shape{2, 8, 4, 4}));
  const Tensor eight = randn({2, 8, 4, 4}, random);
  EXPECT_EQ(nn::ConvTranspose2d(8, 3, 2, random, {.stride = 2}).forward(eight).shape(), (Shape{2, 3, 8, 8}));
  EXPECT_EQ(nn::BatchNorm1d(8).forward(eight).shape(), nn::BatchNorm2d(8).forward(eight).shape());
  EXPECT_EQ(nn::GroupNorm(2, 8).forward(eight).shape(), nn::InstanceNorm2d(8).forward(eight).shape());
  EXPECT_EQ(nn::MaxPool2d{2}.forward(eight).shape(), nn::AvgPool2d{2}.forward(eight).shape());
  EXPECT_EQ(nn::Upsample{2}.forward(eight).shape(), (Shape{2, 8, 8, 8}));
  EXPECT_EQ(nn::PixelShuffle{2}.forward(eight).shape(), (Shape{2, 2, 8, 8}));
  {
    const TrainingScope training(1, 0);
    const Tensor kept = nn::Dropout2d{0.1}.forward(ones({2, 8, 4, 4}));
    EXPECT_EQ(kept.select(0, 0).select(0, 3).select(0, 0).select(0, 0).item(),
              kept.select(0, 0).select(0, 3).select(0, 3).select(0, 3).item());
  }
  EXPECT_EQ(nn::Flatten().forward(nn::AdaptiveAvgPool2d{1}.forward(eight)).shape(), (Shape{2, 8}));
}

TEST(Migrating, Layers) {
  Random random(4);
  nn::Sequential net(nn::Linear(4, 8, random), nn::ReLU());
  EXPECT_EQ(net.get<0>().weight.shape(), (Shape{8, 4}));
  const Tensor x = net.forward(randn({2, 4}, random));
  for (const Tensor& y : {nn::GELU().forward(x), nn::SiLU().forward(x), nn::Sigmoid().forward(x),
                          nn::Tanh().forward(x), nn::Softmax().forward(x), nn::LeakyReLU{0.2}.forward(x),
                          nn::ELU().forward(x), nn::Softplus().forward(x), normalize(x)})
    EXPECT_EQ(y.shape(), x.shape());

  Tensor factor = zeros({3});
  EXPECT_EQ(clad::stop_gradient(x).shape(), x.shape());
  EXPECT_NEAR(norm(normalize(x).select(0, 0)).item(), 1, 1e-5);
  {
    const Tensor y = x * 1.0;
    for (const Tensor& equal : {eq(x, y), le(x, y), ge(x, y)}) EXPECT_EQ(all(equal).item(), 1);
    for (const Tensor& other : {ne(x, y), lt(x, y), gt(x, y)}) EXPECT_EQ(any(other).item(), 0);
  }

  nn::LSTM lstm(4, 8, random, {.layers = 2, .bidirectional = true});
  const Tensor steps = randn({5, 3, 4}, random), lengths = from_values<int32_t>({3}, {5, 2, 4});
  const nn::RecurrentResult y = lstm.forward(steps);
  EXPECT_EQ(y.output.shape(), (Shape{5, 3, 16}));
  EXPECT_EQ(y.h.shape(), y.c.shape());
  EXPECT_EQ(lstm.forward(steps, lengths).output.select(0, 4).select(0, 1).select(0, 0).item(), 0);

  EXPECT_EQ(nn::GRU(4, 8, random).forward(steps).output.shape(),
            nn::RNN(4, 8, random).forward(steps).output.shape());

  nn::MultiheadAttention attention(8, 2, random);
  const Tensor query = randn({2, 4, 8}, random), key = randn({2, 5, 8}, random), value = key;
  const Tensor mask = zeros({4, 5});
  EXPECT_EQ(attention.forward(query, key, value, mask).shape(), query.shape());
  EXPECT_EQ(attention.self(query, nn::square_subsequent_mask(4)).shape(), query.shape());
  nn::TransformerEncoderLayer encoder(8, 2, random, {.hidden = 16});
  EXPECT_EQ(encoder.forward(query, nn::padding_mask(from_values<int32_t>({2}, {4, 2}), 4)).shape(),
            query.shape());
  nn::TransformerDecoderLayer decoder(8, 2, random, {.hidden = 16});
  EXPECT_EQ(decoder.forward(query, key).shape(), query.shape());
  {
    const Tensor source = key, target = query, source_mask, target_mask = nn::square_subsequent_mask(4);
    nn::Transformer transformer(8, 2, random, {.encoder_layers = 2, .decoder_layers = 2});
    EXPECT_EQ(transformer.forward(source, target, source_mask, target_mask).shape(), target.shape());
  }
  EXPECT_EQ(nn::PReLU(8).forward(randn({2, 8, 3}, random)).shape(), (Shape{2, 8, 3}));
  EXPECT_EQ(values(nn::Identity().forward(query)), values(query));
  {
    const Tensor x = randn({3, 4}, random), h = zeros({3, 8});
    EXPECT_EQ(nn::Bilinear(4, 4, 2, random).forward(x, x).shape(), (Shape{3, 2}));
    EXPECT_EQ(nn::LSTMCell(4, 8, random).forward(x, h, h).c.shape(), h.shape());
    EXPECT_EQ(nn::GRUCell(4, 8, random).forward(x, h).shape(), h.shape());
  }
  const Tensor q = randn({2, 3, 4, 8}, random), k = randn({2, 3, 5, 8}, random), v = k;
  EXPECT_EQ(scaled_dot_product_attention(q, k, v, mask).shape(), q.shape());

  Tensor w = empty({3, 5});
  nn::init::kaiming_normal_(w, random);
  nn::init::xavier_uniform_(w, random);
  nn::init::trunc_normal_(w, random);
  nn::init::orthogonal_(w, random);
  EXPECT_NEAR(norm(w.select(0, 0)).item(), 1, 1e-5);
  Tensor buffer = zeros({2});
  buffer.set_frozen(true);
  EXPECT_TRUE(gradient_buffer_like(buffer).is_gradient_sink());
}

TEST(Migrating, NamesOfMembers) {
  Random random(42);
  Pair pair{nn::Linear(2, 3, random), nn::Linear(3, 1, random)};
  EXPECT_EQ(named_parameters(pair)[2].name, "second.weight");
}

TEST(Migrating, Modules) {
  Random random(42);
  const Tensor x = randn({3, 4}, random);
  EXPECT_EQ(nn::Linear(4, 8, random)(x).shape(), (Shape{3, 8}));
  EXPECT_FALSE(nn::Linear(4, 8, random, false).bias.defined());
  EXPECT_EQ(nn::Embedding(10, 4, random).weight.shape(), (Shape{10, 4}));
  EXPECT_EQ(nn::EmbeddingBag(10, 4, random, BagMode::sum)(zeros({3, 2}, DType::int64)).shape(), x.shape());
  EXPECT_EQ(nn::LayerNorm(4)(x).shape(), x.shape());
  EXPECT_EQ(nn::RMSNorm(4)(x).shape(), x.shape());
  const uint64_t seed = 1, step = 7;
  EXPECT_EQ(values(nn::Dropout{0.1}(x)), values(x));
  {
    TrainingScope training(seed, step);
    EXPECT_NE(values(nn::Dropout{0.5}(x)), values(x));
  }

  GPT2 model(gpt2_preset("toy"));
  const std::vector<NamedTensor> parameters = named_parameters(model);
  EXPECT_EQ(parameters[2].name, "h.0.ln_1.weight");
  size_t count = 0;
  const auto visit = [&](const std::string& name, const Tensor& tensor) {
    EXPECT_EQ(name, parameters[count++].name);
    EXPECT_EQ(tensor.defined(), true);
  };
  for_each_parameter(model, visit);
  EXPECT_EQ(count, parameters.size());
  EXPECT_GT(parameter_count(model), 0);
  const auto forward = [](const GPT2& net) { return net.forward(random_tokens({1, 3}, 65, 1)); };
  ::testing::internal::CaptureStdout();
  std::cout << summary(model);
  const size_t length = ::testing::internal::GetCapturedStdout().size();
  ::testing::internal::CaptureStdout();
  std::cout << summary(model, forward);
  EXPECT_GT(::testing::internal::GetCapturedStdout().size(), length);
  const Tensor hidden = model.forward(random_tokens({1, 3}, 65, 1));
  EXPECT_EQ(linear(hidden, model.wte.weight).shape(), (Shape{1, 3, 65}));
  EXPECT_EQ(model.to(DType::bfloat16).wte.weight.dtype(), DType::bfloat16);
  Tensor weight = model.wte.weight;
  weight.set_frozen(true);
  GPT2 gradient = like(model);
  EXPECT_EQ(TensorList(gradient).size(), parameters.size() - 1);
}

}  // namespace
}  // namespace cladtorch
