#include "train/step/leaf_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/random.h"
#include "cladtorch/tensor/factories.h"
#include "comm/thread_ranks.h"

namespace cladtorch::train {
namespace {

using testing::ElementsAre;

TEST(LeafSums, TreeIsTheSameForAllRanks) {
  EXPECT_EQ((Leaves{0, 8}.middle()), 4);
  EXPECT_EQ((Leaves{0, 5}.middle()), 4);
  EXPECT_EQ((Leaves{4, 7}.middle()), 6);
  EXPECT_THAT(nodes_within({0, 8}, {0, 4}), ElementsAre(Leaves{0, 4}));
  EXPECT_THAT(nodes_within({0, 8}, {1, 6}), ElementsAre(Leaves{1, 2}, Leaves{2, 4}, Leaves{4, 6}));
  EXPECT_THAT(nodes_within({0, 24}, {8, 16}), ElementsAre(Leaves{8, 16}));
  for (int ranks = 1; ranks <= 24; ++ranks) {
    int64_t next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const Leaves part = leaves_of(rank, ranks, 24);
      EXPECT_EQ(part.begin, next);
      EXPECT_GT(part.end, part.begin);
      next = part.end;
    }
    EXPECT_EQ(next, 24);
  }
}

/// The gradient of leaf `leaf`, with numbers whose sum depends on the order; some leaves leave a tensor zero.
void fill(TensorList& gradients, int64_t leaf) {
  Random random(static_cast<uint64_t>(leaf));
  for (NamedTensor& named : gradients) {
    named.tensor.mark_zero();
    if (leaf % 3 == 1 && named.name == "b") continue;
    float* values = named.tensor.data<float>();
    for (int64_t i = 0; i < named.tensor.numel(); ++i)
      values[i] = static_cast<float>((random.uniform() - 0.5) * (i % 7 == 0 ? 1e4 : 1));
  }
}

/// Tensors in memory with gaps between them.
struct Gradients {
  Tensor memory = zeros({900'000});
  TensorList list{{{"a", gradient_buffer_in(memory, 0, {37, 1111})},
                   {"b", gradient_buffer_in(memory, 41'120, {5})},
                   {"c", gradient_buffer_in(memory, 41'136, {700'000})}}};
};

std::vector<float> values_of(const TensorList& gradients) {
  std::vector<float> values;
  for (const NamedTensor& named : gradients)
    values.insert(values.end(), named.tensor.data<float>(),
                  named.tensor.data<float>() + named.tensor.numel());
  return values;
}

TEST(LeafSums, TakeNoMoreMemoryFromStepToStep) {
  for (const int64_t leaves : {2, 8}) {
    Gradients all;
    LeafSums sums(comm::self(), leaves, all.list, all.memory, Shares(all.list, 1));
    for (int step = 0; step < 3; ++step) {
      for (int64_t leaf = 0; leaf < leaves; ++leaf) {
        fill(all.list, leaf);
        sums.end_leaf();
      }
      sums.finish(/*whole=*/false, "the sum");
      const size_t waiting = leaves == 2 ? 1 : 3;  // the sums of 4, 2 and 1 leaves
      EXPECT_EQ(sums.bytes(), waiting * all.memory.nbytes());
    }
  }
}

std::vector<float> sum_on(comm::Communicator& ranks, int64_t leaves) {
  Gradients all;
  TensorList& gradients = all.list;
  LeafSums sums(ranks, leaves, gradients, all.memory, Shares(gradients, ranks.size()));
  for (int step = 0; step < 2; ++step) {
    for (int64_t leaf = sums.mine().begin; leaf < sums.mine().end; ++leaf) {
      fill(gradients, leaf + step);
      sums.end_leaf();
    }
    sums.finish(/*whole=*/true, "the sum");
  }
  return values_of(gradients);
}

TEST(LeafSums, BitsDoNotDependOnTheNumberOfRanks) {
  for (const int64_t leaves : {4, 6, 7}) {
    const std::vector<float> alone = sum_on(comm::self(), leaves);
    for (int ranks = 2; ranks <= std::min<int64_t>(leaves, 5); ++ranks)
      comm::run_ranks(ranks, 11, [&](comm::Communicator& communicator) {
        EXPECT_EQ(sum_on(communicator, leaves), alone) << leaves << " leaves on " << ranks << " ranks";
      });
  }
}

TEST(Shares, AreDisjointAndHaveAllPieces) {
  Gradients all;
  for (int ranks = 1; ranks <= 7; ++ranks) {
    const Shares shares(all.list, ranks);
    size_t next = 0;
    int64_t elements = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(shares.pieces(rank).first, next);
      next = shares.pieces(rank).second;
      for (const Shares::Run& run : shares.runs(rank)) elements += run.end - run.begin;
    }
    EXPECT_EQ(next, all.list.pieces().size());
    EXPECT_EQ(elements, all.list.numel());
  }
}

TEST(LeafSums, OneLeafIsTheGradientItself) {
  Gradients all;
  TensorList& gradients = all.list;
  LeafSums sums(comm::self(), 1, gradients, all.memory, Shares(gradients, 1));
  fill(gradients, 3);
  const std::vector<float> before = values_of(gradients);
  sums.end_leaf();
  sums.finish(/*whole=*/false, "the sum");
  EXPECT_EQ(values_of(gradients), before);
}

}  // namespace
}  // namespace cladtorch::train
