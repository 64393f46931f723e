#include "cladtorch/data/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "cladtorch/random.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using testing::HasSubstr;

std::vector<int32_t> random_tokens(size_t count, uint64_t bound) {
  Random random(count);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random.below(bound));
  return tokens;
}

void write(const std::filesystem::path& path, std::span<const int32_t> tokens, TokenWidth width) {
  ShardWriter writer(path, width, 77);
  writer.append(tokens);
  writer.finish();
}

std::vector<int32_t> read(const TokenShard& shard) {
  std::vector<int32_t> tokens(shard.tokens().size());
  shard.tokens().copy(0, tokens);
  return tokens;
}

TEST(Shard, TokensSurviveARoundTripInBothWidths) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "s.tokens";
  for (size_t count : {0, 1, 2, 3, 4, 5, 1000, 16368, 16369, 100003}) {
    for (auto [width, bound] : {std::pair{TokenWidth::u16, 65536u}, {TokenWidth::u32, 0x7fffffffu}}) {
      const std::vector<int32_t> tokens = random_tokens(count, bound);
      write(path, tokens, width);
      const TokenShard shard = TokenShard::open(path);
      EXPECT_EQ(shard.vocabulary(), 77u);
      EXPECT_EQ(shard.tokens().width(), width);
      EXPECT_EQ(read(shard), tokens);
    }
  }
}

TEST(Shard, IsTheSameFileHoweverTheTokensArrive) {
  const TemporaryFolder folder;
  const std::vector<int32_t> tokens = random_tokens(50000, 300);
  write(folder.path() / "whole", tokens, TokenWidth::u16);
  ShardWriter writer(folder.path() / "parts", TokenWidth::u16, 77);
  for (size_t at = 0, step = 0; at < tokens.size(); at += step) {
    step = std::min<size_t>(at % 977 + 1, tokens.size() - at);
    writer.append(std::span(tokens).subspan(at, step));
  }
  EXPECT_EQ(writer.count(), tokens.size());
  writer.finish();
  EXPECT_EQ(folder.read("whole"), folder.read("parts"));
}

TEST(Shard, AppearsOnlyWhenFinished) {
  const TemporaryFolder folder;
  {
    ShardWriter writer(folder.path() / "s", TokenWidth::u16, 1);
    writer.append(random_tokens(100000, 10));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "s"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Shard, RefusesATokenThatDoesNotFit) {
  const TemporaryFolder folder;
  ShardWriter writer(folder.path() / "s", TokenWidth::u16, 1);
  const std::vector<int32_t> high = {65536}, low = {-1};
  EXPECT_THAT(error_of([&] { writer.append(high); }), HasSubstr("token 65536 does not fit 2 bytes"));
  EXPECT_THAT(error_of([&] { writer.append(low); }), HasSubstr("token -1 does not fit"));
}

TEST(Shard, EverySingleBitFlipIsNoticed) {
  const TemporaryFolder folder;
  write(folder.path() / "s", random_tokens(11, 500), TokenWidth::u16);
  const std::string good = folder.read("s");
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const std::filesystem::path file = folder.write("bad", bad);
    EXPECT_THAT(error_of([&] { TokenShard::open(file); }), HasSubstr("bad'")) << "bit " << bit;
  }
}

TEST(Shard, EveryTruncationAndExtensionIsNoticed) {
  const TemporaryFolder folder;
  write(folder.path() / "s", random_tokens(9, 500), TokenWidth::u32);
  const std::string good = folder.read("s");
  for (size_t length = 1; length < good.size(); ++length) {
    const std::filesystem::path file = folder.write("cut", good.substr(0, length));
    EXPECT_THAT(error_of([&] { TokenShard::open(file); }), HasSubstr("cut'")) << length;
  }
  const std::filesystem::path longer = folder.write("long", good + std::string(8, '\0'));
  EXPECT_THAT(error_of([&] { TokenShard::open(longer); }), HasSubstr("truncated or damaged"));
}

TEST(Shard, SaysThatAForeignFileIsNoShard) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { TokenShard::open(folder.write("a.png", "\x89PNG and more than eight bytes")); }),
              HasSubstr("not a token shard"));
  EXPECT_THAT(error_of([&] { TokenShard::open(folder.path() / "missing"); }), HasSubstr("missing"));
  EXPECT_NE(error_of([&] { TokenShard::open(folder.write("empty", "")); }), "");
}

TEST(Shard, KeepsDocumentsAndIgnoredTokens) {
  const TemporaryFolder folder;
  const std::vector<int32_t> tokens = random_tokens(1000, 300);
  {
    ShardWriter writer(folder / "s", TokenWidth::u16, 77);
    writer.begin_document();
    writer.append(std::span(tokens).first(130));
    writer.append(std::span(tokens).subspan(130, 70), true);
    writer.begin_document();
    writer.append(std::span(tokens).subspan(200));
    writer.begin_document();  // without a token it is none
    writer.finish();
  }
  const TokenShard shard = TokenShard::open(folder / "s");
  EXPECT_EQ(read(shard), tokens);
  EXPECT_THAT(shard.part().documents, testing::ElementsAre(0, 200));
  const TokenSequence sequence({shard.part()});
  for (size_t i = 0; i < tokens.size(); ++i) ASSERT_EQ(sequence.ignored(i), i >= 130 && i < 200) << i;
}

TEST(Shard, ReadsTheFirstVersion) {
  // Five tokens of two bytes, written when a shard was header, tokens, count and checksum.
  const unsigned char bytes[] = {
      'c', 'l', 'a', 'd', 't', 'o', 'k', 's', 1, 0, 0, 0, 2,    0,    0,    0,    77,   0,    0,    0,   0, 0,
      0,   0,   0,   0,   0,   0,   0,   0,   0, 0, 1, 0, 2,    0,    3,    0,    4,    0,    5,    0,   0, 0,
      0,   0,   0,   0,   5,   0,   0,   0,   0, 0, 0, 0, 0xc9, 0xbf, 0x5f, 0xdd, 0xfe, 0x44, 0xfa, 0xba};
  const TemporaryFolder folder;
  folder.write("old", std::string(reinterpret_cast<const char*>(bytes), sizeof bytes));
  const TokenShard shard = TokenShard::open(folder / "old");
  EXPECT_EQ(shard.vocabulary(), 77u);
  EXPECT_THAT(read(shard), testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_TRUE(shard.part().documents.empty());
  EXPECT_TRUE(shard.part().ignored.empty());
}

TEST(TokenSpan, ASubspanReadsTheSameTokens) {
  const std::vector<uint32_t> wide = {5, 6, 70000, 8};
  const TokenSpan middle = TokenSpan(std::span(wide)).subspan(1, 2);
  EXPECT_EQ(middle.size(), 2u);
  EXPECT_EQ(middle[0], 6);
  EXPECT_EQ(middle[1], 70000);
  const std::vector<uint16_t> narrow = {1, 2, 3};
  EXPECT_EQ(TokenSpan(std::span(narrow)).subspan(2, 1)[0], 3);
  EXPECT_EQ(width_for(65536), TokenWidth::u16);
  EXPECT_EQ(width_for(65537), TokenWidth::u32);
}

}  // namespace
}  // namespace cladtorch::data
