#include "cladtorch/train/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/adagrad.h"
#include "cladtorch/train/adam.h"
#include "cladtorch/train/adamax.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/allocation_counter.h"
#include "cladtorch/train/lion.h"
#include "cladtorch/train/muon.h"
#include "cladtorch/train/nadam.h"
#include "cladtorch/train/radam.h"
#include "cladtorch/train/rmsprop.h"
#include "cladtorch/train/sgd.h"
#include "io/temporary_folder.h"
#include "train/step/make_optimizer.h"

namespace cladtorch {
namespace {

using io::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using Matrix = std::vector<std::vector<double>>;

std::vector<NamedTensor> parameters_of(DType dtype = DType::float64) {
  Random random(7);
  return {{"wte.weight", rand({9, 4}, random, dtype)},
          {"h.0.wide.weight", rand({3, 8}, random, dtype)},
          {"h.0.wide.bias", rand({3}, random, dtype)},
          {"h.0.tall.weight", rand({300, 40}, random, dtype)},
          {"h.0.square.weight", rand({5, 5}, random, dtype)}};
}

/// Copies that are not shared with the list.
std::vector<NamedTensor> clones(const std::vector<NamedTensor>& list) {
  std::vector<NamedTensor> copies;
  for (const NamedTensor& named : list) copies.push_back({named.name, named.tensor.clone()});
  return copies;
}

TensorList buffers_of(const TensorList& masters) {
  std::vector<NamedTensor> list;
  for (const NamedTensor& named : masters) list.push_back({named.name, gradient_buffer_like(named.tensor)});
  return TensorList(std::move(list));
}

void draw(TensorList& gradients, uint64_t seed) {
  Random random(seed);
  for (NamedTensor& named : gradients)
    named.tensor.accumulate(randn(named.tensor.shape(), random, named.tensor.dtype()));
}

std::vector<double> values_of(const Tensor& tensor) {
  const Tensor wide = tensor.to(DType::float64);
  return {wide.data<double>(), wide.data<double>() + wide.numel()};
}

Matrix matrix_of(const Tensor& tensor) {
  const std::vector<double> flat = values_of(tensor);
  Matrix m(static_cast<size_t>(tensor.size(0)), std::vector<double>(static_cast<size_t>(tensor.size(1))));
  for (size_t i = 0; i < m.size(); ++i)
    for (size_t j = 0; j < m[0].size(); ++j) m[i][j] = flat[i * m[0].size() + j];
  return m;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<double>(b[0].size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < b.size(); ++k)
      for (size_t j = 0; j < b[0].size(); ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix t(a[0].size(), std::vector<double>(a.size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[0].size(); ++j) t[j][i] = a[i][j];
  return t;
}

/// X X^T X is what the iteration is made of, on whichever side it is written.
Matrix made_orthogonal(Matrix x, int64_t iterations) {
  double squares = 0;
  for (const auto& row : x)
    for (double value : row) squares += value * value;
  for (auto& row : x)
    for (double& value : row) value /= std::sqrt(squares) + 1e-7;
  for (int64_t i = 0; i < iterations; ++i) {
    const Matrix gram = product(x, transposed(x)), once = product(gram, x), twice = product(gram, once);
    for (size_t r = 0; r < x.size(); ++r)
      for (size_t c = 0; c < x[0].size(); ++c)
        x[r][c] = 3.4445 * x[r][c] - 4.7750 * once[r][c] + 2.0315 * twice[r][c];
  }
  return x;
}

using Kept = std::array<double, 3>;  // for one number

/// Some steps of a matrix, which decays, and of a vector. `update` is the formula for one number p with the
/// gradient g, to which the decay is not added yet.
template <class Kind, class Options, class Update>
void expect_formula(const Options& options, Update update) {
  for (const size_t tensor : {size_t{1}, size_t{2}}) {
    const TensorList parameters(parameters_of());
    Kind optimizer(parameters, options);
    TensorList gradients = buffers_of(parameters);
    SCOPED_TRACE(parameters[tensor].name);
    std::vector<double> p = values_of(parameters[tensor].tensor);
    std::vector<Kept> kept(p.size());
    for (uint64_t step = 1; step <= 8; ++step) {
      draw(gradients, step);
      const std::vector<double> g = values_of(gradients[tensor].tensor);
      for (size_t i = 0; i < p.size(); ++i)
        update(p[i], 0.5 * g[i], tensor == 1 ? options.weight_decay : 0.0, kept[i], step);
      optimizer.step(gradients, 0.5);
    }
    EXPECT_THAT(values_of(parameters[tensor].tensor), testing::Pointwise(testing::DoubleNear(1e-13), p));
  }
}

std::vector<std::string> names_of_state(const Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const OptimizerState& part : optimizer.state()) names.push_back(part.name);
  return names;
}

TEST(SGD, FollowsTheFormulaOverSeveralSteps) {
  for (const double momentum : {0.0, 0.9})
    for (const bool nesterov : {false, true})
      expect_formula<SGD>(
          SGDOptions{.lr = 0.1, .momentum = momentum, .nesterov = nesterov, .weight_decay = 0.3},
          [&](double& p, double g, double decay, Kept& b, uint64_t) {
            g += decay * p;
            b[0] = momentum * b[0] + g;
            p -= 0.1 * (nesterov ? g + momentum * b[0] : b[0]);
          });
}

TEST(Adam, FollowsTheFormulaOverSeveralSteps) {
  const AdamOptions o{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3, .weight_decay = 0.5};
  expect_formula<Adam>(o, [&](double& p, double g, double decay, Kept& m, uint64_t step) {
    g += decay * p;
    m[0] = o.beta1 * m[0] + (1 - o.beta1) * g;
    m[1] = o.beta2 * m[1] + (1 - o.beta2) * g * g;
    const auto t = static_cast<double>(step);
    const double mean = m[0] / (1 - std::pow(o.beta1, t)), square = m[1] / (1 - std::pow(o.beta2, t));
    p -= o.lr * mean / (std::sqrt(square) + o.eps);
  });
}

TEST(RMSprop, FollowsTheFormulaOverSeveralSteps) {
  for (const double momentum : {0.0, 0.7})
    for (const bool centered : {false, true}) {
      const RMSpropOptions o{.lr = 0.01,
                             .alpha = 0.9,
                             .eps = 1e-3,
                             .weight_decay = 0.5,
                             .momentum = momentum,
                             .centered = centered};
      expect_formula<RMSprop>(o, [&](double& p, double g, double decay, Kept& k, uint64_t) {
        g += decay * p;
        k[0] = o.alpha * k[0] + (1 - o.alpha) * g * g;
        k[1] = o.alpha * k[1] + (1 - o.alpha) * g;
        const double length = std::sqrt(centered ? k[0] - k[1] * k[1] : k[0]) + o.eps;
        k[2] = momentum * k[2] + g / length;
        p -= o.lr * k[2];
      });
    }
}

TEST(RMSprop, KeepsOnlyWhatItsOptionsNeed) {
  const TensorList parameters(parameters_of(DType::float32));
  const auto names = [&](double momentum, bool centered) {
    return names_of_state(RMSprop(parameters, {.momentum = momentum, .centered = centered}));
  };
  EXPECT_THAT(names(0, false), ElementsAre("square_avg"));
  EXPECT_THAT(names(0.9, false), ElementsAre("square_avg", "momentum_buffer"));
  EXPECT_THAT(names(0, true), ElementsAre("square_avg", "grad_avg"));
  EXPECT_THAT(names(0.9, true), ElementsAre("square_avg", "momentum_buffer", "grad_avg"));
}

TEST(RMSprop, TakesNoRootOfAVarianceThatRoundingMadeNegative) {
  const TensorList parameters(std::vector<NamedTensor>{{"p", zeros({1000})}});
  RMSprop optimizer(parameters, {.lr = 1e-6, .alpha = 0.5, .centered = true});
  TensorList gradients = buffers_of(parameters);
  Random random(3);
  const Tensor constant = randn({1000}, random);
  for (int step = 0; step < 100; ++step) {
    gradients[0].tensor.accumulate(constant);
    optimizer.step(gradients);
  }
  for (const double value : values_of(parameters[0].tensor)) EXPECT_TRUE(std::isfinite(value));
}

TEST(Adagrad, FollowsTheFormulaOverSeveralSteps) {
  for (const double initial : {0.0, 0.3}) {
    const AdagradOptions o{
        .lr = 0.1, .lr_decay = 0.2, .weight_decay = 0.5, .initial_accumulator_value = initial, .eps = 1e-3};
    expect_formula<Adagrad>(o, [&](double& p, double g, double decay, Kept& sum, uint64_t step) {
      if (step == 1) sum[0] = initial;
      g += decay * p;
      sum[0] += g * g;
      p -= o.lr / (1 + (static_cast<double>(step) - 1) * o.lr_decay) * g / (std::sqrt(sum[0]) + o.eps);
    });
  }
}

TEST(Adamax, FollowsTheFormulaOverSeveralSteps) {
  const AdamaxOptions o{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3, .weight_decay = 0.5};
  expect_formula<Adamax>(o, [&](double& p, double g, double decay, Kept& k, uint64_t step) {
    g += decay * p;
    k[0] = o.beta1 * k[0] + (1 - o.beta1) * g;
    k[1] = std::max(o.beta2 * k[1], std::abs(g) + o.eps);
    p -= o.lr / (1 - std::pow(o.beta1, static_cast<double>(step))) * k[0] / k[1];
  });
}

TEST(NAdam, FollowsTheFormulaOverSeveralSteps) {
  const NAdamOptions o{
      .lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3, .weight_decay = 0.5, .momentum_decay = 0.3};
  expect_formula<NAdam>(o, [&](double& p, double g, double decay, Kept& k, uint64_t step) {
    const auto mu = [&](uint64_t t) {
      return o.beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * o.momentum_decay));
    };
    g += decay * p;
    k[0] = o.beta1 * k[0] + (1 - o.beta1) * g;
    k[1] = o.beta2 * k[1] + (1 - o.beta2) * g * g;
    k[2] = (step == 1 ? 1 : k[2]) * mu(step);
    const double mean = mu(step + 1) * k[0] / (1 - k[2] * mu(step + 1)) + (1 - mu(step)) * g / (1 - k[2]);
    p -= o.lr * mean / (std::sqrt(k[1] / (1 - std::pow(o.beta2, static_cast<double>(step)))) + o.eps);
  });
}

/// The mean square begins to count with the sixth step.
TEST(RAdam, FollowsTheFormulaOverSeveralSteps) {
  for (const double beta2 : {0.999, 0.9}) {
    const RAdamOptions o{.lr = 0.01, .beta1 = 0.8, .beta2 = beta2, .eps = 1e-3, .weight_decay = 0.5};
    int rectified = 0;
    expect_formula<RAdam>(o, [&](double& p, double g, double decay, Kept& k, uint64_t step) {
      g += decay * p;
      k[0] = o.beta1 * k[0] + (1 - o.beta1) * g;
      k[1] = o.beta2 * k[1] + (1 - o.beta2) * g * g;
      const auto t = static_cast<double>(step);
      const double most = 2 / (1 - beta2) - 1, bias = 1 - std::pow(beta2, t);
      const double seen = most - 2 * t * std::pow(beta2, t) / bias, mean = k[0] / (1 - std::pow(o.beta1, t));
      if (seen > 5) {
        const double share = std::sqrt((seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen));
        p -= o.lr * share * mean * std::sqrt(bias) / (std::sqrt(k[1]) + o.eps);
        ++rectified;
      } else {
        p -= o.lr * mean;
      }
    });
    EXPECT_GT(rectified, 0);
  }
}

TEST(Lion, FollowsTheFormulaOverSeveralSteps) {
  const LionOptions o{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.5};
  expect_formula<Lion>(o, [&](double& p, double g, double decay, Kept& m, uint64_t) {
    p -= o.lr * (std::copysign(1.0, o.beta1 * m[0] + (1 - o.beta1) * g) + decay * p);
    m[0] = o.beta2 * m[0] + (1 - o.beta2) * g;
  });
}

TEST(Lion, StaysWhereNothingPulls) {
  const TensorList parameters(std::vector<NamedTensor>{{"p", ones({5})}});
  Lion optimizer(parameters, {});
  TensorList gradients = buffers_of(parameters);
  optimizer.step(gradients);
  EXPECT_THAT(values_of(parameters[0].tensor), testing::Each(1.0));
}

TEST(SGD, KeepsNothingWithoutMomentum) {
  const TensorList parameters(parameters_of(DType::float32));
  EXPECT_EQ(SGD(parameters, {.momentum = 0}).bytes(), 0u);
  EXPECT_EQ(SGD(parameters, {}).bytes(), static_cast<size_t>(parameters.numel()) * sizeof(float));
}

TEST(Muon, FollowsTheFormulaForMatricesOfEachForm) {
  for (const bool nesterov : {false, true}) {
    const MuonOptions o{.lr = 0.1, .momentum = 0.8, .nesterov = nesterov, .weight_decay = 0.2};
    const TensorList parameters(parameters_of());
    Muon optimizer(parameters, o);
    TensorList gradients = buffers_of(parameters);
    std::vector<Matrix> p, b;
    for (const size_t i : optimizer.matrices()) {
      p.push_back(matrix_of(parameters[i].tensor));
      b.emplace_back(p.back().size(), std::vector<double>(p.back()[0].size()));
    }
    for (uint64_t step = 0; step < 2; ++step) {
      draw(gradients, step);
      for (size_t k = 0; k < p.size(); ++k) {
        Matrix u = matrix_of(gradients[optimizer.matrices()[k]].tensor);
        for (size_t r = 0; r < u.size(); ++r)
          for (size_t c = 0; c < u[0].size(); ++c) {
            const double g = 0.5 * u[r][c];
            b[k][r][c] = o.momentum * b[k][r][c] + (1 - o.momentum) * g;
            u[r][c] = nesterov ? (1 - o.momentum) * g + o.momentum * b[k][r][c] : b[k][r][c];
          }
        const Matrix x = made_orthogonal(u, o.iterations);
        const double size = 0.2 * std::sqrt(static_cast<double>(std::max(u.size(), u[0].size())));
        for (size_t r = 0; r < u.size(); ++r)
          for (size_t c = 0; c < u[0].size(); ++c)
            p[k][r][c] = (1 - o.lr * o.weight_decay) * p[k][r][c] - o.lr * size * x[r][c];
      }
      optimizer.step(gradients, 0.5);
    }
    for (size_t k = 0; k < p.size(); ++k) {
      SCOPED_TRACE(parameters[optimizer.matrices()[k]].name);
      const Matrix actual = matrix_of(parameters[optimizer.matrices()[k]].tensor);
      for (size_t r = 0; r < p[k].size(); ++r)
        EXPECT_THAT(actual[r], testing::Pointwise(testing::DoubleNear(1e-11), p[k][r]));
    }
  }
}

TEST(Muon, StepsHaveSingularValuesNearOne) {
  Random random(3);
  const TensorList parameters(std::vector<NamedTensor>{{"weight", zeros({64, 96})}});
  Muon optimizer(parameters, {.lr = 1, .weight_decay = 0});
  TensorList gradients = buffers_of(parameters);
  // Of columns with very different lengths.
  Tensor drawn = randn({64, 96}, random);
  for (int64_t i = 0; i < drawn.numel(); ++i)
    drawn.data<float>()[i] *= std::exp2(-0.05F * static_cast<float>(i % 96));
  gradients[0].tensor.accumulate(drawn);
  optimizer.step(gradients);
  const Matrix step = matrix_of(parameters[0].tensor), gram = product(step, transposed(step));
  const double unit = 0.04 * 96;  // the square of 0.2 sqrt(96)
  double trace = 0, squares = 0;
  for (size_t i = 0; i < gram.size(); ++i) {
    trace += gram[i][i] / unit;
    for (const double value : gram[i]) squares += value * value / (unit * unit);
  }
  EXPECT_NEAR(trace / 64, 0.85, 0.25);                  // of squared singular values
  EXPECT_LT(squares / 64 - trace * trace / 4096, 0.1);  // and how much they differ
}

TEST(Muon, LeavesTablesAndVectorsToAdamW) {
  const TensorList parameters(parameters_of()), alone(clones(parameters_of()));
  Muon optimizer(parameters, {.lr = 0.1, .weight_decay = 0.2, .beta1 = 0.8, .beta2 = 0.9});
  AdamW adamw(alone, {.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.2});
  TensorList gradients = buffers_of(parameters), others = buffers_of(alone);
  for (uint64_t step = 0; step < 3; ++step) {
    draw(gradients, step);
    draw(others, step);
    optimizer.set_lr(0.1 / static_cast<double>(step + 1));
    adamw.set_lr(0.1 / static_cast<double>(step + 1));
    optimizer.step(gradients, 0.5);
    adamw.step(others, 0.5);
    for (const NamedTensor& gradient : gradients) EXPECT_TRUE(gradient.tensor.is_marked_zero());
  }
  EXPECT_EQ(optimizer.matrices(), (std::vector<size_t>{1, 3, 4}));
  for (const size_t i : {size_t{0}, size_t{2}})
    EXPECT_EQ(values_of(parameters[i].tensor), values_of(alone[i].tensor)) << parameters[i].name;
}

TEST(Muon, NeedsAMatrix) {
  const TensorList parameters(std::vector<NamedTensor>{{"wte.weight", zeros({3, 2})}, {"bias", zeros({2})}});
  EXPECT_THAT(error_of([&] { Muon(parameters, {}); }),
              HasSubstr("Muon: none of the 2 parameters is a matrix that may be made orthogonal; use AdamW"));
}

/// What all kinds have in common.
class AnyOptimizer : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<Optimizer> make(TensorList parameters, TensorList masters) {
    return train::make_optimizer({.kind = GetParam(), .lr = 0.01}, std::move(parameters), std::move(masters));
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, AnyOptimizer, testing::ValuesIn(train::optimizer_kinds));

std::vector<double> all_values(const TensorList& list) {
  std::vector<double> all;
  for (const NamedTensor& named : list) {
    const std::vector<double> one = values_of(named.tensor);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

TEST_P(AnyOptimizer, GivesTheSameBitsOnAnyNumberOfThreads) {
  const int before = num_threads();
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const TensorList parameters(parameters_of(DType::float32));
    const auto optimizer = make(parameters, parameters);
    TensorList gradients = buffers_of(parameters);
    for (uint64_t step = 0; step < 3; ++step) {
      draw(gradients, step);
      optimizer->step(gradients, 0.7);
    }
    results.push_back(all_values(parameters));
  }
  set_num_threads(before);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST_P(AnyOptimizer, UpdatesMastersOfBfloat16ParametersAsItDoesFloat32OnesAndRoundsThem) {
  const TensorList plain(parameters_of(DType::float32)), masters(clones(parameters_of(DType::float32)));
  std::vector<NamedTensor> copies;
  for (const NamedTensor& named : masters) copies.push_back({named.name, named.tensor.to(DType::bfloat16)});
  const TensorList rounded(copies);
  const auto one = make(plain, plain), two = make(rounded, masters);
  TensorList gradients = buffers_of(plain), same = buffers_of(masters);
  for (uint64_t step = 0; step < 3; ++step) {
    draw(gradients, step);
    draw(same, step);
    one->step(gradients);
    two->step(same);
  }
  EXPECT_EQ(all_values(plain), all_values(masters));
  for (size_t i = 0; i < rounded.size(); ++i)
    EXPECT_EQ(values_of(rounded[i].tensor), values_of(masters[i].tensor.to(DType::bfloat16)));
}

TEST_P(AnyOptimizer, NamesItsStateAfterTheParameters) {
  const TensorList parameters(parameters_of(DType::float32));
  const auto optimizer = make(parameters, parameters);
  size_t bytes = 0;
  for (const OptimizerState& part : optimizer->state())
    for (const NamedTensor& named : *part.tensors) {
      EXPECT_TRUE(named.tensor.is_marked_zero());
      bytes += named.tensor.nbytes();
      const auto is_same = [&](const NamedTensor& p) {
        return p.name == named.name && p.tensor.shape() == named.tensor.shape();
      };
      EXPECT_TRUE(std::any_of(parameters.begin(), parameters.end(), is_same)) << named.name;
    }
  EXPECT_GE(optimizer->bytes(), bytes);
}

/// A second optimizer that takes over what the first has kept after some steps does the same as it.
template <class Make>
void expect_continues(const Make& make) {
  const TensorList parameters(parameters_of(DType::float32)), others(clones(parameters_of(DType::float32)));
  const std::unique_ptr<Optimizer> one = make(parameters), two = make(others);
  TensorList gradients = buffers_of(parameters), same = buffers_of(others);
  for (uint64_t step = 0; step < 4; ++step) {
    draw(gradients, step);
    if (step == 2) {
      for (size_t i = 0; i < others.size(); ++i) Tensor(others[i].tensor).copy_from(parameters[i].tensor);
      const std::vector<OptimizerState> from = one->state(), to = two->state();
      for (size_t k = 0; k < from.size(); ++k)
        for (size_t i = 0; i < from[k].tensors->size(); ++i)
          Tensor((*to[k].tensors)[i].tensor).copy_from((*from[k].tensors)[i].tensor);
      two->set_steps(one->steps());
    }
    if (step >= 2) {
      draw(same, step);
      two->step(same);
    }
    one->step(gradients);
  }
  EXPECT_EQ(all_values(parameters), all_values(others));
}

TEST_P(AnyOptimizer, ContinuesFromWhatAnotherHasKept) {
  expect_continues([](const TensorList& parameters) { return make(parameters, parameters); });
}
TEST(RMSprop, ContinuesFromWhatAnotherHasKept) {
  expect_continues([](const TensorList& parameters) {
    return std::make_unique<RMSprop>(parameters, RMSpropOptions{.momentum = 0.9, .centered = true});
  });
}
TEST(Adagrad, ContinuesFromWhatAnotherHasKept) {
  expect_continues([](const TensorList& parameters) {
    return std::make_unique<Adagrad>(parameters,
                                     AdagradOptions{.lr_decay = 0.5, .initial_accumulator_value = 0.1});
  });
}

TEST_P(AnyOptimizer, AllocatesNothingAfterTheFirstStep) {
  const TensorList parameters(parameters_of(DType::float32));
  const auto optimizer = make(parameters, parameters);
  TensorList gradients = buffers_of(parameters);
  for (uint64_t step = 0; step < 3; ++step) {
    draw(gradients, step);
    const int64_t before = train::heap_allocations();
    optimizer->step(gradients);
    if (step > 0) EXPECT_EQ(train::heap_allocations() - before, 0) << step;
  }
}

TEST_P(AnyOptimizer, DecaysMatricesAlone) {
  const TensorList parameters(parameters_of());
  const auto optimizer =
      train::make_optimizer({.kind = GetParam(), .lr = 0.01, .weight_decay = 0.1}, parameters, parameters);
  TensorList gradients = buffers_of(parameters);
  const std::vector<double> weight = values_of(parameters[3].tensor), bias = values_of(parameters[2].tensor);
  optimizer->step(gradients);  // of zeros
  EXPECT_EQ(values_of(parameters[2].tensor), bias);
  const std::vector<double> decayed = values_of(parameters[3].tensor);
  for (size_t i = 0; i < weight.size(); ++i) EXPECT_LT(decayed[i], weight[i]);
}

TEST_P(AnyOptimizer, RefusesGradientsOfOtherParameters) {
  const TensorList parameters(parameters_of(DType::float32));
  const auto optimizer = make(parameters, parameters);
  TensorList wide = buffers_of(TensorList(parameters_of(DType::float64)));
  EXPECT_THAT(error_of([&] { optimizer->step(wide); }), HasSubstr("'wte.weight' is [9,4] float32"));
}

}  // namespace
}  // namespace cladtorch
