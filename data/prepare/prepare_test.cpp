#include "cladtorch/data/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cladtorch/data/dataset.h"
#include "cladtorch/data/loader.h"
#include "cladtorch/io/folder_lock.h"
#include "cladtorch/random.h"
#include "data/text/compress.h"
#include "data/text/utf8.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

PrepareOptions bytes_options() {
  PrepareOptions options;
  options.vocabulary = Vocabulary::bytes;
  return options;
}

std::string text_of(const Dataset& dataset, const TokenSequence& tokens) {
  std::vector<int32_t> all(tokens.size());
  tokens.copy(0, all);
  return dataset.tokenizer->decode(all);
}

std::vector<std::string> documents_of(const Dataset& dataset, const TokenSequence& tokens) {
  std::vector<uint64_t> bounds = tokens.documents();
  bounds.push_back(tokens.size());
  std::vector<std::string> documents;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    documents.push_back(text_of(dataset, tokens.subsequence(bounds[i], bounds[i + 1] - bounds[i])));
  }
  return documents;
}

/// The text with "_" for each byte that is ignored.
std::string learned(const Dataset& dataset, const TokenSequence& tokens) {
  std::string text = text_of(dataset, tokens);
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens.ignored(i)) text[i] = '_';
  }
  return text;
}

Dataset prepare(const TemporaryFolder& folder, const std::string& text, const PrepareOptions& options) {
  prepare_text(folder / text, folder / "out", options);
  return shard_dataset(folder / "out");
}

std::string random_line(Random& random, size_t most) {
  std::string text;
  for (size_t left = 1 + random.below(most); left > 0; --left) {
    text += utf8::encode(
        static_cast<char32_t>(random.below(20) == 0 ? 0x4e00 + random.below(500) : 'a' + random.below(26)));
  }
  return text;
}

/// Documents of some megabytes in all, as JSON Lines.
std::string many_lines(int count) {
  Random random(11);
  std::string lines;
  for (int i = 0; i < count; ++i) {
    json line = {{"id", i}, {"text", std::to_string(i) + " " + random_line(random, 300)}};
    if (random.below(3) == 0) {
      line = {{"prompt", "p" + std::to_string(i) + " "}, {"completion", random_line(random, 50)}};
    }
    lines += line.dump() + "\n";
  }
  return lines;
}

std::map<std::string, std::string> files_of(const TemporaryFolder& folder, const std::string& name) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / name)) {
    const std::string file = entry.path().filename().string();
    files[file] = folder.read(name + "/" + file);
  }
  return files;
}

TEST(Prepare, GivesTheSameBytesOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const std::string lines = many_lines(8000);
  folder.write("text/a.jsonl", lines);
  folder.write("text/b.jsonl.zst", zstd(lines));
  folder.write("text/c.txt.gz", gzip(lines));
  for (const Vocabulary& vocabulary : {Vocabulary::bytes, Vocabulary::characters}) {
    PrepareOptions options;
    options.vocabulary = vocabulary;
    options.shard_tokens = 1'000'000;
    std::map<std::string, std::string> first;
    for (int threads : {1, 2, 5}) {
      options.threads = threads;
      const PrepareSummary summary = prepare_text(folder / "text", folder / "out", options);
      EXPECT_EQ(summary.documents, 16001u);
      const auto files = files_of(folder, "out");
      if (threads == 1) first = files;
      EXPECT_EQ(files.size(), first.size());
      EXPECT_TRUE(files == first) << threads;
    }
    EXPECT_GE(first.size(), 2u + 4u);
  }
}

