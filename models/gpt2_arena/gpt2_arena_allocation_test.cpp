// Counts heap allocations during steps of the arena model.
#include <gtest/gtest.h>

#include "cladtorch/models/gpt2_arena.h"
#include "tests/support/count_allocations.h"
#include "tests/support/tokens.h"

namespace cladtorch::gpt2_arena {
namespace {

using testing::allocations;
using testing::random_tokens;

TEST(GPT2ArenaAllocations, AStepMakesNoneFromTheSecondOn) {
  if (!CLADTORCH_COUNTS_ALLOCATIONS) GTEST_SKIP() << "the sanitizer replaces malloc itself";
  const GPT2Config config = gpt2_preset("toy");
  const Tensor tokens = random_tokens({2, 40}, 65, 1), targets = random_tokens({2, 40}, 65, 2);
  const Size size = size_of(config, 2, 40);
  PlacedParameters parameters = parameters_for(config);
  copy_parameters(GPT2(config), parameters);
  PlacedGradient gradient = gradient_for(config);
  PlacedActivations activations = activations_for(size);
  PlacedCotangents cotangents = cotangents_for(size);
  for (int step = 1; step <= 4; ++step) {
    const long before = allocations;
    gradient.arena.mark_zero();
    loss_and_gradient(parameters.at, activations.at, tokens.data<int32_t>(), targets.data<int32_t>(), size,
                      &gradient.at, &cotangents.at);
    const long made = allocations - before;
    if (step == 1) {
      EXPECT_GT(made, 0) << "the counter sees the memory that threads take for themselves";
    } else {
      EXPECT_EQ(made, 0) << "in step " << step;
    }
  }
}

}  // namespace
}  // namespace cladtorch::gpt2_arena
