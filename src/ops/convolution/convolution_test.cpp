// Convolutions, pooling and normalization of channels: values by their definitions, threads, errors. The
// catalogue (tests/ops/images.cpp) has their gradients.
#include "cladtorch/ops/convolution.h"

#include "cladtorch/ops/along.h"
#include "cladtorch/ops/batch_norm.h"
#include "cladtorch/ops/pooling.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/parallel.h"
#include "tests/support/gradcheck.h"
#include "tests/support/same_bits.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::error_of;

Tensor normal(const Shape& shape, uint64_t seed, DType dtype = DType::float64) {
  Random random(seed);
  return randn(shape, random, dtype);
}

/// By the definition.
Tensor convolved(const Tensor& x, const Tensor& weight, int64_t stride, int64_t padding, int64_t dilation,
                 int64_t groups) {
  const int64_t in = weight.size(1), kernel = weight.size(2), per_group = weight.size(0) / groups;
  const int64_t high = (x.size(2) + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1,
                wide = (x.size(3) + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  Tensor y = zeros({x.size(0), weight.size(0), high, wide}, DType::float64);
  double* to = y.data<double>();
  for (int64_t n = 0; n < x.size(0); ++n)
    for (int64_t o = 0; o < weight.size(0); ++o)
      for (int64_t i = 0; i < high; ++i)
        for (int64_t j = 0; j < wide; ++j, ++to)
          for (int64_t c = 0; c < in; ++c)
            for (int64_t k = 0; k < kernel * kernel; ++k) {
              const int64_t row = i * stride - padding + k / kernel * dilation,
                            column = j * stride - padding + k % kernel * dilation;
              if (row < 0 || row >= x.size(2) || column < 0 || column >= x.size(3)) continue;
              const int64_t channel = o / per_group * in + c;
              *to += x.data<double>()[((n * x.size(1) + channel) * x.size(2) + row) * x.size(3) + column] *
                     weight.data<double>()[((o * in + c) * kernel + k / kernel) * kernel + k % kernel];
            }
  return y;
}

TEST(Convolution, IsTheSumThatDefinesIt) {
  for (const int64_t channels : {4, 24, 80})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t padding : {0, 1, 3})
        for (const int64_t dilation : {1, 2})
          for (const int64_t groups : {1, 4}) {
            const Tensor x = normal({2, channels, 9, 11}, 1),
                         weight = normal({2 * channels, channels / groups, 3, 3}, 2);
            const Tensor expected = convolved(x, weight, stride, padding, dilation, groups);
            const ConvOptions options{
                .stride = stride, .padding = padding, .dilation = dilation, .groups = groups};
            EXPECT_LT(testing::relative_difference(conv2d(x, weight, {}, options), expected), 1e-13);
            const Tensor narrow = conv2d(x.to(DType::float32), weight.to(DType::float32), {}, options);
            EXPECT_LT(testing::relative_difference(narrow, expected), 1e-6)
                << channels << ' ' << stride << ' ' << groups;
          }
}

TEST(Convolution, FloatBitsDoNotDependOnThreads) {
  const int before = num_threads();
  const Tensor x = normal({5, 20, 13, 17}, 1, DType::float32),
               weight = normal({70, 10, 3, 3}, 2, DType::float32), bias = normal({70}, 3, DType::float32),
               d_y = normal({5, 70, 7, 9}, 4, DType::float32);
  const ConvOptions options{.stride = 2, .padding = 1, .groups = 2};
  std::vector<Tensor> expected;
  for (const int threads : {1, 2, 3, 16}) {
    set_num_threads(threads);
    Tensor d_x, d_weight, d_bias;
    pullbacks::conv2d_pullback(x, weight, bias, options, d_y, &d_x, &d_weight, &d_bias);
    const std::vector<Tensor> got{conv2d(x, weight, bias, options), d_x, d_weight, d_bias};
    if (expected.empty()) expected = got;
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(testing::same_bits(got[i], expected[i])) << threads << ' ' << i;
  }
  set_num_threads(before);
}

/// Whatever images are taken together.
TEST(Convolution, TheGradientOfABatchIsTheSumOfThoseOfItsImages) {
  for (const int64_t groups : {1, 2, 12}) {
    const Tensor x = normal({70, 12, 5, 4}, 1), weight = normal({24, 12 / groups, 3, 3}, 2),
                 d_y = normal({70, 24, 5, 4}, 3);
    const ConvOptions options{.padding = 1, .groups = groups};
    Tensor d_x, d_weight, expected_x, expected_weight;
    pullbacks::conv2d_pullback(x, weight, {}, options, d_y, &d_x, &d_weight, nullptr);
    std::vector<Tensor> of_images;
    for (int64_t n = 0; n < x.size(0); ++n) {
      Tensor d_image;
      pullbacks::conv2d_pullback(x.narrow(0, n, 1), weight, {}, options, d_y.narrow(0, n, 1), &d_image,
                                 &expected_weight, nullptr);
      of_images.push_back(d_image);
    }
    EXPECT_LT(testing::relative_difference(d_x, cat(of_images)), 1e-13) << groups;
    EXPECT_LT(testing::relative_difference(d_weight, expected_weight), 1e-13) << groups;
  }
}

/// At a stride of 3 a kernel of one element meets each third place; the parts of the gradient at the others
/// have no taps.
TEST(Convolution, GivesNothingToPlacesThatNoTapMeets) {
  for (const int64_t channels : {1, 8, 70}) {
    const Tensor x = normal({2, channels, 1, 700}, 1), weight = normal({channels, channels, 1, 1}, 2);
    const ConvOptions options{.stride = 3, .dilation = 2};
    const Tensor y = conv2d(x, weight, {}, options), d_y = normal(y.shape(), 3);
    Tensor d_x;
    pullbacks::conv2d_pullback(x, weight, {}, options, d_y, &d_x, nullptr, nullptr);
    EXPECT_NEAR(testing::dot(y, d_y), testing::dot(x, d_x), 1e-12 * testing::absolute_dot(x, d_x));
    for (int64_t column = 0; column < 700; ++column)
      EXPECT_EQ(testing::absolute_dot(d_x.select(3, column), d_x.select(3, column)) == 0, column % 3 != 0);
  }
}

TEST(Convolution, TakesImagesWithoutABatch) {
  const Tensor x = normal({1, 3, 6, 5}, 1), weight = normal({4, 3, 2, 2}, 2),
               turned = normal({3, 4, 2, 2}, 3);
  EXPECT_TRUE(testing::same_bits(conv2d(x.select(0, 0), weight), conv2d(x, weight).select(0, 0)));
  EXPECT_TRUE(
      testing::same_bits(conv_transpose2d(x.select(0, 0), turned), conv_transpose2d(x, turned).select(0, 0)));
  EXPECT_TRUE(testing::same_bits(max_pool2d(x.select(0, 0), 2), max_pool2d(x, 2).select(0, 0)));
}

TEST(Convolution, ErrorsNameWhatDoesNotFit) {
  const Tensor x = zeros({2, 3, 8, 8}), weight = zeros({4, 3, 3, 3});
  EXPECT_EQ(error_of([&] { conv2d(x, zeros({4, 2, 3, 3})); }),
            "conv2d: expected x [N, 2, ...] for weight [4,2,3,3] and 1 group, got [2,3,8,8]");
  EXPECT_EQ(error_of([&] { conv2d(x, weight, zeros({5})); }),
            "conv2d: expected bias [4] of float32, got [5] of float32");
  EXPECT_EQ(error_of([&] { conv2d(x, zeros({4, 3, 9, 3})); }),
            "conv2d: a kernel that reaches over 9 elements does not fit into 8 with padding 0: x is "
            "[2,3,8,8], weight is "
            "[4,3,9,3]");
  EXPECT_EQ(error_of([&] { conv2d(x, weight, {}, {.stride = 0}); }),
            "conv2d: expected stride of 1 or more, got 0");
  EXPECT_EQ(error_of([&] { conv2d(x, weight, {}, {.stride = {1, 2, 3}}); }),
            "conv2d: expected one stride or 2, got 3");
  EXPECT_EQ(error_of([&] { conv2d(x, weight, {}, {.groups = 3}); }),
            "conv2d: 4 channels cannot be divided into 3 groups");
  EXPECT_EQ(error_of([&] { conv1d(x, weight); }),
            "conv1d: expected x of rank 3 or 2 and a weight of rank 3: x is [2,3,8,8], weight is [4,3,3,3]");
  EXPECT_EQ(error_of([&] { conv2d(x, weight.to(DType::float64)); }),
            "conv2d: dtypes differ: a is float32, b is float64; convert with to()");
  EXPECT_EQ(error_of([&] { conv_transpose2d(x, zeros({3, 4, 2, 2}), {}, {.output_padding = 1}); }),
            "conv_transpose2d: expected output_padding below the stride 1 or the dilation 1, got 1");
  EXPECT_EQ(error_of([&] { max_pool2d(x, 3, {.padding = 2}); }),
            "max_pool2d: expected padding of at most half the window of 3, got 2");
  EXPECT_EQ(error_of([&] { avg_pool2d(x, 9); }),
            "avg_pool2d: a window of 9 does not fit into 8 elements with padding 0: x is [2,3,8,8]");
  EXPECT_EQ(error_of([&] { max_pool2d(zeros({3}), 2); }), "max_pool2d: expected rank 4 or 3, got shape [3]");
  EXPECT_EQ(error_of([&] { interpolate(x, {0, 4}); }), "interpolate: cannot make 0 places of x [2,3,8,8]");
  EXPECT_EQ(error_of([&] { group_norm(x, 2, {}, {}); }),
            "group_norm: 3 channels cannot be divided into 2 groups");
  EXPECT_EQ(error_of([&] { batch_norm(x, {}, {}, {}, {}, false); }),
            "batch_norm: expected a running mean and a running variance");
  EXPECT_EQ(error_of([&] { batch_norm(zeros({1, 3}), {}, {}, {}, {}, true); }),
            "batch_norm: expected more than one value for each channel while training, got x [1,3]");
}

TEST(MaxPool, GivesTheDerivativeToTheFirstOfEqualOnesAndPassesNaN) {
  const Tensor x = from_values<float>({1, 2, 2}, {3, 1, 3, 2});
  clad::pullback_state<MaxPoolState> state;
  Tensor d;
  pullbacks::max_pool2d_reverse_forw(x, 2, {}, state);
  pullbacks::max_pool2d_pullback({}, 2, {}, ones({1, 1, 1}), &d, state);
  EXPECT_TRUE(testing::same_bits(d, from_values<float>({1, 2, 2}, {1, 0, 0, 0})));
  EXPECT_TRUE(std::isnan(max_pool2d(from_values<float>({1, 2, 2}, {3, NAN, 4, 2}), 2).item()));
}

TEST(BatchNorm, MovesItsRunningStatisticsByTheMomentum) {
  const Tensor x = from_values<float>({2, 1, 2}, {1, 2, 3, 6});
  Tensor mean = zeros({1}), variance = ones({1});
  batch_norm(x, mean, variance, {}, {}, true, 0.25);
  EXPECT_FLOAT_EQ(static_cast<float>(mean.item()), 0.75f);
  EXPECT_FLOAT_EQ(static_cast<float>(variance.item()), 0.75f + 0.25f * 14 / 3);
  const Tensor y = batch_norm(x, mean, variance, {}, {}, false);
  EXPECT_NEAR(sum(y).item(), (12 - 4 * 0.75) / std::sqrt(variance.item() + 1e-5), 1e-5);
}

}  // namespace
}  // namespace cladtorch
