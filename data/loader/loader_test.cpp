#include "cladtorch/data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "data/tokens/memory_tokens.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using testing::HasSubstr;

/// A text whose token i is i, so a batch shows where it was cut.
class Counting {
 public:
  explicit Counting(size_t count) : tokens_(count) { std::iota(tokens_.begin(), tokens_.end(), 0u); }
  TokenSpan span() const { return std::span(tokens_); }

 private:
  std::vector<uint32_t> tokens_;
};

struct Batch {
  std::vector<int32_t> tokens, targets;
  explicit Batch(BatchShape shape)
      : tokens(static_cast<size_t>(shape.size())), targets(static_cast<size_t>(shape.size())) {}
  bool operator==(const Batch&) const = default;
};

Batch next(Loader& loader) {
  Batch batch(loader.shape());
  loader.next(batch.tokens, batch.targets);
  return batch;
}

TEST(Permutation, VisitsEveryPlaceOnce) {
  for (uint64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000, 4097}) {
    for (uint64_t stream = 0; stream < 3; ++stream) {
      const Permutation permutation(n, 5, stream);
      std::set<uint64_t> seen;
      for (uint64_t i = 0; i < n; ++i) seen.insert(permutation(i));
      ASSERT_EQ(seen.size(), n);
      ASSERT_EQ(*seen.rbegin(), n - 1);
    }
  }
}

TEST(Permutation, EachValueIsEquallyLikelyInEachPlace) {
  constexpr uint64_t n = 6, trials = 6000;
  std::map<std::pair<uint64_t, uint64_t>, int> counts;
  for (uint64_t stream = 0; stream < trials; ++stream) {
    const Permutation permutation(n, 1, stream);
    for (uint64_t i = 0; i < n; ++i) ++counts[{i, permutation(i)}];
  }
  double chi_squared = 0;
  for (uint64_t i = 0; i < n; ++i) {
    for (uint64_t j = 0; j < n; ++j) {
      const double expected = trials / n, difference = counts[{i, j}] - expected;
      chi_squared += difference * difference / expected;
    }
  }
  EXPECT_LT(chi_squared, 53);  // 25 degrees of freedom: exceeded by chance once in a thousand
}

TEST(Loader, TargetsAreTheTokensOnePlaceLater) {
  const Counting text(1000);
  for (Sampling sampling : {Sampling::shuffled_windows, Sampling::random_offsets}) {
    Loader loader(text.span(), {3, 16}, 1, sampling);
    for (int step = 0; step < 50; ++step) {
      const Batch batch = next(loader);
      for (size_t i = 0; i < batch.tokens.size(); ++i) {
        ASSERT_EQ(batch.targets[i], batch.tokens[i] + 1);
        ASSERT_EQ(batch.tokens[i], i % 16 == 0 ? batch.tokens[i] : batch.tokens[i - 1] + 1);
      }
    }
  }
}

TEST(Loader, AnEpochOfWindowsPredictsEachTokenOnce) {
  const Counting text(1000);
  Loader loader(text.span(), {1, 7}, 3);
  for (int epoch = 0; epoch < 5; ++epoch) {
    std::vector<int32_t> targets;
    const uint64_t size = loader.epoch_tokens();
    while (targets.size() < size) {
      const Batch batch = next(loader);
      targets.insert(targets.end(), batch.targets.begin(), batch.targets.end());
    }
    std::sort(targets.begin(), targets.end());
    EXPECT_EQ(std::adjacent_find(targets.begin(), targets.end()), targets.end());
    EXPECT_GE(targets.size(), 1000u - 2 * 7);
    EXPECT_EQ(loader.state().epoch, static_cast<uint64_t>(epoch) + 1);
  }
}

TEST(Loader, EpochsDifferInOrderAndPhase) {
  const Counting text(700);
  Loader loader(text.span(), {1, 7}, 3);
  std::set<std::vector<int32_t>> orders;
  std::set<int32_t> phases;
  for (int epoch = 0; epoch < 30; ++epoch) {
    std::vector<int32_t> order;
    const uint64_t windows = loader.epoch_tokens() / 7;
    while (order.size() < windows) order.push_back(next(loader).tokens[0]);
    phases.insert(order[0] % 7);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 30u);
  EXPECT_EQ(phases.size(), 7u);
}

TEST(Loader, RandomOffsetsReachBothEnds) {
  const Counting text(20);
  Loader loader(text.span(), {1, 4}, 9, Sampling::random_offsets);
  std::set<int32_t> starts;
  for (int i = 0; i < 500; ++i) starts.insert(next(loader).tokens[0]);
  EXPECT_EQ(starts.size(), 16u);
  EXPECT_EQ(*starts.begin(), 0);
  EXPECT_EQ(*starts.rbegin(), 15);
}

