// The C++ of docs/migrating-from-pytorch.md, compiled and run. guide_test.cpp checks that none is missing
// here.
#include <clad/Differentiator/Differentiator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "cladtorch/cladtorch.h"
#include "cladtorch/data/batch.h"
#include "cladtorch/data/csv.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/data/idx.h"
#include "cladtorch/data/image.h"
#include "cladtorch/data/image_folder.h"
#include "cladtorch/data/npy.h"
#include "cladtorch/data/transforms.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/models/lora.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/evaluate.h"
#include "cladtorch/train/generate.h"
#include "cladtorch/train/muon.h"
#include "cladtorch/train/schedule.h"
#include "cladtorch/train/sgd.h"
#include "cladtorch/train/tensorboard.h"
#include "io/temporary_folder.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace own {

struct Classifier {
  nn::Linear in, out;

  explicit Classifier(Random& random) : in(2, 32, random), out(32, 3, random) {}
  Tensor forward(const Tensor& x) const { return out(relu(in(x))); }
  CLADTORCH_PARAMETERS(in, out)
};

double loss(const Classifier& model, const Tensor& x, const Tensor& labels) {
  return cross_entropy(model.forward(x), labels).item();
}

double loss_and_gradient(const Classifier& model, const Tensor& x, const Tensor& labels,
                         Classifier* gradient) {
  auto step = clad::value_and_gradient(loss, "model");
  return step.execute(model, x, labels, gradient);
}

}  // namespace own

/// What would be a ModuleDict.
struct Pair {
  nn::Linear first, second;

  Tensor forward(const Tensor& x) const { return second(relu(first(x))); }
  CLADTORCH_PARAMETERS(first, second)
};

/// Blocks that are computed again in the backward pass.
struct Deep {
  std::vector<nn::Block> h;

  Tensor forward(Tensor x) const {
    for (const nn::Block& block : h) x = clad::checkpoint(block.forward(x));
    return x;
  }
  CLADTORCH_PARAMETERS(h)
};

double deep_loss(const Deep& model, const Tensor& x) { return mean(model.forward(x)).item(); }

namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::random_tokens;

std::vector<float> values(const Tensor& x) {
  const Tensor dense = x.contiguous();
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}

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

