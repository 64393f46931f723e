// What cuDNN is told of attention: the same element must lie at the same place.
#include "cuda/cudnn_layout.h"

#include <gtest/gtest.h>

namespace cladtorch::cuda {
namespace {

using detail::AttentionLayout;

/// Operands and gradients as the layout has them: packed, or dense tensors.
AttentionProblem problem_of(AttentionPass pass, const AttentionLayout& layout) {
  AttentionProblem problem;
  problem.pass = pass;
  problem.dtype = DType::bfloat16;
  problem.layout = layout;
  problem.alignment = 16;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t row = i == 0 ? layout.q_row : layout.k_row;
    problem.in[i] = {layout.length * row, row};
    if (pass == AttentionPass::pullback) problem.to[i] = {true, false, row};
  }
  return problem;
}

int64_t offset(const CudnnTensor& x, int64_t b, int64_t h, int64_t t, int64_t i) {
  return b * x.strides[0] + h * x.strides[1] + t * x.strides[2] + i * x.strides[3];
}

void expect_heads_of(const AttentionLayout& x) {
  const CudnnAttentionLayout found(problem_of(AttentionPass::pullback, x));
  for (const CudnnTensor* q : {&found.q, &found.d_q}) {
    EXPECT_EQ(q->dimensions, (std::array{x.batch, x.heads, x.length, x.head_size}));
    for (int64_t h = 0; h < x.heads; ++h)
      EXPECT_EQ(offset(*q, 1, h, 3, 2), x.q_offset(1, h) + 3 * x.q_row + 2);
  }
  for (const CudnnTensor* k : {&found.k, &found.v, &found.d_k, &found.d_v}) {
    EXPECT_EQ(k->dimensions, (std::array{x.batch, x.key_heads, x.length, x.head_size}));
    for (int64_t h = 0; h < x.key_heads; ++h)
      EXPECT_EQ(offset(*k, 1, h, 3, 2), x.k_offset(1, h) + 3 * x.k_row + 2);
  }
  EXPECT_EQ(found.y.dimensions, found.q.dimensions);
  EXPECT_EQ(offset(found.y, 1, 1, 3, 2), x.y_offset(1, 1) + 3 * x.y_row() + 2);
  EXPECT_EQ(found.statistics.dimensions, (std::array<int64_t, 4>{x.batch, x.heads, x.length, 1}));
  EXPECT_EQ(offset(found.statistics, 1, 1, 3, 0), (x.heads + 1) * x.length + 3);
}

TEST(CudnnLayout, HasPackedHeads) { expect_heads_of(AttentionLayout::packed(2, 10, 64, 4)); }

TEST(CudnnLayout, HasSeparateHeadsInGroups) {
  expect_heads_of(AttentionLayout::separate(2, 10, 6, 2, 16, 0));
}

TEST(CudnnLayout, HasTheStridesOfOperands) {
  AttentionProblem problem = problem_of(AttentionPass::forward, AttentionLayout::separate(2, 10, 4, 4, 8, 0));
  problem.in = {{{1000, 40}, {2000, 48}, {3000, 56}}};
  const CudnnAttentionLayout found(problem);
  EXPECT_EQ(offset(found.q, 1, 2, 3, 4), 1000 + 2 * 8 + 3 * 40 + 4);
  EXPECT_EQ(offset(found.k, 1, 2, 3, 4), 2000 + 2 * 8 + 3 * 48 + 4);
  EXPECT_EQ(offset(found.v, 1, 2, 3, 4), 3000 + 2 * 8 + 3 * 56 + 4);
}

TEST(CudnnLayout, HasAWindowOnlyWhereItHidesSomething) {
  for (const int64_t window : {0, 1, 9, 10, 11}) {
    const auto layout = AttentionLayout::separate(2, 10, 4, 2, 8, window);
    const CudnnAttentionLayout found(problem_of(AttentionPass::forward, layout));
    EXPECT_EQ(found.window.has_value(), window == 1 || window == 9) << window;
    EXPECT_EQ(found.window.value_or(window), window);
  }
}

TEST(CudnnLayout, SuitsWhatCudnnIsAskedFor) {
  const auto layout = AttentionLayout::separate(2, 10, 4, 2, 64, 3);
  for (const AttentionPass pass : {AttentionPass::forward, AttentionPass::pullback}) {
    const AttentionProblem good = problem_of(pass, layout);
    EXPECT_TRUE(suits_cudnn(good));
    const auto altered = [&](auto alter) {
      AttentionProblem problem = good;
      alter(problem);
      return suits_cudnn(problem);
    };
    EXPECT_FALSE(altered([](auto& x) { x.dtype = DType::float32; }));
    EXPECT_FALSE(altered([](auto& x) { x.past = 1; }));
    EXPECT_FALSE(altered([](auto& x) { x.alignment = 8; }));
    EXPECT_FALSE(altered([](auto& x) { x.layout.head_size = 60; }));
    EXPECT_FALSE(altered([](auto& x) { x.layout.head_size = 136; }));
    EXPECT_FALSE(altered([](auto& x) { x.layout.length = 1; }));
    EXPECT_FALSE(altered([](auto& x) { x.in[2].row += 4; }));
    EXPECT_FALSE(altered([](auto& x) { x.in[1].batch += 2; }));
  }
  AttentionProblem added = problem_of(AttentionPass::pullback, layout), partial = added;
  added.to[1].add = true;
  EXPECT_FALSE(suits_cudnn(added));
  partial.to[0].wanted = false;
  EXPECT_FALSE(suits_cudnn(partial));
}

}  // namespace
}  // namespace cladtorch::cuda
