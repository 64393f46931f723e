#include "cladtorch/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cladtorch/data/stories.h"
#include "cladtorch/random.h"
#include "data/text/utf8.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using testing::HasSubstr;

std::string decode(const Dataset& dataset) {
  std::string text;
  for (TokenSpan part : {dataset.train, dataset.validation}) {
    std::vector<int32_t> tokens(part.size());
    part.copy(0, tokens);
    text += dataset.tokenizer->decode(tokens);
  }
  return text;
}

TEST(Dataset, HoldsTheWholeTextAndKeepsTheLastTenthForValidation) {
  const TemporaryFolder folder;
  const std::string text = "Na\xc3\xafve foxes \xf0\x9f\xa6\x8a run.";  // 18 characters, 22 bytes
  folder.write("t.txt", text);
  const Dataset characters = text_dataset(folder.path() / "t.txt");
  EXPECT_EQ(decode(characters), text);
  EXPECT_EQ(characters.train.size(), 17u);
  EXPECT_EQ(characters.validation.size(), 1u);
  EXPECT_FALSE(characters.entropy_floor.has_value());
  const Dataset bytes = text_dataset(folder.path() / "t.txt", Vocabulary::bytes);
  EXPECT_EQ(decode(bytes), text);
  EXPECT_EQ(bytes.train.size(), 20u);
  EXPECT_EQ(bytes.validation.size(), 2u);
  EXPECT_EQ(bytes.tokenizer->vocab_size(), 256);
}

TEST(Dataset, StaysValidWhereOnlyACopyIsLeft) {
  Dataset copy;
  {
    const Dataset stories = stories_dataset(5000, 1);
    copy = stories;
  }
  EXPECT_EQ(decode(copy), generate_stories(5000, 1));
}

TEST(Dataset, PreparedShardsHoldTheSameTokensAsTheTextInMemory) {
  const TemporaryFolder folder;
  Random random(5);
  std::string text;
  for (int i = 0; i < 400000; ++i) text += utf8::encode(static_cast<char32_t>(32 + random.below(0x400)));
  folder.write("text/a.txt", text);
  for (const Vocabulary& vocabulary : {Vocabulary::characters, Vocabulary::bytes}) {
    prepare_text(folder.path() / "text", folder.path() / "prepared", vocabulary);
    const Dataset prepared = open_dataset(folder.path() / "prepared");
    const Dataset direct = open_dataset(folder.path() / "text", vocabulary);
    EXPECT_EQ(prepared.name, direct.name);
    EXPECT_EQ(prepared.tokenizer->fingerprint(), direct.tokenizer->fingerprint());
    EXPECT_EQ(prepared.train.size(), direct.train.size());
    EXPECT_EQ(prepared.validation.size(), direct.validation.size());
    EXPECT_TRUE(decode(prepared) == text);
    EXPECT_TRUE(decode(direct) == text);
  }
}

TEST(Dataset, SavedStoriesKeepTheirFloor) {
  const TemporaryFolder folder;
  const Dataset stories = stories_dataset(20000, 3);
  save_dataset(stories, folder.path() / "a/b");
  const Dataset loaded = shard_dataset(folder.path() / "a/b");
  EXPECT_EQ(loaded.name, "stories");
  EXPECT_EQ(loaded.entropy_floor, stories.entropy_floor);
  EXPECT_EQ(decode(loaded), decode(stories));
  EXPECT_EQ(*stories.entropy_floor, story_entropy());
}

TEST(Dataset, AShortTextOfStoriesHasTheVocabularyOfALongOne) {
  EXPECT_EQ(stories_dataset(1, 1).tokenizer->fingerprint(),
            stories_dataset(100000, 2).tokenizer->fingerprint());
}

TEST(Dataset, SaysWhatIsWrongWithAPreparedFolder) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "d";
  const auto reopen = [&] { return error_of([&] { shard_dataset(path); }); };
  save_dataset(stories_dataset(3000, 1), path);
  const std::string good_shard = folder.read("d/train.tokens"), good_json = folder.read("d/dataset.json");

  folder.write("d/train.tokens", good_shard.substr(0, good_shard.size() / 2));
  EXPECT_THAT(reopen(), HasSubstr("train.tokens': truncated or damaged"));
  folder.write("d/train.tokens", good_shard);
  EXPECT_EQ(reopen(), "");

  ByteTokenizer().save(path / "tokenizer.json");
  EXPECT_THAT(reopen(), HasSubstr("another vocabulary"));
  std::filesystem::remove(path / "tokenizer.json");
  EXPECT_THAT(reopen(), HasSubstr("tokenizer.json"));

  folder.write("d/dataset.json", R"({"format":"cladtorch-dataset","version":2})");
  EXPECT_THAT(reopen(), HasSubstr("expected a dataset of version 1"));
  std::filesystem::remove(path / "dataset.json");
  EXPECT_THAT(reopen(), HasSubstr("dataset.json"));
}

TEST(Dataset, AnOldDatasetIsGoneBeforeANewOneIsThere) {
  const TemporaryFolder folder;
  save_dataset(stories_dataset(3000, 1), folder / "d");
  std::filesystem::remove(folder / "d/validation.tokens");
  std::filesystem::create_directory(folder / "d/validation.tokens");  // writing stops here
  EXPECT_NE(error_of([&] { save_dataset(stories_dataset(3000, 2), folder / "d"); }), "");
  EXPECT_FALSE(is_prepared(folder / "d"));
}

TEST(Dataset, PreparesNoTokensAndNothingIntoTheTextItself) {
  const TemporaryFolder folder;
  folder.write("text/a.txt", "Some text.");
  EXPECT_THAT(error_of([&] { prepare_text(folder / "text", folder / "text/tokens"); }),
              HasSubstr("would become a part of it"));
  EXPECT_THAT(error_of([&] { prepare_text(folder / "text", folder / "text"); }),
              HasSubstr("lies in the text"));
  EXPECT_FALSE(std::filesystem::exists(folder / "text/tokens"));
  EXPECT_EQ(error_of([&] { prepare_text(folder / "text/a.txt", folder / "text/tokens"); }), "");
  EXPECT_THAT(error_of([&] { prepare_text(folder / "text/tokens", folder / "more"); }),
              HasSubstr("holds prepared tokens already"));
}

TEST(Dataset, RefusesAShardWithTokensBeyondItsVocabulary) {
  const TemporaryFolder folder;
  Dataset stories = stories_dataset(3000, 1);
  const std::vector<uint16_t> foreign = {1, 2, 999};
  stories.validation = TokenSpan(std::span(foreign));
  save_dataset(stories, folder.path() / "d");
  EXPECT_THAT(error_of([&] { shard_dataset(folder.path() / "d"); }), HasSubstr("token 2 is 999, outside"));
}

TEST(Vocabulary, NamesWhatIsNoVocabulary) {
  EXPECT_THAT(error_of([] { Vocabulary("bpe"); }), HasSubstr("'bpe' does not exist"));
  EXPECT_THAT(error_of([] { Vocabulary::characters.tokenizer(); }), HasSubstr("there is none"));
}
}  // namespace
}  // namespace cladtorch::data