TEST(Migrating, Tensors) {
  Random random(42);
  EXPECT_THAT(values(zeros({2, 3}) + ones({2, 3})), ::testing::Each(1));
  EXPECT_EQ(empty({2, 3}).shape(), (Shape{2, 3}));
  EXPECT_THAT(values(full({2, 3}, 0.5)), ::testing::Each(0.5));
  EXPECT_THAT(values(from_values<float>({2}, {1, 2})), ElementsAre(1, 2));
  EXPECT_EQ(arange(5).dtype(), DType::int32);
  EXPECT_NE(values(randn({2, 3}, random)), values(rand({2, 3}, random)));

  Tensor x = from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = full({2, 3}, 2), w = x.transpose(0, 1);
  EXPECT_THAT(values(zeros_like(x)), ::testing::Each(0));
  EXPECT_THAT(values(ones_like(x)), ::testing::Each(1));
  EXPECT_THAT(values(full_like(x, 2)), ::testing::Each(2));
  EXPECT_EQ(sum(eye(3)).item(), 3);
  EXPECT_THAT(values(linspace(0, 1, 5)), ::testing::ElementsAre(0, 0.25f, 0.5f, 0.75f, 1));
  {
    const Tensor ids = from_values<int32_t>({2}, {3, 0});
    EXPECT_THAT(values(one_hot(ids, 4)), ::testing::ElementsAre(0, 0, 0, 1, 1, 0, 0, 0));
    Random random(42);
    EXPECT_EQ(randint(0, 9, {2, 3}, random).dtype(), DType::int32);
    EXPECT_EQ(sum(randperm(8, random).to(DType::float32)).item(), 28);
    const Tensor p = from_values<float>({3}, {0, 1, 1});
    EXPECT_THAT(values(bernoulli(p, random)), ::testing::ElementsAre(0, 1, 1));
  }
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.size(-1) + x.dim() + x.numel(), 3 + 2 + 6);
  EXPECT_EQ(x.dtype(), DType::float32);
  EXPECT_EQ(x.to(DType::bfloat16).dtype(), DType::bfloat16);
  EXPECT_EQ(x.data<float>()[4], 5);
  EXPECT_EQ(x.reshape({6}).shape(), x.flatten().shape());
  EXPECT_THAT(values(x.permute({1, 0})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(values(x.slice(1, 1, 3)), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(values(x.narrow(1, 1, 2)), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(values(x.select(1, 0)), ElementsAre(1, 4));
  EXPECT_EQ(x.split(1, 1).size(), 3u);
  EXPECT_EQ(x.unsqueeze(0).shape(), (Shape{1, 2, 3}));
  const Tensor row = x.unsqueeze(0);
  EXPECT_EQ(row.squeeze(0).shape(), x.shape());
  EXPECT_EQ(x.expand({4, 2, 3}).numel(), 24);
  EXPECT_TRUE(w.contiguous().is_contiguous());
  EXPECT_FALSE(x.clone().shares_storage_with(x));
  EXPECT_THAT(values(x + y), ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(values(x * y), values(2 * x));
  EXPECT_THAT(values(-x), ElementsAre(-1, -2, -3, -4, -5, -6));
  EXPECT_EQ(values(x / y)[5], 3);
  EXPECT_THAT(values(matmul(x, w)), ElementsAre(14, 32, 32, 77));
  EXPECT_EQ(sum(x).item(), 21);
  EXPECT_EQ(mean(x).item(), 3.5);
  EXPECT_EQ(sum(x, -1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(values(mean(x, 0))[2], 4.5);
  x = mean(x);
  EXPECT_EQ(x.item(), 3.5);
  ::testing::internal::CaptureStdout();
  print(x);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), ::testing::HasSubstr("3.5"));
  x.fill_(1);
  EXPECT_EQ(x.item(), 1);
  x.zero_();
  EXPECT_EQ(x.item(), 0);
  x.copy_from(from_values<float>({}, {7}));
  EXPECT_EQ(x.item(), 7);
  const int threads = num_threads();
  set_num_threads(2);
  EXPECT_EQ(num_threads(), 2);
  set_num_threads(threads);
}

TEST(Migrating, SharesMemoryWithOtherLibraries) {
  const Tensor x = from_values<float>({2}, {1, 2});
  DLManagedTensor* const handle = to_dlpack(x);
  const Tensor shared = from_dlpack(handle);
  EXPECT_EQ(shared.data<float>(), x.data<float>());
}

TEST(Migrating, CopiesInPlace) {
  Tensor x = zeros({2});
  const Tensor y = ones({2});
  x.copy_from(y);
  EXPECT_THAT(values(x), ElementsAre(1, 1));
}

TEST(Migrating, Functions) {
  Random random(42);
  const int64_t B = 2, T = 5, C = 8, n_head = 2;
  const Tensor x = randn({B, T, C}, random), y = randn({B, T, C}, random);
  const Tensor weight = ones({C}), bias = zeros({C}), head = randn({7, C}, random);
  {
    const Tensor weight = randn({3, C}, random), bias = zeros({3}), table = randn({7, C}, random);
    const Tensor ids = random_tokens({B, T}, 7, 1);
    EXPECT_EQ(linear(x, weight, bias).shape(), (Shape{B, T, 3}));
    EXPECT_EQ(embedding(ids, table).shape(), x.shape());
    const Tensor flat = ids.flatten(), offsets = from_values<int64_t>({2}, {0, T});
    EXPECT_EQ(embedding_bag(ids, table).shape(), (Shape{B, C}));
    EXPECT_EQ(embedding_bag(flat, table, offsets, BagMode::sum).shape(), (Shape{B, C}));
    EXPECT_EQ(values(linear_gelu_tanh(x, weight, bias)), values(gelu_tanh(linear(x, weight, bias))));
    const Tensor w = weight, b = bias, p = randn({2, 3}, random), c = zeros({2});
    EXPECT_EQ(values(mlp_gelu_tanh(x, w, b, p, c)), values(linear(gelu_tanh(linear(x, w, b)), p, c)));
  }
  EXPECT_GE(values(relu(x))[0], 0);
  EXPECT_NEAR(values(silu(x))[3], values(x)[3] * values(sigmoid(x))[3], 1e-6);
  EXPECT_LE(values(tanh(x))[3], 1);
  EXPECT_NEAR(values(exp(x))[3], std::exp(values(x)[3]), 1e-6);
  {
    const Tensor x = exp(y);
    EXPECT_NEAR(values(log(x))[3], values(y)[3], 1e-5);
    EXPECT_NEAR(values(sqrt(x))[3], std::sqrt(values(x)[3]), 1e-6);
    EXPECT_NEAR(values(rsqrt(x))[3], 1 / std::sqrt(values(x)[3]), 1e-6);
  }
  EXPECT_NEAR(values(erf(x))[3], std::erf(values(x)[3]), 1e-6);
  const auto near = [](const Tensor& got, double expected) {
    EXPECT_NEAR(values(got)[3], expected, 1e-5 * (1 + std::abs(expected)));
  };
  {
    const double v = values(x)[3], e = std::exp(v), bend = std::expm1(std::fmin(v, 0));
    near(leaky_relu(x, 0.2), v > 0 ? v : 0.2 * v);
    near(elu(x), v > 0 ? v : bend);
    near(celu(x), v > 0 ? v : bend);
    near(selu(x), 1.050701 * (v > 0 ? v : 1.673263 * bend));
    near(relu6(x), std::clamp(v, 0.0, 6.0));
    near(softplus(x), std::log1p(e));
    near(logsigmoid(x), -std::log1p(1 / e));
    near(mish(x), v * std::tanh(std::log1p(e)));
    near(softsign(x), v / (1 + std::abs(v)));
    near(tanhshrink(x), v - std::tanh(v));
    near(hardtanh(x), std::clamp(v, -1.0, 1.0));
    near(clamp(x, -1, 1), std::clamp(v, -1.0, 1.0));
    near(hardsigmoid(x), std::clamp(v / 6 + 0.5, 0.0, 1.0));
    near(hardswish(x), v * std::clamp(v / 6 + 0.5, 0.0, 1.0));
    near(hardshrink(x), std::abs(v) > 0.5 ? v : 0);
    near(softshrink(x), v - std::clamp(v, -0.5, 0.5));
    near(threshold(x, 0.1, 20), v > 0.1 ? v : 20);
    near(exp2(x), std::exp2(v));
    near(expm1(x), std::expm1(v));
    near(erfc(x), std::erfc(v));
    near(square(x), v * v);
    near(reciprocal(x), 1 / v);
    near(pow(x, 3), v * v * v);
    near(abs(x), std::abs(v));
    near(sign(x), v > 0 ? 1 : -1);
    near(floor(x), std::floor(v));
    near(ceil(x), std::ceil(v));
    near(trunc(x), std::trunc(v));
    near(round(x), std::nearbyint(v));
    near(sin(x), std::sin(v));
    near(cos(x), std::cos(v));
    near(tan(x), std::tan(v));
    near(atan(x), std::atan(v));
    near(sinh(x), std::sinh(v));
    near(cosh(x), std::cosh(v));
    near(asinh(x), std::asinh(v));
  }
  {
    const Tensor x = 1 + exp(y);
    const double v = values(x)[3];
    near(log2(x), std::log2(v));
    near(log10(x), std::log10(v));
    near(log1p(x), std::log1p(v));
    near(acosh(x), std::acosh(v));
  }
  {
    const double v = values(x)[3], w = values(y)[3];
    near(maximum(x, y), std::fmax(v, w));
    near(minimum(x, y), std::fmin(v, w));
    near(atan2(x, y), std::atan2(v, w));
    near(hypot(x, y), std::hypot(v, w));
    near(logaddexp(x, y), std::log(std::exp(v) + std::exp(w)));
    near(remainder(x, y), v - w * std::floor(v / w));
    near(prelu(x, weight), v > 0 ? v : v * values(weight)[3]);
  }
  {
    const Tensor x = exp(weight + bias), y = 1 + x;
    near(pow(x, y), std::pow(values(x)[3], values(y)[3]));
    near(xlogy(x, y), values(x)[3] * std::log(values(y)[3]));
  }
  {
    const Tensor x = sigmoid(y);
    const double v = values(x)[3];
    near(asin(x), std::asin(v));
    near(acos(x), std::acos(v));
    near(atanh(x), std::atanh(v));
  }
  EXPECT_LE(values(gelu_tanh(x))[3], values(relu(x))[3]);
  EXPECT_NEAR(values(gelu_erf(x))[3], values(gelu_tanh(x))[3], 1e-3);
  {
    const Tensor x = from_values<float>({2, 2}, {0.2f, 0.9f, 0.5f, 0.3f}), y = ones({2, 2});
    const auto numbers = [](const Tensor& got, const std::vector<double>& expected) {
      const std::vector<float> found = values(got);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
    };
    numbers(cat({x, y}, 1), {0.2, 0.9, 1, 1, 0.5, 0.3, 1, 1});
    numbers(stack({x, y}), {0.2, 0.9, 0.5, 0.3, 1, 1, 1, 1});
    numbers(amax(x, 1), {0.9, 0.5});
    numbers(amin(x, -1, true), {0.2, 0.3});
    EXPECT_EQ(argmax(x, 1).select(0, 0).item(), 1);
    EXPECT_EQ(argmin(x, 1).select(0, 1).item(), 1);
    numbers(cumsum(x, 1), {0.2, 1.1, 0.5, 0.8});
    EXPECT_NEAR(prod(x).item(), 0.027, 1e-7);
    numbers(prod(x, 1), {0.18, 0.15});
    numbers(cumprod(x, 1), {0.2, 0.18, 0.5, 0.15});
    numbers(cummax(x, 1).values, {0.2, 0.9, 0.5, 0.5});
    numbers(sort(x, 1, true).values, {0.9, 0.2, 0.5, 0.3});
    EXPECT_EQ(argsort(x, 1).to_string(), "tensor([[0, 1],\n        [1, 0]], shape=[2,2], dtype=int32)");
    numbers(topk(x, 2).values, {0.9, 0.2, 0.5, 0.3});
    numbers(kthvalue(x, 2).values, {0.9, 0.5});
    numbers(median(x, 1).values, {0.2, 0.3});
    {
      EXPECT_EQ(any(x < y).item() + any(x >= 2).item() + all(eq(x, y)).item() + all(ne(x, 2)).item(), 2);
      const Tensor p = x > 0.4, q = from_values<bool>({2}, {true, false});
      numbers(logical_and(p, q).to(DType::float32), {0, 0, 1, 0});
      numbers(logical_or(p, q).to(DType::float32), {1, 1, 1, 0});
      numbers(logical_xor(p, q).to(DType::float32), {1, 1, 0, 0});
      numbers(logical_not(p).to(DType::float32), {1, 0, 0, 1});
      EXPECT_EQ(any(isnan(x)).item() + any(isinf(x)).item() + all(isfinite(x)).item(), 1);
      EXPECT_EQ(any(p).item() + any(all(p, 1)).item(), 1);
      numbers(where(p, x, y), {1, 0.9, 0.5, 1});
      numbers(where(p, x, 0), {0, 0.9, 0.5, 0});
      numbers(exp(masked_fill(x, p, -INFINITY)), {std::exp(0.2), 0, 0, std::exp(0.3)});
      numbers(masked_select(x, p), {0.9, 0.5});
      EXPECT_EQ(nonzero(p).shape(), (Shape{2, 2}));
      const Tensor i = from_values<int64_t>({2}, {1, 1}), at = i.unsqueeze(1), z = full({2, 2}, 0.1);
      numbers(index_select(x, 1, i), {0.9, 0.9, 0.3, 0.3});
      numbers(index_add(x, 1, i, z), {0.2, 1.1, 0.5, 0.5});
      numbers(gather(x, 1, at), {0.9, 0.3});
      numbers(take_along_dim(x, at, 1), {0.9, 0.3});
      numbers(scatter(x, 1, at, z), {0.2, 0.1, 0.5, 0.1});
      numbers(scatter(x, 1, at, 0.5), {0.2, 0.5, 0.5, 0.5});
      numbers(scatter_add(x, 1, at, z), {0.2, 1, 0.5, 0.4});
    }
    numbers(flip(x, 1), {0.9, 0.2, 0.3, 0.5});
    numbers(var(x, 1), {0.245, 0.02});
    numbers(cladtorch::std(x, 1), {std::sqrt(0.245), std::sqrt(0.02)});
    numbers(norm(x, 1), {std::sqrt(0.85), std::sqrt(0.34)});
    EXPECT_NEAR(norm(x).item(), std::sqrt(1.19), 1e-6);
    numbers(logsumexp(x, 1),
            {std::log(std::exp(0.2) + std::exp(0.9)), std::log(std::exp(0.5) + std::exp(0.3))});
    numbers(lerp(x, y, 0.3), {0.44, 0.93, 0.65, 0.51});
    EXPECT_NEAR(l1_loss(x, y).item(), 0.525, 1e-6);
    EXPECT_NEAR(smooth_l1_loss(x, y).item(), 0.17375, 1e-6);
    EXPECT_NEAR(huber_loss(x, y, Reduction::sum).item(), 0.695, 1e-6);
    const Tensor p = x, t = y;
    EXPECT_NEAR(binary_cross_entropy(p, t).item(), -std::log(0.2 * 0.9 * 0.5 * 0.3) / 4, 1e-6);
    EXPECT_NEAR(binary_cross_entropy_with_logits(x, t).item(), mean(softplus(-x)).item(), 1e-6);
    EXPECT_NEAR(kl_div(x, t).item(), -0.475, 1e-6);
    numbers(cosine_similarity(x, y, -1), {1.1 / std::sqrt(1.7), 0.8 / std::sqrt(0.68)});
    numbers(glu(x), {0.2 / (1 + std::exp(-0.9)), 0.5 / (1 + std::exp(-0.3))});
    const Tensor u = x.select(0, 0), v = x.select(0, 1), w = y.select(0, 0);
    numbers(outer(u, v), {0.1, 0.06, 0.45, 0.27});
    EXPECT_NEAR(triplet_margin_loss(u, v, w).item(), norm(u - v).item() - norm(u - w).item() + 1, 1e-5);
  }
  const Tensor gate = x, up = y;
  EXPECT_NEAR(values(swiglu(gate, up))[3], values(silu(gate) * up)[3], 1e-6);
  EXPECT_NEAR(sum(softmax(x)).item(), B * T, 1e-5);
  EXPECT_NEAR(values(log_softmax(x))[3], std::log(values(softmax(x))[3]), 1e-5);
  const Tensor scores = matmul(x, y.transpose(1, 2));
  EXPECT_EQ(values(causal_mask(scores))[0], values(scores)[0]);
  EXPECT_EQ(values(causal_mask(scores))[1], -INFINITY);
  {
    const Tensor x = scores;
    EXPECT_EQ(values(tril(x))[1], 0);
  }
  EXPECT_NEAR(mean(layer_norm(x, weight, bias)).item(), 0, 1e-6);
  {
    const auto [s, normalized] = add_layer_norm(x, y, weight, bias);
    EXPECT_EQ(values(s), values(x + y));
    EXPECT_EQ(values(normalized), values(layer_norm(s, weight, bias)));
  }
  {
    const double eps = 1e-6;
    const auto [s, normalized] = add_rms_norm(x, y, weight, eps);
    EXPECT_EQ(values(s), values(x + y));
    EXPECT_EQ(values(normalized), values(rms_norm(s, weight, eps)));
  }
  const Tensor normed = rms_norm(x, weight, 1e-6);
  EXPECT_NEAR(mean(normed * normed).item(), 1, 1e-5);
  EXPECT_EQ(values(dropout(x, 0.1)), values(x));
  const RotaryFrequencies frequencies(RotaryConfig{}, C / n_head);
  const Tensor q = x, k = y, v = x;
  EXPECT_EQ(values(rotary_embedding(q, rotary_table(frequencies, 0, T)))[0], values(q)[0]);
  EXPECT_EQ(values(causal_attention(q, k, v, n_head))[0], values(v)[0]);  // the first position sees itself
  const Tensor logits = linear(x, head), targets = random_tokens({B, T}, 7, 1);
  EXPECT_NEAR(cross_entropy(logits, targets).item(), linear_cross_entropy(x, head, targets).item(), 1e-5);
  const Tensor log_probabilities = log_softmax(logits);
  EXPECT_NEAR(nll_loss(log_probabilities, targets).item(), cross_entropy(logits, targets).item(), 1e-5);
  EXPECT_EQ(mse_loss(x, x).item(), 0);
  EXPECT_GT(mse_loss(x, y).item(), 0);
  EXPECT_EQ(cross_entropy(logits, from_values<int32_t>({1, 1}, {-100}).expand({B, T})).item(), 0);
}

TEST(Migrating, ShapesAndReductions) {
  const Tensor x = from_values<float>({2, 3}, {1, 2, 3, 4, 5, 6}), row = x.select(0, 0), u = row,
               v = x.select(0, 1);
  EXPECT_EQ(broadcast_to(x, {4, 2, 3}).numel(), 24);
  EXPECT_EQ(flatten(x, 0, 1).shape(), (Shape{6}));
  EXPECT_EQ(unflatten(x, 1, {3, -1}).shape(), (Shape{2, 3, 1}));
  EXPECT_THAT(values(movedim(x, 0, 1)), values(swapaxes(x, 0, 1)));
  EXPECT_EQ(chunk(x, 3, 1).size(), 3u);
  EXPECT_EQ(unbind(x, 0).size(), 2u);
  EXPECT_THAT(values(pad(x, {1, 2}, PadMode::constant, 0.5)),
              ElementsAre(0.5, 1, 2, 3, 0.5, 0.5, 0.5, 4, 5, 6, 0.5, 0.5));
  EXPECT_THAT(values(pad(x, {1, 1}, PadMode::reflect)), ElementsAre(2, 1, 2, 3, 2, 5, 4, 5, 6, 5));
  EXPECT_EQ(repeat(x, {2, 1}).shape(), (Shape{4, 3}));
  EXPECT_EQ(tile(x, {2}).shape(), (Shape{2, 6}));
  EXPECT_THAT(values(repeat_interleave(x, 2, 0)), ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(values(roll(x, 1, 0)), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(values(diagonal(x)), ElementsAre(1, 5));
  EXPECT_THAT(values(diag_embed(row)), ElementsAre(1, 0, 0, 0, 2, 0, 0, 0, 3));
  EXPECT_THAT(values(tril(x, 1)), ElementsAre(1, 2, 0, 4, 5, 6));
  EXPECT_THAT(values(triu(x, 1)), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_EQ(meshgrid({u, v})[1].shape(), (Shape{3, 3}));
  const Tensor images = ones({1, 2, 4, 4}), columns = unfold(images, 2, {.stride = 2});
  EXPECT_THAT(values(fold(columns, {4, 4}, 2, {.stride = 2})), ::testing::Each(1));
  EXPECT_EQ(sum(x, {0, 1}).item(), 21);
  EXPECT_EQ(mean(x, {0, 1}).item(), 3.5);
  EXPECT_EQ(var(x, {0, 1}).item(), var(x).item());
  EXPECT_EQ(amax(x, {0, 1}).item(), amax(x).item());
  EXPECT_EQ(amin(x).item(), 1);
  EXPECT_EQ(logsumexp(x, {0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(linalg::vector_norm(x, 1, {0, 1}).item(), 21);
}

TEST(Migrating, ProductsAndLosses) {
  Random random(42);
  const Tensor a = randn({2, 3, 4}, random), b = randn({2, 4, 5}, random), c = randn({5}, random);
  const Tensor m = a.select(0, 0), n = b.select(0, 0), u = randn({3}, random);
  EXPECT_EQ(values(einsum("bij,bjk->bik", {a, b})), values(bmm(a, b)));
  EXPECT_EQ(addmm(c, m, n).shape(), (Shape{3, 5}));
  EXPECT_EQ(baddbmm(c, a, b, 0.5, 2).shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(kron(a, b).shape(), (Shape{4, 12, 20}));
  {
    const Tensor v = randn({4}, random);
    EXPECT_EQ(mv(m, v).shape(), (Shape{3}));
  }
  const Tensor v = randn({3}, random);
  EXPECT_NEAR(dot(u, v).item(), sum(u * v).item(), 1e-5);
  EXPECT_NEAR(dot(u, cross(u, v)).item(), 0, 1e-5);

  const Tensor scores = randn({4, 3}, random), labels = random_tokens({4}, 3, 1), w = ones({3});
  const Tensor x = rand({4, 3}, random), y = rand({4, 3}, random), variance = ones({4, 3});
  EXPECT_NEAR(cross_entropy(scores, labels, {.weight = w, .label_smoothing = 0.1}).item(),
              0.9 * cross_entropy(scores, labels).item() - 0.1 * mean(log_softmax(scores)).item(), 1e-5);
  EXPECT_GE(multi_margin_loss(scores, labels).item(), 0);
  EXPECT_GE(gaussian_nll_loss(x, y, variance).item(), 0);
  EXPECT_TRUE(std::isfinite(poisson_nll_loss(x, y, {.log_input = false}).item()));
  {
    const Tensor s = ones({4, 3});
    EXPECT_NEAR(hinge_embedding_loss(x, s).item(), mean(x).item(), 1e-6);
    EXPECT_GE(margin_ranking_loss(x, y, s).item(), 0);
    EXPECT_NEAR(soft_margin_loss(x, s).item(), mean(softplus(-x)).item(), 1e-6);
  }
  const Tensor s = ones({4});
  EXPECT_NEAR(cosine_embedding_loss(x, y, s).item(), 1 - mean(cosine_similarity(x, y, -1)).item(), 1e-5);
}

TEST(Migrating, CountsAndDistances) {
  const Tensor x = from_values<float>({2, 3}, {1, 2, 2, 4, 1, 6}), y = x + 0.5,
               sequence = from_values<float>({3}, {1, 2, 6});
  EXPECT_EQ(prod(x, {0, 1}).item(), 96);
  EXPECT_THAT(values(unique(x).output), ElementsAre(1, 2, 4, 6));
  EXPECT_EQ(unique_consecutive(x).output.numel(), 5);
  const Tensor ids = from_values<int32_t>({3}, {2, 0, 2}), weights = ones({3});
  EXPECT_THAT(values(bincount(ids).to(DType::float32)), values(bincount(ids, weights)));
  EXPECT_EQ(sum(histc(x, 4)).item(), 6);
  EXPECT_EQ(searchsorted(sequence, x).shape(), x.shape());
  EXPECT_THAT(values(bucketize(x, sequence, true).to(DType::float32)), ElementsAre(1, 2, 2, 2, 1, 3));
  EXPECT_FALSE(allclose(x, y));
  EXPECT_FALSE(any(isclose(x, y)).item());
  EXPECT_EQ(values(nan_to_num(x)), values(x));
  const std::vector<float> numbers = {1, 2};
  const std::span<const float> array = numbers;
  EXPECT_EQ(values(from_values<float>({2}, array)), numbers);

  const Tensor m = matmul(x, x.transpose(0, 1)), n = m + 1, u = sequence, v = u;
  EXPECT_EQ(vdot(u, v).item(), 41);
  EXPECT_EQ(trace(m).item(), sum(square(x)).item());
  EXPECT_EQ(cdist(m, n).shape(), (Shape{2, 2}));
  EXPECT_NEAR(pairwise_distance(m, n).select(0, 0).item(), std::sqrt(2), 1e-5);
  EXPECT_EQ(cov(m).shape(), corrcoef(m).shape());
}

TEST(Migrating, PlacesAndSequences) {
  Random random(42);
  const Tensor images = randn({2, 4, 6, 6}, random);
  const Tensor theta = from_values<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0}).expand({2, 2, 3});
  const Tensor grid = affine_grid(theta, {2, 4, 6, 6});
  EXPECT_TRUE(allclose(grid_sample(images, grid, {.padding_mode = GridPadding::border}), images, 1e-4, 1e-5));
  const Tensor log_probabilities = log_softmax(randn({5, 2, 4}, random));
  const Tensor targets = from_values<int32_t>({2, 2}, {1, 2, 3, 3}),
               input_lengths = full({2}, 5, DType::int32), target_lengths = full({2}, 2, DType::int32);
  EXPECT_GT(ctc_loss(log_probabilities, targets, input_lengths, target_lengths).item(), 0);
  const Tensor scores = randn({1, 3}, random), named = from_values<int32_t>({1, 3}, {2, -1, -1});
  EXPECT_GE(multilabel_margin_loss(scores, named).item(), 0);
  const Tensor x = scores, y = zeros({1, 3});
  EXPECT_NEAR(multilabel_soft_margin_loss(x, y).item(), mean(softplus(x)).item(), 1e-5);
}

TEST(Migrating, LinearAlgebraAndMetrics) {
  const Tensor scores = from_values<float>({2, 3}, {1, 3, 2, 5, 0, 1}),
               labels = from_values<int32_t>({2}, {2, 0});
  EXPECT_EQ(accuracy(scores, labels), 0.5);
  EXPECT_EQ(topk_accuracy(scores, labels, 2), 1);
  const Tensor predictions = argmax(scores, -1);
  EXPECT_EQ(confusion_matrix(predictions, labels, 3).select(0, 2).select(0, 1).item(), 1);
  EXPECT_NEAR(class_scores(predictions, labels, 3).recall, 1 / 3.0, 1e-6);
  if (!linalg::available()) GTEST_SKIP() << "this build has no LAPACK";
  Random random(42);
  const Tensor tall = randn({4, 2}, random), b = randn({4, 1}, random), r = linalg::qr(tall).R;
  EXPECT_EQ(linalg::qr(tall).Q.shape(), tall.shape());
  EXPECT_EQ(linalg::lstsq(tall, b).shape(), (Shape{2, 1}));
  const Tensor a = from_values<float>({2, 2}, {4, 2, 2, 3});
  EXPECT_NEAR(linalg::det(a).item(), 8, 1e-5);
  EXPECT_NEAR(linalg::slogdet(a).logabsdet.item(), std::log(8.0), 1e-5);
  EXPECT_THAT(values(linalg::cholesky(a)), ElementsAre(2, 0, 1, ::testing::FloatEq(std::sqrt(2.0f))));
  EXPECT_NEAR(sum(linalg::eigh(a).eigenvalues).item(), sum(linalg::eigvalsh(a)).item(), 1e-5);
  EXPECT_EQ(linalg::svdvals(tall).shape(), linalg::svd(tall).S.shape());
  EXPECT_TRUE(allclose(matmul(linalg::pinv(tall), b), linalg::lstsq(tall, b), 1e-3, 1e-4));
  EXPECT_EQ(linalg::matrix_rank(tall).item(), 2);
  EXPECT_NEAR(linalg::matrix_norm(a).item(), std::sqrt(33.0), 1e-5);
  EXPECT_NEAR(linalg::matrix_norm(a, linalg::MatrixNorm::nuc).item(), 7, 1e-5);
  EXPECT_LE(linalg::matrix_norm(a, 2).item(), 7);
  {
    const Tensor b = ones({2, 1});
    EXPECT_NEAR(linalg::solve(a, b).select(0, 0).item(), sum(linalg::inv(a), -1).select(0, 0).item(), 1e-6);
    EXPECT_EQ(linalg::solve_triangular(r, b, true).shape(), b.shape());
  }
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

TEST(Migrating, NamesOfMembers) {
  Random random(42);
  Pair pair{nn::Linear(2, 3, random), nn::Linear(3, 1, random)};
  EXPECT_EQ(named_parameters(pair)[2].name, "second.weight");
}

TEST(Migrating, FilesAndChecks) {
  using own::Classifier;
  const io::TemporaryFolder folder;
  const fs::path path = folder / "model.safetensors";
  Random random(42);
  Classifier model(random), other(random);
  ASSERT_NE(values(model.in.weight), values(other.in.weight));
  {
    const Classifier& model = other;
    save(model, path);
  }
  load(path, model);
  EXPECT_EQ(values(model.in.weight), values(other.in.weight));
  EXPECT_EQ(with_dtype(model, DType::float64).in.weight.dtype(), DType::float64);

  const Tensor x = randn({12, 2}, random), labels = random_tokens({12}, 3, 1);
  const Classifier& net = model;
  const Tensor precise = x.to(DType::float64);
  const auto value = [&](const Classifier& net) { return loss(net, precise, labels); };
  const auto derivative = [&](const Classifier& net, Classifier* d_net) {
    loss_and_gradient(net, precise, labels, d_net);
  };
  EXPECT_TRUE(gradcheck(net, value, derivative));
}

/// A data set of one's own.
struct Squares {
  int64_t size() const { return 8; }
  std::vector<Tensor> get(int64_t i) const {
    return {full({}, static_cast<double>(i)), full({}, static_cast<double>(i * i))};
  }
};

TEST(Migrating, Batches) {
  const uint64_t seed = 1;
  Random random(42);
  const Tensor x = randn({12, 2}, random), labels = random_tokens({12}, 3, 1);
  data::DataLoader loader(data::TensorDataset({x, labels}), {.batch_size = 4, .shuffle = true}, seed);
  int64_t batches_seen = 0;
  for (const std::vector<Tensor>& batch : loader) {
    EXPECT_EQ(batch[1].shape(), (Shape{4}));
    ++batches_seen;
  }
  EXPECT_EQ(batches_seen, loader.batches_per_epoch());
  const int64_t given = loader.given();
  const Tensor expected = loader.next()[0].clone();
  loader.seek(given);
  EXPECT_EQ(values(loader.next()[0]), values(expected));
  data::DataLoader squares(Squares{}, {.drop_last = true, .workers = 2, .prefetch = 4});
  for (int i = 0; i < 3; ++i) squares.next();
  EXPECT_EQ(squares.next()[1].item(), 9);
  data::TensorLoader batches({x, labels}, 4, seed);
  EXPECT_EQ(batches.next()[1].shape(), (Shape{4}));
}

TEST(Migrating, Arrays) {
  const io::TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte",
               std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02\xff\x33", 18));
  EXPECT_THAT(values(data::read_idx(folder / "train-images-idx3-ubyte")), ElementsAre(1, 0.2f));
  const fs::path array = folder / "x.npy", archive = folder / "all.npz";
  const Tensor x = from_values<float>({2}, {1, 2}), y = arange(3);
  data::write_npy(array, x);
  EXPECT_THAT(values(data::read_npy(array)), ElementsAre(1, 2));
  data::write_npz(archive, {{"x", x}, {"y", y}}, {.compressed = true});
  EXPECT_THAT(values(data::read_npz(archive, "x")), ElementsAre(1, 2));
  EXPECT_EQ(data::read_npz(archive)[1].second.dtype(), DType::int32);
  const fs::path table = folder.write("t.csv", "a;b\n1;2\n3;4\n");
  const data::CsvTable csv = data::read_csv(table, {.delimiter = ';'});
  EXPECT_THAT(values(csv.values), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(csv.columns, ElementsAre("a", "b"));
  const fs::path irises = folder.write("iris.csv", "length,kind\n1,virginica\n2,setosa\n");
  EXPECT_THAT(data::read_csv(irises, {.label_columns = {-1}}).labels[1], ElementsAre("setosa", "virginica"));
}

TEST(Migrating, Images) {
  const io::TemporaryFolder folder;
  const fs::path root = folder.path(), picture = folder / "cats/1.png";
  fs::create_directories(folder / "cats");
  Random random(42);
  {
    const Tensor image = rand({3, 40, 50}, random);
    data::write_png(picture, image);
    EXPECT_THAT(values(data::read_image(picture)),
                ::testing::Pointwise(::testing::FloatNear(0.002f), values(image)));
  }
  const auto transform = [](const Tensor& image, Random& random) {
    EXPECT_EQ(data::resize(image, 36).shape(), (Shape{3, 36, 45}));
    EXPECT_EQ(data::center_crop(image, 32, 32).shape(), (Shape{3, 32, 32}));
    EXPECT_EQ(data::random_horizontal_flip(image, random).shape(), image.shape());
    EXPECT_EQ(data::normalize(image, {0.5f}, {0.25f}).shape(), image.shape());
    return data::random_crop(image, 32, 32, 4, random);
  };
  data::ImageFolder pictures(root, {.transform = transform});
  EXPECT_EQ(pictures.get(0, random)[0].shape(), (Shape{3, 32, 32}));
}

TEST(Migrating, Checkpoints) {
  Random random(42);
  Deep model;
  std::vector<nn::Block> h;
  for (int i = 0; i < 2; ++i) h.emplace_back(nn::BlockConfig{.channels = 8, .heads = 2}, random);
  model.h = h;
  Deep gradient = like(model);
  clad::gradient(deep_loss, "model").execute(model, randn({1, 3, 8}, random), &gradient);
  EXPECT_GT(clip_grad_norm(gradient, 1.0), 0);
}

TEST(Migrating, Bfloat16) {
  GPT2 master(gpt2_preset("toy"));
  GPT2 rounded = master.to(DType::bfloat16);
  GPT2 gradient = like(rounded);
  const Tensor tokens = random_tokens({2, 9}, 65, 1), targets = random_tokens({2, 9}, 65, 2);
  AdamW optimizer(TensorList(rounded), TensorList(master), {.lr = 1e-2});
  const double before = loss_and_gradient(rounded, tokens, targets, &gradient);
  optimizer.step(gradient);
  EXPECT_LT(loss(rounded, tokens, targets), before);
}

TEST(Migrating, TrainingLoop) {
  const io::TemporaryFolder folder;
  const fs::path path = folder.write("input.txt", std::string(400, 'a') + "bcdefgh");
  const uint64_t seed = 1;
  data::Dataset text = data::open_dataset(path);
  data::Loader loader(text.train, {.batch = 4, .time = 64}, seed);
  data::Batch batch(loader.shape());
  const int64_t steps = 12, warmup = 2;
  const GPT2Config config = gpt2_preset("toy");
  std::vector<double> losses;
  {
    GPT2 model(config), gradient = like(model);
    AdamW optimizer(model, {.lr = 6e-4, .beta2 = 0.95, .weight_decay = 0.1});
    TensorList gradients(gradient);  // made once, so that a step allocates nothing
    const Schedule schedule{.kind = ScheduleKind::cosine, .peak = 6e-4, .minimum = 0, .warmup = warmup};
    Workspace workspace;  // memory for what a step computes
    for (int64_t step = 0; step < steps; ++step) {
      data::next(loader, batch);
      const Workspace::Step memory(workspace);
      const double loss = loss_and_gradient(model, batch.tokens, batch.targets, &gradient);
      clip_grad_norm(gradients, 1.0);
      optimizer.set_lr(schedule.at(step, steps));
      optimizer.step(gradients);  // and marks them zero
      losses.push_back(loss);
    }
  }
  EXPECT_LT(losses.back(), 0.9 * losses.front());
  GPT2 model(config), gradient = like(model), halves = like(model);
  const Tensor &tokens = batch.tokens, &targets = batch.targets;
  loss_and_gradient(model, tokens, targets, &gradient);
  zero_grad(gradient);
  const int n = 2;
  for (int i = 0; i < n; ++i) loss_and_gradient(model, tokens, targets, &gradient, 1.0 / n);
  loss_and_gradient(model, tokens, targets, &halves);
  EXPECT_NEAR(clip_grad_norm(gradient, 1e9), clip_grad_norm(halves, 1e9), 1e-5);
}

TEST(Migrating, HuggingFace) {
  const fs::path source = fs::path(CLADTORCH_HELLASWAG) / "gpt2";
  const io::TemporaryFolder temporary;
  const GPT2Config config = gpt2_preset("toy");
  auto fresh = as_language_model(GPT2(config));
  EXPECT_EQ(fresh->type(), "gpt2");
  fs::path folder = source;
  auto model = formats::load_model(folder);
  data::TokenizerPtr tokenizer = data::load_tokenizer(folder);
  const std::string text = "The fox";
  const std::vector<int32_t> tokens = tokenizer->encode(text);
  EXPECT_EQ(tokenizer->decode(tokens), text);
  EXPECT_TRUE(tokenizer->special_tokens().end_of_text.has_value());
  {
    const std::vector<int32_t>& ids = tokens;
    EXPECT_EQ(tokenizer->decode(ids), text);
  }
  const Tensor ids = from_values<int32_t>({1, static_cast<int64_t>(tokens.size())}, tokens);
  EXPECT_EQ(model->logits(ids).size(2), tokenizer->vocab_size());
  EXPECT_GT(train::evaluate_tokens(*model, ids).loss, 0);
  auto cache = model->make_cache(1);
  EXPECT_EQ(model->decode(ids, *cache).shape(), (Shape{1, tokenizer->vocab_size()}));
  EXPECT_FALSE(train::generate_text(*model, *tokenizer, "The fox", 20, {.temperature = 0.8}).empty());
  model->set_gradient_checkpointing(true);
  EXPECT_TRUE(model->gradient_checkpointing());

  folder = temporary.path();
  formats::save_model(*model, folder);
  const fs::path path = folder / "model.safetensors";
  io::SafetensorsFile file(path);
  const std::string name = "transformer.wte.weight";
  EXPECT_EQ(file.at(name).shape, io::SafetensorsFile(source / "model.safetensors").at(name).shape);
  train::EventFile events(folder, 0);
}

TEST(Migrating, Adapters) {
  const std::string base = (fs::path(CLADTORCH_HELLASWAG) / "gpt2").string();
  const io::TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  auto model = formats::load_model(base), other = formats::load_model(base);
  const uint64_t seed = 1;
  add_lora(model, {.rank = 4}, seed);
  formats::save_adapter(*model, {.rank = 4}, base, folder);
  EXPECT_TRUE(has_lora(*model));
  merge_lora(model);
  EXPECT_FALSE(has_lora(*model));
  model = std::move(other);
  formats::load_adapter(folder, model);
  EXPECT_TRUE(has_lora(*model));
}

}  // namespace

namespace own {

using testing::random_tokens;

TEST(Migrating, Gradients) {
  Random random(42);
  Classifier model(random), gradient = like(model);
  const Tensor x = randn({64, 2}, random), labels = random_tokens({64}, 3, 1);
  auto step = clad::value_and_gradient(loss, "model");
  const double before = step.execute(model, x, labels, &gradient);
  EXPECT_EQ(before, loss(model, x, labels));
  const std::vector<float> once = values(gradient.out.bias);
  step.execute(model, x, labels, &gradient);  // adds
  EXPECT_NEAR(values(gradient.out.bias)[0], 2 * once[0], 1e-6);
  zero_grad(gradient);
  EXPECT_EQ(loss_and_gradient(model, x, labels, &gradient), before);
  EXPECT_EQ(values(gradient.out.bias), once);
  EXPECT_GT(clip_grad_norm(gradient, 1.0), 0);
  AdamW optimizer(model, {.lr = 1e-3});
  optimizer.step(gradient);
  EXPECT_TRUE(gradient.out.bias.is_marked_zero());
  EXPECT_LT(loss(model, x, labels), before);
  SGD sgd(model, {.lr = 0.1, .momentum = 0.9});
  Adam adam(model, {.lr = 1e-3});
  RMSprop rmsprop(model, {.momentum = 0.9, .centered = true});
  rmsprop.set_lr(1e-4);
  Adagrad adagrad(model, {.lr = 0.01});
  Lion lion(model, {.lr = 1e-4});
  Adamax adamax(model, {.lr = 2e-3});
  NAdam nadam(model, {.lr = 2e-3});
  RAdam radam(model, {.lr = 1e-3});
  Muon muon(model, {.lr = 1e-3});
  for (Optimizer* other : std::initializer_list<Optimizer*>{&sgd, &adam, &rmsprop, &adagrad, &lion, &adamax,
                                                            &nadam, &radam, &muon}) {
    const double earlier = loss_and_gradient(model, x, labels, &gradient);
    other->step(gradient);
    EXPECT_LT(loss(model, x, labels), earlier) << other->name();
  }
}

TEST(Migrating, ClosuresOfLBFGS) {
  Random random(42);
  Classifier model(random), gradient = like(model);
  const Tensor x = randn({64, 2}, random), labels = random_tokens({64}, 3, 1);
  const auto closure = [&] { return loss_and_gradient(model, x, labels, &gradient); };
  LBFGS lbfgs(model, {.line_search_fn = LineSearch::strong_wolfe});
  const double before = lbfgs.step(gradient, closure);
  EXPECT_LT(loss(model, x, labels), before);
}

TEST(Migrating, SchedulesAndAverages) {
  Random random(42);
  Classifier model(random), gradient = like(model);
  const Tensor x = randn({64, 2}, random), labels = random_tokens({64}, 3, 1);
  Adam optimizer(model, {.lr = 1e-3});
  const int64_t step = 31;
  {
    const StepLR rates{.lr = 1e-3, .step_size = 30, .gamma = 0.1};
    optimizer.set_lr(rates.at(step));
    EXPECT_DOUBLE_EQ(optimizer.lr(), 1e-4);
  }
  {
    const ExponentialLR rates{.lr = 1e-3, .gamma = 0.95};
    EXPECT_DOUBLE_EQ(rates.at(step), 1e-3 * std::pow(0.95, 31));
  }
  {
    const MultiStepLR rates{.lr = 1e-3, .milestones = {30, 80}, .gamma = 0.1};
    EXPECT_DOUBLE_EQ(rates.at(step), 1e-4);
  }
  {
    const auto factor = [](int64_t step) { return step < 10 ? 1.0 : 0.5; };
    const LambdaLR rates{.lr = 1e-3, .lr_lambda = factor};
    EXPECT_DOUBLE_EQ(rates.at(step), 5e-4);
  }
  {
    const CosineAnnealingWarmRestarts rates{.lr = 1e-3, .T_0 = 10, .T_mult = 2};
    EXPECT_DOUBLE_EQ(rates.at(30), 1e-3);
  }
  {
    const CyclicLR rates{.base_lr = 1e-4, .max_lr = 1e-3};
    EXPECT_DOUBLE_EQ(rates.at(2000), 1e-3);
  }
  const OneCycleLR rates{.max_lr = 0.01, .total_steps = 1000};
  EXPECT_DOUBLE_EQ(rates.at(299), 0.01);
  ReduceLROnPlateau plateau{.patience = 2};
  const double loss = 1;
  for (int evaluation = 0; evaluation < 4; ++evaluation)
    optimizer.set_lr(plateau.update(loss, optimizer.lr()));
  EXPECT_DOUBLE_EQ(optimizer.lr(), 1e-5);

  AveragedModel average(model, 0.99);
  const float before = values(model.out.weight)[0];
  loss_and_gradient(model, x, labels, &gradient);
  optimizer.step(gradient);
  average.update_parameters();
  EXPECT_NEAR(values(average.module().out.weight)[0], 0.99 * before + 0.01 * values(model.out.weight)[0],
              1e-7);
}

}  // namespace own
}  // namespace cladtorch