TEST(Loader, ResumesExactlyFromEveryPosition) {
  const Counting text(101);
  for (Sampling sampling : {Sampling::shuffled_windows, Sampling::random_offsets}) {
    Loader straight(text.span(), {3, 8}, 42, sampling);
    std::vector<nlohmann::json> states;
    std::vector<Batch> batches;
    for (int step = 0; step < 40; ++step) {  // about 10 epochs, whose ends do not fall on the ends of batches
      states.push_back(straight.state());
      batches.push_back(next(straight));
    }
    for (size_t from = 0; from < states.size(); ++from) {
      Loader resumed(text.span(), {3, 8}, 0, sampling);
      resumed.restore(nlohmann::json::parse(states[from].dump()).get<LoaderState>());
      for (size_t step = from; step < batches.size(); ++step) ASSERT_EQ(next(resumed), batches[step]);
      ASSERT_EQ(resumed.state(), straight.state());
    }
  }
}

TEST(Loader, SeedsGiveDifferentBatches) {
  const Counting text(10000);
  for (Sampling sampling : {Sampling::shuffled_windows, Sampling::random_offsets}) {
    Loader a(text.span(), {4, 8}, 1, sampling), b(text.span(), {4, 8}, 2, sampling);
    EXPECT_NE(next(a), next(b));
  }
}

TEST(Loader, ATextOfOneSequenceIsEnoughAndAShorterOneIsNot) {
  const Counting text(9);
  Loader loader(text.span(), {2, 8}, 1);
  EXPECT_EQ(next(loader).targets[15], 8);
  EXPECT_THAT(error_of([&] { Loader(text.span(), {2, 9}, 1); }),
              testing::AllOf(HasSubstr("9 tokens"), HasSubstr("at least 10")));
  EXPECT_THAT(error_of([&] { EvalBatches(text.span(), {1, 9}); }), HasSubstr("at least 10"));
  EXPECT_THAT(error_of([&] { Loader(text.span(), {0, 8}, 1); }), HasSubstr("must be at least 1"));
}

TEST(Loader, KnowsWhetherItsStateComesAfterSoManyTokens) {
  const Counting text(101);
  for (const Sampling sampling : {Sampling::shuffled_windows, Sampling::random_offsets}) {
    Loader loader(text.span(), {3, 8}, 1, sampling);
    for (uint64_t tokens = 0; tokens < 3000; tokens += 24) {
      EXPECT_TRUE(loader.may_have_given(tokens)) << tokens;
      EXPECT_FALSE(loader.may_have_given(tokens + 1)) << tokens;
      EXPECT_FALSE(loader.may_have_given(2 * tokens + 240)) << tokens;
      EXPECT_FALSE(loader.may_have_given(tokens / 2 - tokens / 2 % 8 - 8)) << tokens;
      next(loader);
    }
  }
}

TEST(Loader, RefusesBuffersOfAnotherSizeAndForeignStates) {
  const Counting text(100);
  Loader loader(text.span(), {2, 8}, 1);
  std::vector<int32_t> small(15), right(16);
  EXPECT_THAT(error_of([&] { loader.next(small, right); }),
              HasSubstr("15 tokens and 16 targets, expected 16"));
  for (const char* bad : {"[]", R"({"seed":1,"epoch":0})", R"({"seed":1,"epoch":-1,"position":0})"}) {
    EXPECT_THAT(error_of([&] { nlohmann::json::parse(bad).get<LoaderState>(); }), HasSubstr("loader state"));
  }
  EXPECT_THAT(error_of([&] { loader.restore({1, 0, 12}); }), HasSubstr("position 12 lies beyond the"));
  EXPECT_EQ(sampling_from_string(to_string(Sampling::random_offsets)), Sampling::random_offsets);
  EXPECT_THAT(error_of([] { sampling_from_string("sorted"); }), HasSubstr("got 'sorted'"));
}

TEST(EvalBatches, ScoreEveryTargetWithTheContextAskedFor) {
  for (size_t size : {41, 100, 1000}) {
    for (int64_t context : {0, 1, 10, 19}) {
      const Counting text(size);
      const EvalBatches batches(text.span(), {2, 20}, {context, 0});
      std::set<int32_t> scored;
      int64_t count = 0;
      for (int64_t index = 0; index < batches.count(); ++index) {
        Batch batch(batches.shape());
        const int64_t returned = batches.get(index, batch.tokens, batch.targets);
        EXPECT_EQ(returned, 2 * (20 - context));
        for (size_t i = 0; i < batch.targets.size(); ++i) {
          const bool context_only = static_cast<int64_t>(i % 20) < context;
          ASSERT_EQ(batch.targets[i], context_only ? ignored_target : batch.tokens[i] + 1);
          if (context_only) continue;
          scored.insert(batch.targets[i]);
          ++count;
        }
      }
      EXPECT_EQ(scored.size(), size - 1 - static_cast<size_t>(context));
      EXPECT_LT(count, static_cast<int64_t>(size) + 2 * 20);  // no more than the last batch is repeated
    }
  }
}

