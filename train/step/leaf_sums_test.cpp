#include "train/step/leaf_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

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
      const std::vector<int64_t> own = LeafPlan(24, ranks, false).of_rank(rank);
      EXPECT_FALSE(own.empty());
      for (const int64_t leaf : own) EXPECT_EQ(leaf, next++);
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
    Background background(false);
    LeafSums sums(comm::self(), LeafPlan(leaves, 1, false), all.list, all.memory,
                  Shares(all.list, 1, 100'000),
                  /*overlap=*/false, background);
    for (int step = 0; step < 3; ++step) {
      for (int64_t leaf = 0; leaf < leaves; ++leaf) {
        fill(all.list, leaf);
        sums.end_leaf();
      }
      sums.finish(/*whole=*/false);
      const size_t waiting = leaves == 2 ? 1 : 3;  // the sums of 4, 2 and 1 leaves
      EXPECT_EQ(sums.bytes(), waiting * all.memory.nbytes());
    }
  }
}

struct Way {
  bool early, overlap;
  int64_t bucket_elements;
};
constexpr Way ways[] = {{false, false, 1 << 23}, {false, true, 1 << 23}, {false, true, 1000},
                        {true, false, 1000},     {true, true, 1000},     {true, true, 1 << 23}};

/// The gradient of a leaf. Drawing its numbers takes longer than the sums.
const TensorList& gradient_of(int64_t leaf) {
  static std::mutex mutex;
  static std::map<int64_t, Gradients> of_leaves;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = of_leaves.try_emplace(leaf);
  if (is_new) fill(found->second.list, leaf);
  return found->second.list;
}

/// Writes the gradient of a leaf as a backward pass does: one tensor after the other, the last one first, and
/// the first one in two contributions.
void compute(Gradients& all, int64_t leaf) {
  const TensorList& gradient = gradient_of(leaf);
  for (size_t i = all.list.size(); i-- > 0;) {
    if (gradient[i].tensor.is_marked_zero()) continue;
    all.list[i].tensor.accumulate(gradient[i].tensor);
    if (i == 0) all.list[i].tensor.accumulate(gradient[i].tensor);
  }
}

std::vector<float> sum_on(comm::Communicator& ranks, int64_t leaves, const Way& way) {
  Gradients all;
  TensorList& gradients = all.list;
  Background background(way.overlap);
  LeafSums sums(ranks, LeafPlan(leaves, ranks.size(), way.early), gradients, all.memory,
                Shares(gradients, ranks.size(), way.bucket_elements), way.overlap, background);
  std::vector<float> values;
  for (int step = 0; step < 3; ++step) {
    gradients.mark_zero();
    for (const int64_t leaf : sums.mine()) {
      sums.begin(/*ends_leaf=*/true);
      compute(all, leaf + step);
      sums.end_leaf();
    }
    sums.finish(/*whole=*/true);
    const std::vector<float> of_step = values_of(gradients);
    values.insert(values.end(), of_step.begin(), of_step.end());
  }
  return values;
}

TEST(LeafSums, BitsDoNotDependOnTheNumberOfRanks) {
  for (const int64_t leaves : {4, 6, 7}) {
    const std::vector<float> alone = sum_on(comm::self(), leaves, ways[0]);
    for (const Way& way : ways)
      for (int ranks = 2; ranks <= std::min<int64_t>(leaves, 5); ++ranks)
        comm::run_ranks(ranks, 11, [&](comm::Communicator& communicator) {
          EXPECT_EQ(sum_on(communicator, leaves, way), alone)
              << leaves << " leaves on " << ranks << " ranks, " << (way.early ? "early" : "late")
              << (way.overlap ? " beside the backward pass" : "") << ", buckets of " << way.bucket_elements;
        });
  }
}

TEST(LeafSums, RefuseAContributionToWhatWasSent) {
  comm::run_ranks(2, 3, [](comm::Communicator& ranks) {
    Gradients all;
    Background background(true);
    LeafSums sums(ranks, LeafPlan(2, 2, false), all.list, all.memory, Shares(all.list, 2, 1000), true,
                  background);
    std::string message;
    for (int step = 0; step < 2; ++step) {
      sums.begin(true);
      compute(all, step);
      try {
        if (step == 1) compute(all, 0);
      } catch (const Error& error) {
        message = error.what();
      }
      sums.end_leaf();
      sums.finish(false);
      all.list.mark_zero();
    }
    EXPECT_THAT(message, testing::HasSubstr("the gradient of 'c' gets a contribution after the last one"));
    EXPECT_THAT(message, testing::HasSubstr("distributed.overlap=false"));
  });
}

TEST(Shares, AreDisjointAndHaveAllPieces) {
  Gradients all;
  for (const int64_t bucket_elements : {1000, 1 << 23})
    for (int ranks = 1; ranks <= 7; ++ranks) {
      const Shares shares(all.list, ranks, bucket_elements);
      std::set<size_t> pieces;
      int64_t elements = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_TRUE(std::ranges::is_sorted(shares.pieces(rank)));
        pieces.insert(shares.pieces(rank).begin(), shares.pieces(rank).end());
        for (const auto& run : shares.runs(rank)) elements += run.end - run.begin;
      }
      EXPECT_EQ(pieces.size(), all.list.pieces().size());
      EXPECT_EQ(elements, all.list.numel());
    }
}

TEST(LeafSums, OneLeafIsTheGradientItself) {
  Gradients all;
  TensorList& gradients = all.list;
  Background background(false);
  LeafSums sums(comm::self(), LeafPlan(1, 1, false), gradients, all.memory, Shares(gradients, 1, 1000), false,
                background);
  fill(gradients, 3);
  const std::vector<float> before = values_of(gradients);
  sums.end_leaf();
  sums.finish(/*whole=*/false);
  EXPECT_EQ(values_of(gradients), before);
}

}  // namespace
}  // namespace cladtorch::train
