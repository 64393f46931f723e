#include "cladtorch/ops/ops.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::agrees_with_cpu;
using testing::error_of;
using testing::gpu;
using testing::normals;
using testing::relative_difference;
using testing::Tensors;
using Gradients = std::vector<Tensor*>;

TEST(CudaRotary, Tables) {
  const RotaryConfig yarn{.scaling = RotaryScaling::yarn, .factor = 4};
  for (const RotaryConfig& config : {RotaryConfig{}, yarn}) {
    for (int64_t head_size : {2, 6, 64, 512}) {
      const RotaryFrequencies frequencies(config, head_size);
      for (int64_t length : {0, 1, 100}) {
        // Angles of many turns too.
        const int64_t first = 100000;
        const Tensor table = rotary_table(frequencies, first, length, gpu);
        EXPECT_EQ(table.device(), gpu);
        EXPECT_EQ(table.shape(), (Shape{length, head_size}));
        EXPECT_LT(relative_difference(table.to(Device{}), rotary_table(frequencies, first, length)), 1e-6);
      }
    }
  }
  EXPECT_EQ(error_of([] { rotary_table(RotaryFrequencies({}, 514), 0, 1, gpu); }),
            "rotary_table: on a CUDA device heads have up to 256 pairs, got 257");
}

/// Pairs that fill packs and do not, one head and several, more elements than a block has.
TEST(CudaRotary, TurnsHeads) {
  struct Case {
    Shape x;
    int64_t head_size;
  };
  const std::vector<Case> cases = {{{0, 3, 8}, 8},   {{1, 1, 2}, 2},   {{2, 3, 12}, 6},   {{2, 3, 48}, 16},
                                   {{1, 5, 64}, 64}, {{3, 7, 96}, 32}, {{2, 4, 120}, 40}, {{2, 9, 512}, 128}};
  for (const Case& sizes : cases) {
    const Tensor table = rotary_table(RotaryFrequencies({}, sizes.head_size), 3, sizes.x[1]);
    EXPECT_TRUE(agrees_with_cpu(
        [&](const Tensors& x) { return rotary_embedding(x[0], table.to(x[0].device())); },
        [&](const Tensors& x, Tensor d_y, const Gradients& d) {
          pullbacks::rotary_embedding_pullback({}, table.to(x[0].device()), std::move(d_y), d[0], nullptr);
        },
        normals({sizes.x})));
  }
  EXPECT_EQ(error_of([] { rotary_embedding(zeros({1, 2, 8}), zeros({2, 8}, DType::float32, gpu)); }),
            "rotary_embedding: devices differ: x is on cpu, table is on cuda:0; copy with to(device)");
}

}  // namespace
}  // namespace cladtorch