TEST(EvalBatches, FewBatchesAreSpreadOverTheWholeText) {
  const Counting text(10001);
  const EvalBatches batches(text.span(), {2, 10}, {0, 3});
  ASSERT_EQ(batches.count(), 3);
  std::vector<int32_t> starts;
  for (int64_t index = 0; index < 3; ++index) {
    Batch batch(batches.shape());
    batches.get(index, batch.tokens, batch.targets);
    starts.insert(starts.end(), {batch.tokens[0], batch.tokens[10]});
  }
  EXPECT_THAT(starts, testing::ElementsAre(0, 1998, 3996, 5994, 7992, 9990));
}

/// Documents of the given lengths; document d holds the tokens 100 d, 100 d + 1, ... Of each, the first
/// `prompt` are ignored.
class Documents {
 public:
  explicit Documents(const std::vector<int32_t>& lengths, int32_t prompt = 0) : tokens_(TokenWidth::u32) {
    for (size_t d = 0; d < lengths.size(); ++d) {
      std::vector<int32_t> document(static_cast<size_t>(lengths[d]));
      std::iota(document.begin(), document.end(), static_cast<int32_t>(100 * d));
      const size_t ignored = std::min(document.size(), static_cast<size_t>(prompt));
      tokens_.begin_document();
      tokens_.append(std::span(document).first(ignored), true);
      tokens_.append(std::span(document).subspan(ignored), false);
    }
    sequence_ = tokens_.finish();
  }
  const TokenSequence& sequence() const { return sequence_; }

 private:
  MemoryTokens tokens_;
  TokenSequence sequence_;
};

std::vector<int32_t> scored(const Batch& batch) {
  std::vector<int32_t> targets = batch.targets;
  std::erase(targets, ignored_target);
  return targets;
}

TEST(Loader, IgnoredTokensAreReadAndNotPredicted) {
  const Documents text({30, 30, 30}, 10);
  Loader loader(text.sequence(), {4, 9}, 1);
  for (int step = 0; step < 20; ++step) {
    const Batch batch = next(loader);
    for (size_t i = 0; i + 1 < batch.tokens.size(); ++i) {
      if (i % 9 == 8) continue;
      const int32_t following = batch.tokens[i + 1];
      ASSERT_EQ(batch.targets[i], following % 100 < 10 ? ignored_target : following);
    }
  }
}

TEST(Loader, PackedDocumentsAreWholeAndNothingIsPredictedAcrossThem) {
  const std::vector<int32_t> lengths = {3, 17, 1, 5, 9, 2, 40, 8, 11, 4, 3, 6};  // windows of 16; 40 is cut
  const Documents text(lengths);
  Loader loader(text.sequence(), {1, 16}, 5, Sampling::shuffled_windows, Packing::documents);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t> targets;
    uint64_t windows = 0;
    for (; loader.state().epoch == static_cast<uint64_t>(epoch); ++windows) {
      const Batch batch = next(loader);
      for (size_t i = 0; i < 16; ++i) {
        if (batch.targets[i] == ignored_target) continue;
        ASSERT_EQ(batch.targets[i], batch.tokens[i] + 1);
      }
      const std::vector<int32_t> here = scored(batch);
      targets.insert(targets.end(), here.begin(), here.end());
    }
    EXPECT_EQ(targets.size(), loader.epoch_tokens());
    EXPECT_EQ(windows, 7u);  // 97 pairs: 16 + 16 + 16 + 7 of the long ones, the others fill the rest
    std::vector<int32_t> expected;
    for (size_t d = 0; d < lengths.size(); ++d) {
      for (int32_t i = 1; i < lengths[d]; ++i) expected.push_back(static_cast<int32_t>(100 * d) + i);
    }
    std::sort(targets.begin(), targets.end());
    EXPECT_EQ(targets, expected);
  }
}