TEST(Prepare, GivesTheTokensThatTheTextHasInMemory) {
  const TemporaryFolder folder;
  Random random(5);
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += utf8::encode(static_cast<char32_t>(32 + random.below(0x400)));
  folder.write("text/a.txt", text);
  folder.write("text/b.txt", "more");
  folder.write("lines.jsonl", many_lines(500));
  for (const char* name : {"text", "lines.jsonl"}) {
    for (const Vocabulary& vocabulary : {Vocabulary::bytes, Vocabulary::characters}) {
      PrepareOptions options;
      options.vocabulary = vocabulary;
      options.shard_tokens = 123'456;
      const Dataset prepared = prepare(folder, name, options);
      const Dataset direct = open_dataset(folder / name, vocabulary);
      EXPECT_EQ(prepared.name, direct.name);
      EXPECT_EQ(prepared.tokenizer->fingerprint(), direct.tokenizer->fingerprint());
      EXPECT_TRUE(documents_of(prepared, prepared.train) == documents_of(direct, direct.train));
      EXPECT_TRUE(documents_of(prepared, prepared.validation) == documents_of(direct, direct.validation));
      EXPECT_TRUE(learned(prepared, prepared.train) == learned(direct, direct.train));
      EXPECT_TRUE(learned(prepared, prepared.validation) == learned(direct, direct.validation));
    }
  }
}

TEST(Prepare, TheTailOfATextIsItsLastTenth) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  folder.write("t.txt", text);
  for (uint64_t shard_tokens : {100'000, 1000, 501, 389, 64}) {
    PrepareOptions options = bytes_options();
    options.shard_tokens = shard_tokens;
    const Dataset data = prepare(folder, "t.txt", options);
    EXPECT_EQ(text_of(data, data.train) + text_of(data, data.validation), text);
    EXPECT_EQ(data.validation.size(), text.size() / 10);
    const json description = json::parse(folder.read("out/dataset.json"));
    uint64_t sum = 0;
    for (const json& shard : description["train"]) {
      EXPECT_LE(shard["tokens"], shard_tokens);
      sum += shard["tokens"].get<uint64_t>();
    }
    EXPECT_EQ(sum, data.train.size());
    // Nothing that the list does not name is left.
    EXPECT_EQ(files_of(folder, "out").size(),
              3 + description["train"].size() + description["validation"].size());
  }
  PrepareOptions options = bytes_options();
  options.validation_share = 0.25;
  EXPECT_EQ(prepare(folder, "t.txt", options).validation.size(), text.size() / 4);
  options.validation_share = 0;
  EXPECT_TRUE(prepare(folder, "t.txt", options).validation.empty());
}

TEST(Prepare, DocumentsForValidationAreChosenByTheSeed) {
  const TemporaryFolder folder;
  std::string lines;
  std::multiset<std::string> expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = "document " + std::to_string(i) + "\n";
    lines += json({{"text", text}}).dump() + "\n";
    expected.insert(text);
  }
  folder.write("t.jsonl", lines);
  PrepareOptions options = bytes_options();
  options.validation_share = 0.2;
  std::set<std::vector<std::string>> choices;
  for (uint64_t seed : {1, 2, 1}) {
    options.seed = seed;
    const Dataset data = prepare(folder, "t.jsonl", options);
    std::vector<std::string> train = documents_of(data, data.train);
    const std::vector<std::string> validation = documents_of(data, data.validation);
    EXPECT_NEAR(static_cast<double>(validation.size()), 400, 5 * 18);  // five standard deviations
    choices.insert(validation);
    std::multiset<std::string> all(train.begin(), train.end());
    all.insert(validation.begin(), validation.end());
    EXPECT_EQ(all, expected);
  }
  EXPECT_EQ(choices.size(), 2u);
  folder.write("one.jsonl", "{\"text\":\"alone\"}\n");
  EXPECT_THAT(error_of([&] { prepare(folder, "one.jsonl", options); }),
              AllOf(HasSubstr("of 1 documents "), HasSubstr("split by tail")));
  options.split = Split::tail;
  const Dataset prepared = prepare(folder, "one.jsonl", options);
  EXPECT_EQ(text_of(prepared, shard_dataset(folder / "out").validation), "e");
}

TEST(Prepare, ANewlineStandsBetweenDocumentsWhereNothingElseDoes) {
  const TemporaryFolder folder;
  folder.write("d/a.txt", "one");
  folder.write("d/b.txt", "two\n");
  folder.write("d/c.txt", "three");
  PrepareOptions options;
  options.validation_share = 0;
  for (const Vocabulary& vocabulary : {Vocabulary::bytes, Vocabulary::characters}) {
    options.vocabulary = vocabulary;
    const Dataset data = prepare(folder, "d", options);
    EXPECT_THAT(documents_of(data, data.train), ElementsAre("one\n", "two\n", "three"));
  }
}

