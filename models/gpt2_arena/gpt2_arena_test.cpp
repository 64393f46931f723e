// The arena model against the object style: the same bits.
#include "cladtorch/models/gpt2_arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <regex>
#include <sstream>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/workspace.h"
#include "tests/support/gradcheck.h"
#include "tests/support/tokens.h"

namespace cladtorch {
namespace {

namespace arena = gpt2_arena;
using testing::random_tokens;

/// Every parameter moved away from its special initial value.
GPT2 perturbed(const GPT2Config& config) {
  GPT2 model(config);
  Random random(17);
  for_each_parameter(model, [&](const std::string&, Tensor& parameter) {
    parameter.copy_from(parameter + scale(randn(parameter.shape(), random), 0.1));
  });
  return model;
}

struct Case {
  GPT2Config config;
  int64_t batch, length;
  bool ignoring = false;  ///< some targets
};

Case small(int64_t batch, int64_t length) {
  return {{.vocab_size = 61, .n_positions = 40, .n_layer = 3, .n_head = 4, .n_embd = 32}, batch, length};
}

/// Both styles on one batch.
struct Pair {
  Tensor tokens, targets;
  GPT2 model, gradient;
  arena::Size size;
  arena::PlacedParameters parameters;
  arena::PlacedGradient d_parameters;
  arena::PlacedActivations activations;
  arena::PlacedCotangents cotangents;

  explicit Pair(const Case& c)
      : tokens(random_tokens({c.batch, c.length}, c.config.vocab_size, 1)),
        targets(random_tokens({c.batch, c.length}, c.config.vocab_size, 2)),
        model(perturbed(c.config)),
        gradient(like(model)),
        size(arena::size_of(c.config, c.batch, c.length)),
        parameters(arena::parameters_for(c.config)),
        d_parameters(arena::gradient_for(c.config)),
        activations(arena::activations_for(size)),
        cotangents(arena::cotangents_for(size)) {
    if (c.ignoring)
      for (int64_t i = 0; i < targets.numel(); i += 3) targets.data<int32_t>()[i] = -100;
    arena::copy_parameters(model, parameters);
  }

  double arena_step() {
    return arena::loss_and_gradient(parameters.at, activations.at, tokens.data<int32_t>(),
                                    targets.data<int32_t>(), size, &d_parameters.at, &cotangents.at);
  }
  double object_step() { return loss_and_gradient(model, tokens, targets, &gradient); }

  /// Names of the parameters whose gradients differ.
  std::string differences() {
    std::string names;
    size_t number = 0;
    for_each_parameter(gradient, [&](const std::string& name, Tensor& d) {
      const Tensor& block = d_parameters.arena.tensor(number++);
      const void *const expected = d.data(), *const actual = std::as_const(block).data();
      if (std::memcmp(expected, actual, d.nbytes()) != 0) names += " " + name;
    });
    return names;
  }
};

TEST(GPT2Arena, LossAndGradientsHaveTheBitsOfTheObjectStyle) {
  Case several_blocks = small(4, 40);  // of the classifier, whose smallest has 128 rows
  several_blocks.config.vocab_size = 131072;
  several_blocks.config.n_layer = 1;
  Case ignoring = small(2, 21), without_bias = small(2, 5), wide = small(1, 40);
  ignoring.ignoring = true;
  without_bias.config.bias = false;
  wide.config.n_embd = 192;
  const int threads = num_threads();
  for (const Case& c :
       {small(1, 1), small(1, 16), small(3, 37), ignoring, without_bias, wide, several_blocks}) {
    Pair pair(c);
    const double expected = pair.object_step();
    for (int count : {1, 2, 3}) {
      set_num_threads(count);
      pair.d_parameters.arena.mark_zero();
      EXPECT_EQ(pair.arena_step(), expected);
      EXPECT_EQ(pair.differences(), "") << c.batch << " x " << c.length << ", " << count << " threads";
    }
    EXPECT_EQ(arena::loss(pair.parameters.at, pair.activations.at, pair.tokens.data<int32_t>(),
                          pair.targets.data<int32_t>(), pair.size),
              expected);
  }
  set_num_threads(threads);
}

TEST(GPT2Arena, MicroBatchesAddUpAsInTheObjectStyle) {
  Pair pair(small(2, 9));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pair.arena_step(), pair.object_step());
    pair.tokens.data<int32_t>()[0] ^= 1;
  }
  EXPECT_EQ(pair.differences(), "");
}

/// Generated code without comments, namespaces and white space.
std::string essence(const std::string& code) {
  const std::regex ignored(R"(//[^\n]*|clad::custom_derivatives::cladtorch::kernels::|\s)");
  return std::regex_replace(code, ignored, "");
}

TEST(GPT2Arena, GoesBackwardThroughTheCallsOfABlock) {
  const char* last_three = R"(
residual_forward_pullback(static_cast<float *>(nullptr), static_cast<float *>(nullptr), static_cast<float *>(nullptr),
                          s.N * s.C, d_a.out, d_a.middle, d_a.mlp_proj);
matmul_forward_pullback(static_cast<float *>(nullptr), a.gelu, w.mlp_proj_weight, w.mlp_proj_bias, s.N, 4 * s.C, s.C,
                        d_a.mlp_proj, d_a.gelu, d_w.mlp_proj_weight, d_w.mlp_proj_bias);
gelu_forward_pullback(static_cast<float *>(nullptr), a.fc, s.N * 4 * s.C, d_a.gelu, d_a.fc);
)";
  EXPECT_THAT(essence(arena::loss_gradient_code()), ::testing::HasSubstr(essence(last_three)));
}

}  // namespace
}  // namespace cladtorch
