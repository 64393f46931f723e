#include "cladtorch/train/adamw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "io/temporary_folder.h"

namespace cladtorch {
namespace {

using io::error_of;
using testing::HasSubstr;

/// A matrix and a bias, and buffers for their gradients.
struct Fixture {
  explicit Fixture(int64_t rows = 3, DType dtype = DType::float64)
      : parameters(std::vector<NamedTensor>{{"weight", rand({rows, 5}, random, dtype)},
                                            {"bias", rand({7}, random, dtype)}}),
        gradients(std::vector<NamedTensor>{{"weight", gradient_buffer_like(parameters[0].tensor)},
                                           {"bias", gradient_buffer_like(parameters[1].tensor)}}) {}

  void draw_gradients() {
    for (size_t i = 0; i < gradients.size(); ++i) {
      Tensor& g = gradients[i].tensor;
      g.accumulate(randn(g.shape(), random, g.dtype()));
    }
  }

  ::cladtorch::Random random{7};
  TensorList parameters, gradients;
};

TEST(AdamW, FollowsTheFormulaOverSeveralSteps) {
  const AdamWOptions o{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3, .weight_decay = 0.5};
  const double gradient_scale = 0.5;
  for (size_t tensor = 0; tensor < 2; ++tensor) {
    const double decay = tensor == 0 ? o.weight_decay : 0.0;
    Fixture f;
    AdamW optimizer(f.parameters, o);
    const int64_t count = f.parameters[tensor].tensor.numel();
    const double* actual = f.parameters[tensor].tensor.data<double>();
    std::vector<double> p(actual, actual + count), m(p.size()), v(p.size());
    for (int step = 1; step <= 4; ++step) {
      f.draw_gradients();
      for (size_t i = 0; i < p.size(); ++i) {
        const double d = gradient_scale * f.gradients[tensor].tensor.data<double>()[i];
        p[i] -= o.lr * decay * p[i];
        m[i] = o.beta1 * m[i] + (1 - o.beta1) * d;
        v[i] = o.beta2 * v[i] + (1 - o.beta2) * d * d;
        const double m_hat = m[i] / (1 - std::pow(o.beta1, step));
        const double v_hat = v[i] / (1 - std::pow(o.beta2, step));
        p[i] -= o.lr * m_hat / (std::sqrt(v_hat) + o.eps);
      }
      optimizer.step(f.gradients, gradient_scale);
    }
    for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(actual[i], p[i], 1e-14) << tensor << " " << i;
  }
}

TEST(AdamW, MovesByTheLearningRateAgainstTheSignInTheFirstStep) {
  Fixture f;
  AdamW optimizer(f.parameters, {.lr = 0.25, .eps = 1e-300, .weight_decay = 0});
  const double before = f.parameters[1].tensor.data<double>()[0];
  f.draw_gradients();
  const double sign = f.gradients[1].tensor.data<double>()[0] > 0 ? 1 : -1;
  optimizer.step(f.gradients);
  EXPECT_NEAR(f.parameters[1].tensor.data<double>()[0], before - 0.25 * sign, 1e-12);
}

TEST(AdamW, DecaysMatricesOnlyAndTakesAMarkedGradientForZero) {
  Fixture f;
  const double weight = f.parameters[0].tensor.data<double>()[4],
               bias = f.parameters[1].tensor.data<double>()[4];
  AdamW optimizer(f.parameters, {.lr = 0.1, .weight_decay = 0.5});
  optimizer.step(f.gradients);
  EXPECT_DOUBLE_EQ(f.parameters[0].tensor.data<double>()[4], weight * 0.95);
  EXPECT_EQ(f.parameters[1].tensor.data<double>()[4], bias);
}

TEST(AdamW, MarksTheGradientsZeroAfterwards) {
  Fixture f;
  AdamW optimizer(f.parameters, {});
  f.draw_gradients();
  EXPECT_FALSE(f.gradients[0].tensor.is_marked_zero());
  optimizer.step(f.gradients);
  EXPECT_TRUE(f.gradients[0].tensor.is_marked_zero());
  EXPECT_TRUE(f.gradients[1].tensor.is_marked_zero());
}

TEST(AdamW, WritesTheMomentsInTheFirstStepWithTheBitsOfWrittenZeros) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    Fixture lazy(40, dtype), written(40, dtype);
    AdamW lazy_optimizer(lazy.parameters, {}), optimizer(written.parameters, {});
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(lazy_optimizer.first_moments()[i].tensor.is_marked_zero());
      for (TensorList* moments : {&optimizer.first_moments(), &optimizer.second_moments()})
        (*moments)[i].tensor.data();
      EXPECT_FALSE(optimizer.first_moments()[i].tensor.is_marked_zero());
    }
    for (int step = 0; step < 2; ++step) {
      lazy.draw_gradients();
      written.draw_gradients();
      lazy_optimizer.step(lazy.gradients);
      optimizer.step(written.gradients);
    }
    for (size_t i = 0; i < 2; ++i) {
      const Tensor a = lazy.parameters[i].tensor.to(DType::float64),
                   b = written.parameters[i].tensor.to(DType::float64);
      for (int64_t j = 0; j < a.numel(); ++j) EXPECT_EQ(a.data<double>()[j], b.data<double>()[j]);
    }
  }
}