TEST(Loader, ADocumentThatFitsIsNeverCut) {
  std::vector<int32_t> lengths;
  Random random(3);
  for (int i = 0; i < 300; ++i) lengths.push_back(static_cast<int32_t>(2 + random.below(40)));
  const Documents text(lengths, 1);
  Loader loader(text.sequence(), {1, 41}, 2, Sampling::shuffled_windows, Packing::documents);
  uint64_t windows = 0, filled = 0;
  for (; loader.state().epoch == 0; ++windows) {
    const Batch batch = next(loader);
    filled += scored(batch).size();
    for (size_t i = 0; i < 41; ++i) {
      const int32_t target = batch.targets[i];
      if (target == ignored_target || target % 100 + 1 == lengths[static_cast<size_t>(target / 100)])
        continue;
      ASSERT_LT(i + 1, 41u);
      ASSERT_EQ(batch.targets[i + 1], target + 1);
    }
  }
  EXPECT_EQ(filled, loader.epoch_tokens());
  EXPECT_GE(static_cast<double>(filled), 0.97 * 41 * static_cast<double>(windows));
}

TEST(Loader, WhatIsOnlyPromptIsLeftOut) {
  const Documents text({5, 8, 20}, 8);
  Loader loader(text.sequence(), {1, 10}, 1, Sampling::shuffled_windows, Packing::documents);
  for (int step = 0; step < 12; ++step) {
    const std::vector<int32_t> targets = scored(next(loader));
    EXPECT_FALSE(targets.empty());
    for (int32_t target : targets) EXPECT_GE(target, 208);
  }
}

TEST(Loader, PackedDocumentsResumeExactly) {
  const Documents text({3, 17, 1, 5, 9, 2, 40, 8, 11, 4, 3, 6, 7, 7, 9, 12});
  Loader straight(text.sequence(), {3, 12}, 42, Sampling::shuffled_windows, Packing::documents);
  for (int step = 0; step < 40; ++step) {
    Loader resumed(text.sequence(), {3, 12}, 0, Sampling::shuffled_windows, Packing::documents);
    resumed.restore(nlohmann::json::parse(nlohmann::json(straight.state()).dump()).get<LoaderState>());
    for (Loader copy = straight; copy.state().epoch < straight.state().epoch + 2;) {
      ASSERT_EQ(next(resumed), next(copy));
    }
    next(straight);
  }
}

TEST(Loader, PacksOnlyDocumentsThatItKnows) {
  const Counting text(100);
  const Documents short_ones({1, 1, 1});
  const auto pack = [](const TokenSequence& tokens, Sampling sampling) {
    return error_of([&] { Loader(tokens, {1, 8}, 1, sampling, Packing::documents); });
  };
  EXPECT_THAT(pack(text.span(), Sampling::shuffled_windows), HasSubstr("prepare it again"));
  EXPECT_THAT(pack(short_ones.sequence(), Sampling::shuffled_windows), HasSubstr("no document"));
  EXPECT_THAT(pack(short_ones.sequence(), Sampling::random_offsets), HasSubstr("shuffled_windows"));
  EXPECT_EQ(packing_from_string(to_string(Packing::documents)), Packing::documents);
  EXPECT_THAT(error_of([] { packing_from_string("x"); }), HasSubstr("got 'x'"));
}

TEST(EvalBatches, OfDocumentsGiveEachWindowOnce) {
  const std::vector<int32_t> lengths = {3, 17, 1, 5, 9, 2, 40, 8, 11, 4, 3, 6};
  const Documents text(lengths, 2);
  const EvalBatches all(text.sequence(), {4, 16}, {.packing = Packing::documents});
  std::vector<int32_t> targets;
  for (int64_t index = 0; index < all.count(); ++index) {
    Batch batch(all.shape());
    const int64_t count = all.get(index, batch.tokens, batch.targets);
    const std::vector<int32_t> here = scored(batch);
    EXPECT_EQ(count, static_cast<int64_t>(here.size()));
    targets.insert(targets.end(), here.begin(), here.end());
  }
  std::sort(targets.begin(), targets.end());
  std::vector<int32_t> expected;
  for (size_t d = 0; d < lengths.size(); ++d) {
    for (int32_t i = 2; i < lengths[d]; ++i) expected.push_back(static_cast<int32_t>(100 * d) + i);
  }
  EXPECT_EQ(targets, expected);
  const EvalBatches few(text.sequence(), {2, 16}, {.max_batches = 2, .packing = Packing::documents});
  EXPECT_EQ(few.count(), 2);
}

TEST(EvalBatches, RefuseBadOptions) {
  const Counting text(100);
  EXPECT_THAT(error_of([&] { EvalBatches(text.span(), {1, 10}, {10, 0}); }), HasSubstr("from 0 to 9"));
  EXPECT_THAT(error_of([&] { EvalBatches(text.span(), {1, 10}, {0, -1}); }), HasSubstr("max_batches"));
  Batch batch({1, 10});
  EXPECT_THAT(error_of([&] { EvalBatches(text.span(), {1, 10}).get(10, batch.tokens, batch.targets); }),
              HasSubstr("batch 10 of 10"));
}

}  // namespace
}  // namespace cladtorch::data
