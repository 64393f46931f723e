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
  for (const TokenSequence& part : {dataset.train, dataset.validation}) {
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
  const std::filesystem::path path = folder / "d";
  const auto reopen = [&] { return error_of([&] { shard_dataset(path); }); };
  save_dataset(stories_dataset(3000, 1), path);
  const std::string shard = folder.read("d/train-00000.tokens"), json = folder.read("d/dataset.json");

  folder.write("d/train-00000.tokens", shard.substr(0, shard.size() / 2));
  EXPECT_THAT(reopen(), HasSubstr("train-00000.tokens': truncated or damaged"));
  folder.write("d/train-00000.tokens", folder.read("d/validation-00000.tokens"));
  EXPECT_THAT(reopen(), HasSubstr("but dataset.json says"));
  std::filesystem::remove(path / "train-00000.tokens");
  EXPECT_THAT(reopen(), HasSubstr("train-00000.tokens'"));
  folder.write("d/train-00000.tokens", shard);
  EXPECT_EQ(reopen(), "");

  const std::string tokenizer = folder.read("d/tokenizer.json");
  ByteTokenizer().save(path / "tokenizer.json");
  EXPECT_THAT(reopen(), HasSubstr("another vocabulary"));
  std::filesystem::remove(path / "tokenizer.json");
  EXPECT_THAT(reopen(), HasSubstr("tokenizer.json"));
  folder.write("d/tokenizer.json", tokenizer);

  const auto described = [&](const std::string& text) {
    folder.write("d/dataset.json", text);
    return reopen();
  };
  const std::string head = R"({"format":"cladtorch-dataset","version":2)";
  EXPECT_THAT(described(R"({"format":"cladtorch-dataset","version":3})"), HasSubstr("version 1 or 2"));
  EXPECT_THAT(described("{"), HasSubstr("not JSON"));
  EXPECT_THAT(described(head + "}"), HasSubstr("'train' must be a list"));
  EXPECT_THAT(described(head + R"(,"train":[1]})"), HasSubstr("list of objects"));
  EXPECT_THAT(described(head + R"(,"train":[{"file":"x","tokens":-1}]})"), HasSubstr("key 'tokens' is -1"));
  EXPECT_THAT(described(head + R"(,"train":[{"file":"../x","tokens":1,"documents":0}]})"),
              HasSubstr("must lie beside it"));
  std::filesystem::remove(path / "dataset.json");
  EXPECT_THAT(reopen(), HasSubstr("dataset.json"));
}

TEST(Dataset, OpensAFolderOfTheFirstVersion) {
  const TemporaryFolder folder;
  const Dataset stories = stories_dataset(3000, 1);
  save_dataset(stories, folder / "d");
  std::filesystem::rename(folder / "d/train-00000.tokens", folder / "d/train.tokens");
  std::filesystem::rename(folder / "d/validation-00000.tokens", folder / "d/validation.tokens");
  folder.write("d/dataset.json",
               R"({"format":"cladtorch-dataset","version":1,"name":"old","entropy_floor":0.5})");
  const Dataset old = open_dataset(folder / "d");
  EXPECT_EQ(old.name, "old");
  EXPECT_EQ(old.entropy_floor, 0.5);
  EXPECT_EQ(decode(old), decode(stories));
}

TEST(Dataset, AnOldDatasetStaysUntilANewOneIsThere) {
  const TemporaryFolder folder;
  save_dataset(stories_dataset(3000, 1), folder / "d");
  Dataset bad = stories_dataset(3000, 2);
  const std::vector<uint32_t> foreign = {1, 2, 70000};
  bad.validation = TokenSequence(TokenSpan(std::span(foreign)));
  EXPECT_THAT(error_of([&] { save_dataset(bad, folder / "d"); }), HasSubstr("does not fit"));
  EXPECT_EQ(decode(shard_dataset(folder / "d")), generate_stories(3000, 1));
  EXPECT_FALSE(std::filesystem::exists(folder / "d/.preparing"));
  save_dataset(stories_dataset(3000, 2), folder / "d");
  EXPECT_EQ(decode(shard_dataset(folder / "d")), generate_stories(3000, 2));
}

TEST(Dataset, WhatAKillLeftUnmovedIsMovedWhenItIsOpened) {
  const TemporaryFolder folder;
  save_dataset(stories_dataset(3000, 1), folder / "old");
  save_dataset(stories_dataset(3000, 2), folder / "new");
  const char* files[] = {"train-00000.tokens", "validation-00000.tokens", "tokenizer.json",
                         "tokenizer_config.json", "dataset.json"};
  for (int moved = 0; moved <= 4; ++moved) {
    std::filesystem::remove_all(folder / "d");
    std::filesystem::copy(folder / "old", folder / "d");
    std::filesystem::copy(folder / "new", folder / "d/.preparing");
    folder.write("d/train-00007.tokens", "of the old one");
    if (moved > 0) std::filesystem::remove(folder / "d/dataset.json");
    for (int i = 0; i < moved; ++i) {
      std::filesystem::rename(folder / "d/.preparing" / files[i], folder / "d" / files[i]);
    }
    EXPECT_TRUE(is_prepared(folder / "d"));
    EXPECT_EQ(decode(shard_dataset(folder / "d")), generate_stories(3000, 2)) << moved;
    EXPECT_FALSE(std::filesystem::exists(folder / "d/.preparing"));
    EXPECT_FALSE(std::filesystem::exists(folder / "d/train-00007.tokens"));
  }
  // What was never complete does not count.
  std::filesystem::create_directory(folder / "d/.preparing");
  folder.write("d/.preparing/train-00000.tokens.tmp-1", "half");
  EXPECT_EQ(decode(shard_dataset(folder / "d")), generate_stories(3000, 2));
}

TEST(Dataset, RefusesAShardWithTokensBeyondItsVocabulary) {
  const TemporaryFolder folder;
  Dataset stories = stories_dataset(3000, 1);
  const std::vector<uint16_t> foreign = {1, 2, 999};
  stories.validation = TokenSequence(TokenSpan(std::span(foreign)));
  save_dataset(stories, folder.path() / "d");
  EXPECT_THAT(error_of([&] { shard_dataset(folder.path() / "d"); }), HasSubstr("token 2 is 999, outside"));
}

TEST(Dataset, AVocabularyHasANameOrAFile) {
  EXPECT_EQ(Vocabulary("byte").tokenizer()->kind(), "byte");
  EXPECT_THAT(error_of([] { Vocabulary("char").tokenizer(); }), HasSubstr("learned from a text"));
  EXPECT_THAT(error_of([] { Vocabulary("none"); }), HasSubstr("'none' does not exist"));
  const TemporaryFolder folder;
  folder.write("t.txt", "abcabcabcabc");
  CharTokenizer::from_text("abc").save(folder / "abc.json");
  CharTokenizer::from_text("abcd").save(folder / "abcd.json");
  const Vocabulary abc((folder / "abc.json").string()), abcd((folder / "abcd.json").string());
  EXPECT_EQ(text_dataset(folder / "t.txt", abcd).tokenizer->vocab_size(), 4);
  save_dataset(text_dataset(folder / "t.txt", abc), folder / "d");
  EXPECT_EQ(error_of([&] { open_dataset(folder / "d", abc); }), "");
  EXPECT_EQ(error_of([&] { open_dataset(folder / "d"); }), "");
  EXPECT_THAT(error_of([&] { open_dataset(folder / "d", abcd); }), HasSubstr("another vocabulary"));
}
}  // namespace
}  // namespace cladtorch::data