/// What a step does to bfloat16 parameters and their masters is what it does to float32 ones.
TEST(AdamW, UpdatesFloat32MastersOfBfloat16ParametersAndRoundsThem) {
  for (const int64_t rows : {1, 3, 7, 51, 250'000}) {
    Fixture wide(rows, DType::float32);
    std::vector<NamedTensor> rounded;
    for (const NamedTensor& p : wide.parameters)
      rounded.push_back({p.name, empty(p.tensor.shape(), DType::bfloat16)});
    std::vector<NamedTensor> masters;
    for (const NamedTensor& p : wide.parameters) masters.push_back({p.name, p.tensor.clone()});
    AdamW plain(wide.parameters, {.lr = 1e-4});
    AdamW optimizer{TensorList(rounded), TensorList(masters), {.lr = 1e-4}};
    for (int step = 0; step < 3; ++step) {
      wide.draw_gradients();
      std::vector<NamedTensor> gradients;
      for (size_t i = 0; i < 2; ++i) {
        gradients.push_back({"g", gradient_buffer_like(rounded[i].tensor)});
        gradients[i].tensor.copy_from(wide.gradients[i].tensor);
      }
      TensorList list(gradients);
      optimizer.step(list);
      plain.step(wide.gradients);
    }
    for (size_t i = 0; i < 2; ++i) {
      const float *const expected = wide.parameters[i].tensor.data<float>(), *const master =
                                                                                 optimizer.masters()[i]
                                                                                     .tensor.data<float>();
      const bfloat16* const copy = rounded[i].tensor.data<bfloat16>();
      for (int64_t j = 0; j < rounded[i].tensor.numel(); ++j) {
        ASSERT_EQ(master[j], expected[j]);
        ASSERT_EQ(copy[j].bits, bfloat16(expected[j]).bits);
      }
    }
  }
}

TEST(AdamW, AddsUpStepsThatAreSmallerThanADigitOfBfloat16) {
  Tensor parameter = ones({8}, DType::bfloat16), gradient = gradient_buffer_like(parameter);
  AdamW optimizer{TensorList(std::vector<NamedTensor>{{"p", parameter}}), {.lr = 1e-3}};
  TensorList gradients{std::vector<NamedTensor>{{"p", gradient}}};
  for (int step = 0; step < 10; ++step) {
    gradient.accumulate(ones({8}, DType::bfloat16));
    optimizer.step(gradients);
  }
  EXPECT_NEAR(optimizer.masters()[0].tensor.data<float>()[3], 0.99, 1e-5);
  EXPECT_EQ(static_cast<float>(parameter.data<bfloat16>()[3]), static_cast<float>(bfloat16(0.99f)));
}

TEST(AdamW, NamesTheMasterThatDoesNotFit) {
  const auto list = [](const Tensor& t) { return TensorList(std::vector<NamedTensor>{{"p", t}}); };
  EXPECT_THAT(error_of<Error>([&] { AdamW(list(zeros({2}, DType::bfloat16)), list(zeros({3})), {}); }),
              HasSubstr("AdamW: parameter 'p' is [2] bfloat16, its master [3] float32"));
  EXPECT_THAT(error_of<Error>([&] { AdamW(list(zeros({2})), list(zeros({2})), {}); }),
              HasSubstr("must be its own master"));
}

TEST(AdamW, NamesTheGradientThatDoesNotFit) {
  Fixture f, other(4);
  AdamW optimizer(f.parameters, {});
  EXPECT_THAT(error_of<Error>([&] { optimizer.step(other.gradients); }), HasSubstr("'weight' is [3,5]"));
}

TEST(ClipGradNorm, ScalesToTheLargestNormAndLeavesSmallerOnes) {
  Fixture f(250'000);  // several pieces, the last one shorter
  f.draw_gradients();
  double sum = 0;
  for (const NamedTensor& g : f.gradients) {
    for (int64_t i = 0; i < g.tensor.numel(); ++i) sum += std::pow(g.tensor.data<double>()[i], 2);
  }
  EXPECT_NEAR(clip_grad_norm(f.gradients, 0.5), std::sqrt(sum), 1e-9);
  EXPECT_NEAR(f.gradients.norm(), 0.5, 1e-12);
  const double value = f.gradients[0].tensor.data<double>()[3];
  EXPECT_NEAR(clip_grad_norm(f.gradients, 0.6), 0.5, 1e-12);
  EXPECT_EQ(f.gradients[0].tensor.data<double>()[3], value);
}

TEST(ClipGradNorm, HasTheSameBitsOnAnyNumberOfThreads) {
  Fixture f(250'000, DType::float32);
  f.draw_gradients();
  const int threads = num_threads();
  set_num_threads(1);
  const double one = f.gradients.norm();
  for (const int n : {2, 3, 8}) {
    set_num_threads(n);
    EXPECT_EQ(f.gradients.norm(), one) << n;
  }
  set_num_threads(threads);
}

TEST(AdamW, GivesTheSameInFloatUpToRoundingAtAnyLengthOfATensor) {
  const AdamWOptions options{.lr = 0.01, .weight_decay = 0.3};
  for (const int64_t rows : {1, 3, 7, 13, 51}) {
    Fixture exact(rows), single(rows, DType::float32);
    AdamW exact_optimizer(exact.parameters, options), optimizer(single.parameters, options);
    for (int step = 0; step < 3; ++step) {
      exact.draw_gradients();
      single.draw_gradients();
      exact_optimizer.step(exact.gradients);
      optimizer.step(single.gradients);
    }
    for (int64_t i = 0; i < 5 * rows; ++i) {
      const double expected = exact.parameters[0].tensor.data<double>()[i];
      EXPECT_NEAR(single.parameters[0].tensor.data<float>()[i], expected, 1e-5) << rows << " " << i;
    }
  }
}

TEST(ClipGradNorm, ShowsNotANumber) {
  Fixture f;
  f.draw_gradients();
  f.gradients[1].tensor.data<double>()[2] = NAN;
  EXPECT_TRUE(std::isnan(clip_grad_norm(f.gradients, 1.0)));
}

TEST(TensorList, ReadsForTheNormWhatNoOperationSummed) {
  Fixture fixture(3, DType::float32);
  TensorList& gradients = fixture.gradients;
  gradients.prepare_norm();
  fixture.draw_gradients();
  double expected = 0;
  for (const NamedTensor& g : gradients)
    for (int64_t i = 0; i < g.tensor.numel(); ++i)
      expected +=
          static_cast<double>(g.tensor.data<float>()[i]) * static_cast<double>(g.tensor.data<float>()[i]);
  EXPECT_NEAR(gradients.norm(), std::sqrt(expected), 1e-12);

  gradients.prepare_norm();
  gradients.mark_zero();
  *accumulate_into(&gradients[1].tensor, gradients[1].tensor.shape(), DType::float32).squares() = 9;
  EXPECT_EQ(gradients.norm(), 3);
  EXPECT_NE(gradients.norm(), 3) << "what operations told is used once";
}

TEST(TensorList, RefusesWhatAnOptimizerCannotUpdate) {
  EXPECT_THAT(error_of<Error>([] { TensorList list(std::vector<NamedTensor>{{"ids", arange(3)}}); }),
              HasSubstr("'ids' is int32"));
  EXPECT_THAT(error_of<Error>(
                  [] { TensorList list(std::vector<NamedTensor>{{"t", zeros({2, 3}).transpose(0, 1)}}); }),
              HasSubstr("strided"));
  EXPECT_THAT(error_of<Error>([] { TensorList list(std::vector<NamedTensor>{}); }),
              HasSubstr("no parameters"));
}

}  // namespace
}  // namespace cladtorch