TEST(Prepare, OnlyAnswersAreLearned) {
  const TemporaryFolder folder;
  folder.write("t.jsonl",
               R"({"prompt":"2+2=","completion":"4"})"
               "\n"
               R"({"text":"plain"})"
               "\n"
               R"({"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo"}]})");
  PrepareOptions options;
  options.validation_share = 0;
  for (const Vocabulary& vocabulary : {Vocabulary::bytes, Vocabulary::characters}) {
    options.vocabulary = vocabulary;
    const Dataset data = prepare(folder, "t.jsonl", options);
    EXPECT_EQ(text_of(data, data.train), "2+2=4\nplain\n<|user|>\nHi\n<|assistant|>\nYo\n");
    EXPECT_EQ(learned(data, data.train), "____4\nplain\n__________________________Yo\n");
  }
  // Batches of these shards ask for the answers only, each of them once.
  const Dataset data = shard_dataset(folder / "out");
  Loader loader(data.train, {1, 64}, 1, Sampling::shuffled_windows, Packing::documents);
  std::vector<int32_t> tokens(64), targets(64);
  loader.next(tokens, targets);
  EXPECT_EQ(loader.state().epoch, 1u);
  std::erase(targets, ignored_target);
  std::string asked = data.tokenizer->decode(targets);
  std::sort(asked.begin(), asked.end());
  EXPECT_EQ(asked, "\n\n\n4Yailno");
}

TEST(Prepare, ATextOfItsOwnMayBeForValidation) {
  const TemporaryFolder folder;
  folder.write("t.jsonl", "{\"text\":\"train\"}\n");
  folder.write("v.txt", "check\xc3\xa9");
  PrepareOptions options;
  options.validation = folder / "v.txt";
  const Dataset data = prepare(folder, "t.jsonl", options);
  EXPECT_EQ(text_of(data, data.train), "train");
  EXPECT_EQ(text_of(data, data.validation), "check\xc3\xa9");
}

TEST(Prepare, ManyShardsGiveTheBatchesOfOne) {
  const TemporaryFolder folder;
  folder.write("t.jsonl", many_lines(300));
  PrepareOptions options = bytes_options();
  prepare_text(folder / "t.jsonl", folder / "one", options);
  options.shard_tokens = 997;
  prepare_text(folder / "t.jsonl", folder / "many", options);
  const Dataset one = shard_dataset(folder / "one"), many = shard_dataset(folder / "many");
  for (auto [sampling, packing] : {std::pair{Sampling::shuffled_windows, Packing::packed},
                                   {Sampling::random_offsets, Packing::packed},
                                   {Sampling::shuffled_windows, Packing::documents}}) {
    Loader a(one.train, {3, 50}, 9, sampling, packing), b(many.train, {3, 50}, 9, sampling, packing);
    std::vector<int32_t> tokens_a(150), tokens_b(150), targets_a(150), targets_b(150);
    for (int step = 0; step < 700; ++step) {  // more than an epoch
      a.next(tokens_a, targets_a);
      b.next(tokens_b, targets_b);
      ASSERT_EQ(tokens_a, tokens_b);
      ASSERT_EQ(targets_a, targets_b);
    }
    EXPECT_EQ(a.state(), b.state());
  }
}

TEST(Prepare, CountsLinesThatItSkips) {
  const TemporaryFolder folder;
  folder.write("t.jsonl", "{\"text\":\"a\"}\nnot json\n{\"text\":\"b\"}\n{}\n");
  PrepareOptions options = bytes_options();
  options.split = Split::tail;
  EXPECT_THAT(error_of([&] { prepare(folder, "t.jsonl", options); }),
              HasSubstr("t.jsonl', line 2: this is not"));
  EXPECT_FALSE(is_prepared(folder / "out"));
  options.text.skip_invalid = true;
  const PrepareSummary summary = prepare_text(folder / "t.jsonl", folder / "out", options);
  EXPECT_EQ(summary.skipped, 2u);
  EXPECT_EQ(summary.documents, 2u);
}

