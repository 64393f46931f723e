#include "cladtorch/data/token_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "cladtorch/random.h"
#include "data/tokens/memory_tokens.h"
#include "data/tokens/shard_set.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::TemporaryFolder;
using testing::ElementsAre;

/// 0, 1, 2, ... in documents of random length, some of them with ignored tokens at the beginning.
void write_documents(TokenSink& sink, int32_t count, bool masked) {
  Random random(7);
  for (int32_t next = 0; next < count;) {
    const auto length = std::min(count - next, static_cast<int32_t>(1 + random.below(200)));
    std::vector<int32_t> tokens(static_cast<size_t>(length));
    std::iota(tokens.begin(), tokens.end(), next);
    const size_t prompt = masked ? random.below(tokens.size() + 1) : 0;
    sink.begin_document();
    sink.append(std::span(tokens).first(prompt), true);
    sink.append(std::span(tokens).subspan(prompt), false);
    next += length;
  }
}

std::vector<int32_t> tokens_of(const TokenSequence& sequence, bool targets = false) {
  std::vector<int32_t> tokens(sequence.size());
  targets ? sequence.copy_targets(0, tokens) : sequence.copy(0, tokens);
  return tokens;
}

ShardSet write_shards(const TemporaryFolder& folder, uint64_t shard_tokens, int32_t count, bool masked) {
  ShardSetWriter writer({folder.path(), "train", TokenWidth::u32, 5, shard_tokens, 0});
  write_documents(writer, count, masked);
  return open_shards(folder.path(), writer.finish(), 1 << 30, 5);
}

TEST(TokenSequence, IsTheSameHoweverManyShardsHoldIt) {
  for (bool masked : {false, true}) {
    MemoryTokens memory(TokenWidth::u32);
    write_documents(memory, 5000, masked);
    const TokenSequence expected = memory.finish();
    for (uint64_t shard_tokens : {1000000, 5000, 1024, 777}) {
      const TemporaryFolder folder;
      const ShardSet shards = write_shards(folder, shard_tokens, 5000, masked);
      EXPECT_EQ(shards.shards.size(), (5000 + shard_tokens - 1) / shard_tokens);
      const TokenSequence sequence = shards.tokens();
      EXPECT_EQ(tokens_of(sequence), tokens_of(expected));
      EXPECT_EQ(tokens_of(sequence, true), tokens_of(expected, true));
      EXPECT_EQ(sequence.documents(), expected.documents());
      EXPECT_EQ(sequence.has_ignored(), masked);
      for (size_t i = 0; i < sequence.size(); i += 31) {
        ASSERT_EQ(sequence[i], static_cast<int32_t>(i));
        ASSERT_EQ(sequence.ignored(i), expected.ignored(i));
      }
    }
  }
}

TEST(TokenSequence, ASubsequenceHasThePartOfEverything) {
  const TemporaryFolder folder;
  const ShardSet shards = write_shards(folder, 333, 2000, true);
  const TokenSequence all = shards.tokens();
  const std::vector<int32_t> tokens = tokens_of(all), targets = tokens_of(all, true);
  const std::vector<uint64_t> documents = all.documents();
  for (const auto& [first, count] :
       {std::pair{0, 2000}, {0, 0}, {2000, 0}, {332, 2}, {500, 1000}, {1999, 1}}) {
    const TokenSequence part = all.subsequence(static_cast<size_t>(first), static_cast<size_t>(count));
    ASSERT_EQ(part.size(), static_cast<size_t>(count));
    EXPECT_EQ(tokens_of(part), std::vector<int32_t>(tokens.begin() + first, tokens.begin() + first + count));
    EXPECT_EQ(tokens_of(part, true),
              std::vector<int32_t>(targets.begin() + first, targets.begin() + first + count));
    std::vector<uint64_t> starts;
    if (count > 0) starts.push_back(0);
    for (uint64_t start : documents) {
      const auto from = static_cast<uint64_t>(first);
      if (start > from && start < from + static_cast<uint64_t>(count)) starts.push_back(start - from);
    }
    EXPECT_EQ(part.documents(), starts);
  }
}

TEST(TokenSequence, CopyingKeepsDocumentsAndWhatIsIgnored) {
  const TemporaryFolder folder;
  const ShardSet shards = write_shards(folder, 1500, 20000, true);
  const TokenSequence all = shards.tokens().subsequence(17, 19000);
  MemoryTokens copy(TokenWidth::u16);
  copy_tokens(all, copy);
  const TokenSequence copied = copy.finish();
  EXPECT_EQ(tokens_of(copied), tokens_of(all));
  EXPECT_EQ(tokens_of(copied, true), tokens_of(all, true));
  EXPECT_EQ(copied.documents(), all.documents());
}

TEST(TokenSequence, KnowsNoDocumentsWhereNoneWereRecorded) {
  const std::vector<uint16_t> tokens = {1, 2, 3};
  const TokenSequence sequence = TokenSpan(std::span(tokens));
  EXPECT_TRUE(sequence.documents().empty());
  EXPECT_FALSE(sequence.has_ignored());
  EXPECT_EQ(sequence.size(), 3u);
  EXPECT_TRUE(TokenSequence().empty());
}

TEST(MemoryTokens, ADocumentWithoutTokensIsNone) {
  MemoryTokens memory(TokenWidth::u16);
  const std::vector<int32_t> two = {8, 9};
  memory.begin_document();
  memory.begin_document();
  memory.append(two, false);
  memory.begin_document();
  memory.append({}, true);
  EXPECT_THAT(memory.finish().documents(), ElementsAre(0));
}

}  // namespace
}  // namespace cladtorch::data