TEST(Prepare, TellsHowFarItIs) {
  const TemporaryFolder folder;
  folder.write("t.jsonl.gz", gzip(many_lines(10000)));
  PrepareOptions options;
  options.threads = 2;
  std::vector<ReadProgress> seen;
  options.progress = [&](const ReadProgress& progress) { seen.push_back(progress); };
  prepare(folder, "t.jsonl.gz", options);
  ASSERT_GE(seen.size(), 4u);
  EXPECT_TRUE(seen.front().counting);
  EXPECT_FALSE(seen.back().counting);
  EXPECT_EQ(seen.back().bytes, seen.back().total_bytes);
  EXPECT_EQ(seen.back().documents, 10000u);
  for (size_t i = 1; i < seen.size(); ++i) {
    if (seen[i].counting != seen[i - 1].counting) continue;
    EXPECT_GE(seen[i].bytes, seen[i - 1].bytes);
  }
  options.progress = [](const ReadProgress& progress) {
    if (!progress.counting) fail("enough");
  };
  EXPECT_EQ(error_of([&] { prepare(folder, "t.jsonl.gz", options); }), "enough");
  EXPECT_TRUE(is_prepared(folder / "out"));  // still the one before
}

TEST(Prepare, RefusesWhatCannotBePrepared) {
  const TemporaryFolder folder;
  folder.write("text/a.txt", "Some text.");
  folder.write("none.jsonl", "\n");
  folder.write("none.txt.gz", gzip(""));
  const auto error = [&](const char* text, const char* out, const PrepareOptions& options = {}) {
    return error_of([&] { prepare_text(folder / text, folder / out, options); });
  };
  EXPECT_THAT(error("text", "text/tokens"), HasSubstr("would become a part of it"));
  EXPECT_THAT(error("text", "text"), HasSubstr("lies in the text"));
  EXPECT_FALSE(std::filesystem::exists(folder / "text/tokens"));
  EXPECT_EQ(error("text/a.txt", "text/tokens"), "");
  EXPECT_THAT(error("text/tokens", "more"), HasSubstr("holds prepared tokens already"));
  for (const char* name : {"none.jsonl", "none.txt.gz"}) {
    EXPECT_THAT(error(name, "more"), AllOf(HasSubstr("there is no text in"), HasSubstr(name)));
    EXPECT_THAT(error(name, "more", bytes_options()), HasSubstr("there is no text in"));
  }
  PrepareOptions options;
  options.validation_share = 1;
  EXPECT_THAT(error("text", "more", options), HasSubstr("below 1, got 1"));
  options = {};
  options.vocabulary = Vocabulary((folder / "text/tokens").string());
  folder.write("other.txt", "text z");
  EXPECT_THAT(error("other.txt", "more", options), HasSubstr("other.txt': encode: the character 'z'"));
  options = {};
  options.shard_tokens = 0;
  EXPECT_THAT(error("text/a.txt", "more", options), HasSubstr("at least 1 token"));
  EXPECT_EQ(split_from_string(to_string(Split::documents)), Split::documents);
  EXPECT_THAT(error_of([] { split_from_string("x"); }), HasSubstr("got 'x'"));
}

TEST(Prepare, LeavesNoNewFolderBehindWhenItFails) {
  const TemporaryFolder folder;
  folder.write("t.jsonl", "{\"text\": \"a\"}\nno JSON\n");
  const auto error = [&](const std::string& out) {
    return error_of([&] { prepare_text(folder / "t.jsonl", folder / out, bytes_options()); });
  };
  EXPECT_THAT(error("new/tokens/"), HasSubstr("t.jsonl', line 2"));
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  std::filesystem::create_directory(folder / "old");
  EXPECT_THAT(error("old/tokens"), HasSubstr("t.jsonl', line 2"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "old"));
}

TEST(Prepare, OneProcessAtATimeWritesToAFolder) {
  const TemporaryFolder folder;
  folder.write("t.txt", "Some text.");
  std::filesystem::create_directory(folder / "out");
  const auto lock = io::FolderLock::try_lock(folder / "out");
  EXPECT_THAT(error_of([&] { prepare(folder, "t.txt", bytes_options()); }), HasSubstr("another process"));
}

}  // namespace
}  // namespace cladtorch::data
