#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cladtorch/data/bpe_tokenizer.h"
#include "cladtorch/random.h"
#include "data/tokens/base64.h"
#include "data/tokens/bpe/byte_alphabet.h"
#include "data/tokens/bpe/merge_table.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A tokenizer of the bytes and a few merges; `change` is merged into it.
json byte_level(const json& change = json::object()) {
  json vocabulary = json::object();
  for (int byte = 0; byte < 256; ++byte)
    vocabulary[bpe::to_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
  vocabulary["lo"] = 256;
  vocabulary["low"] = 257;
  vocabulary[bpe::to_alphabet(" low")] = 258;
  const std::string space = bpe::to_alphabet(" ");
  json tokenizer = {
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"decoder", {{"type", "ByteLevel"}}},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"l o", "lo w", space + " low"}}}}};
  tokenizer.merge_patch(change);
  return tokenizer;
}

std::string refused(const json& change) {
  return error_of([&] { BpeTokenizer::from_json(byte_level(change)); });
}

TEST(BpeTokenizer, MergesWhatWasLearnedFirst) {
  const auto tokenizer = BpeTokenizer::from_json(byte_level());
  EXPECT_EQ(tokenizer->vocab_size(), 259);
  EXPECT_THAT(tokenizer->encode("low slow"), ElementsAre(257, ' ', 's', 257));
  EXPECT_THAT(tokenizer->encode("low low"), ElementsAre(257, 258));
  EXPECT_THAT(tokenizer->encode(""), ElementsAre());
  EXPECT_EQ(tokenizer->token_bytes(258), " low");
  EXPECT_EQ(tokenizer->find("low"), 257);
  EXPECT_FALSE(tokenizer->find("slow").has_value());
  EXPECT_THAT(error_of([&] { tokenizer->token_bytes(259); }),
              HasSubstr("token 259 is outside the vocabulary of 259"));
}

TEST(BpeTokenizer, AnyBytesSurviveARoundTrip) {
  const auto tokenizer = BpeTokenizer::from_json(byte_level());
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bytes(random.below(200), '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(bytes)), bytes);
  }
}

TEST(BpeTokenizer, EncodesAMegabyteOfOneLetterAtOnce) {
  const auto tokenizer = BpeTokenizer::from_json(byte_level());
  const std::string text(1 << 20, 'l');
  EXPECT_EQ(tokenizer->encode(text).size(), text.size());
}

TEST(MergeTable, GivesTheSameForShortAndForLongRows) {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<bpe::Merge> merges;
    for (int32_t next = 4; next < 40; ++next) {
      const auto pick = [&] { return static_cast<int32_t>(random.below(static_cast<uint64_t>(next))); };
      merges.push_back({pick(), pick(), next});
    }
    const bpe::MergeTable table(merges);
    // A symbol that no merge has keeps the parts of a long row apart.
    std::vector<int32_t> long_row, expected;
    while (long_row.size() < 400) {
      std::vector<int32_t> part(random.below(100));
      for (int32_t& symbol : part) symbol = static_cast<int32_t>(random.below(4));
      long_row.insert(long_row.end(), part.begin(), part.end());
      long_row.push_back(99);
      table.apply(part);
      expected.insert(expected.end(), part.begin(), part.end());
      expected.push_back(99);
    }
    table.apply(long_row);
    ASSERT_EQ(long_row, expected);
  }
}

/// The definition: the pair learned first, everywhere from left to right, until none is left. Right where the
/// result of a merge is part of later merges only.
std::vector<int32_t> merged_one_by_one(std::vector<int32_t> row, const std::vector<bpe::Merge>& merges) {
  for (const bpe::Merge& merge : merges) {
    size_t count = 0;
    for (size_t i = 0; i < row.size(); ++count) {
      const bool pair = i + 1 < row.size() && row[i] == merge.left && row[i + 1] == merge.right;
      row[count] = pair ? merge.result : row[i];
      i += pair ? 2 : 1;
    }
    row.resize(count);
  }
  return row;
}

TEST(MergeTable, GivesTheSameForRowsThatAreTooLongForOneQueue) {
  Random random(3);
  std::vector<bpe::Merge> merges;
  for (int32_t result = 4; result < 40; ++result) {
    const auto part = [&] { return static_cast<int32_t>(random.below(static_cast<uint64_t>(result))); };
    const int32_t left = part(), right = part();
    const bool known = std::any_of(merges.begin(), merges.end(), [&](const bpe::Merge& merge) {
      return merge.left == left && merge.right == right;
    });
    merges.push_back(known ? bpe::Merge{result - 1, result - 1, result} : bpe::Merge{left, right, result});
  }
  std::vector<int32_t> mixed(1'300'000), same(1'300'001, 1);
  for (int32_t& symbol : mixed) symbol = static_cast<int32_t>(random.below(4));
  std::vector<bpe::Merge> doubling;
  for (const auto& [left, result] : {std::pair{1, 4}, {4, 5}, {5, 6}})
    doubling.push_back({left, left, result});
  for (const auto& [row, list] : {std::pair{&mixed, &merges}, {&same, &doubling}}) {
    std::vector<int32_t> joined = *row;
    bpe::MergeTable(*list).apply(joined);
    EXPECT_TRUE(joined == merged_one_by_one(*row, *list));
    EXPECT_LT(joined.size(), row->size());
  }
}

TEST(ByteAlphabet, GoesBothWays) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(bpe::from_alphabet(bpe::to_alphabet(all)), all);
  EXPECT_EQ(bpe::to_alphabet(" a\n"), "\u0120a\u010a");
  EXPECT_FALSE(bpe::from_alphabet("\u2581").has_value());
}

TEST(Base64, GoesBothWays) {
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  Random random(3);
  for (size_t length = 0; length < 50; ++length) {
    std::string bytes(length, '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
  EXPECT_FALSE(from_base64("Zm9").has_value());
  EXPECT_FALSE(from_base64("Zm9*").has_value());
}

TEST(BpeTokenizer, NamesPartsThatItDoesNotSupport) {
  EXPECT_THAT(refused({{"model", {{"type", "Unigram"}}}}), HasSubstr("the model 'Unigram' is not supported"));
  EXPECT_THAT(refused({{"model", {{"dropout", 0.1}}}}), HasSubstr("'dropout'"));
  EXPECT_THAT(refused({{"model", {{"end_of_word_suffix", "</w>"}}}}), HasSubstr("'end_of_word_suffix'"));
  EXPECT_THAT(refused({{"normalizer", {{"type", "Lowercase"}}}}), HasSubstr("the normalizer 'Lowercase'"));
  EXPECT_THAT(refused({{"pre_tokenizer", {{"type", "Whitespace"}}}}),
              HasSubstr("the pre_tokenizer 'Whitespace'"));
  EXPECT_THAT(refused({{"decoder", {{"type", "WordPiece"}}}}), HasSubstr("the decoder 'WordPiece'"));
  EXPECT_THAT(refused({{"post_processor", {{"type", "BertProcessing"}}}}),
              HasSubstr("the post_processor 'BertProcessing'"));
  EXPECT_THAT(refused({{"pre_tokenizer",
                        {{"type", "Split"}, {"pattern", {{"Regex", "a("}}}, {"behavior", "Isolated"}}}}),
              HasSubstr("the pattern 'a('"));
  json deep = {{"type", "NFC"}};
  for (int i = 0; i < 20; ++i) deep = {{"type", "Sequence"}, {"normalizers", {deep}}};
  EXPECT_THAT(refused({{"normalizer", deep}}), HasSubstr("more than 8 levels deep"));
}

TEST(BpeTokenizer, SaysWhatIsWrongWithAVocabulary) {
  EXPECT_THAT(refused({{"model", {{"merges", {"l"}}}}}), HasSubstr("\"l\" is not a pair of tokens"));
  EXPECT_THAT(refused({{"model", {{"merges", {"l q"}}}}}), HasSubstr("needs the token 'lq'"));
  EXPECT_THAT(refused({{"model", {{"merges", 1}}}}), HasSubstr("'merges' must be a list"));
  EXPECT_THAT(refused({{"model", {{"vocab", {{"x", 2000000000}}}}}}),
              HasSubstr("the number of the token 'x' is 2000000000"));
  EXPECT_THAT(refused({{"model", {{"vocab", {{"x", 5}}}}}}), HasSubstr("the number 5 stands for"));
  EXPECT_THAT(refused({{"model", {{"vocab", {{"x", -1}}}}}}), HasSubstr("the number of the token 'x' is -1"));
  EXPECT_THAT(refused({{"model", {{"unk_token", "<unk>"}}}}), HasSubstr("'<unk>' is not in the vocabulary"));
  EXPECT_THAT(refused({{"added_tokens", {{{"id", 7}, {"content", "low"}}}}}),
              HasSubstr("but the vocabulary has it as 257"));
  EXPECT_THAT(refused({{"added_tokens", {{{"id", 999999}, {"content", "<a>"}}}}}),
              HasSubstr("far beyond the vocabulary"));
  EXPECT_THAT(refused({{"added_tokens", {{{"id", 259}}}}}), HasSubstr("'content' is missing"));
}

TEST(BpeTokenizer, NamesTheByteThatAVocabularyLacks) {
  json tokenizer = byte_level();
  tokenizer["model"]["vocab"].erase("q");
  EXPECT_THAT(error_of([&] { BpeTokenizer::from_json(tokenizer)->encode("aq"); }),
              HasSubstr("no token for 'q' (U+0071)"));
}

/// Its text is split by `pattern`, which is none of those that scanners of our own read.
std::shared_ptr<const BpeTokenizer> split_by(const json& pattern, const std::string& behavior = "Isolated",
                                             const json& added = json::array()) {
  json tokenizer = byte_level({{"added_tokens", added}});
  tokenizer["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  return BpeTokenizer::from_json(tokenizer);
}

std::string random_text(Random& random, size_t length) {
  static const std::string parts[] = {"low",    " ",      "  ", "\n",   "12345", "it's",
                                      "\u00e9", "\u4eca", ".",  "\xff", "slow",  "="};
  std::string text;
  while (text.size() < length) text += parts[random.below(std::size(parts))];
  return text;
}

TEST(BpeTokenizer, CutsATextWhereAnyPatternThatDoesNotLookBehindAllowsIt) {
  const json patterns[] = {{{"Regex", "\\p{N}{1,2}|\\p{L}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"}},
                           {{"Regex", "[\u4e00-\u9fff]+"}},
                           {{"Regex", " ?\\w+(?=.{0,9}\\d)|\\w| +"}},
                           {{"Regex", "(?:lo|low)(?= )|\\X"}},
                           {{"Regex", "[^ ]+$| "}},
                           {{"String", " "}},
                           {{"String", "  "}}};
  Random random(5);
  for (const json& pattern : patterns) {
    for (const char* behavior :
         {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"}) {
      const auto tokenizer = split_by(pattern, behavior);
      size_t cuts = 0;
      for (int trial = 0; trial < 40; ++trial) {
        const std::string text = random_text(random, 120);
        const std::vector<int32_t> expected = tokenizer->encode(text);
        for (size_t known = 1; known <= text.size(); known += 7) {
          const size_t cut = tokenizer->whole_length(std::string_view(text).substr(0, known));
          ASSERT_LE(cut, known);
          cuts += cut > 0;
          std::vector<int32_t> tokens;
          tokenizer->append_tokens(std::string_view(text).substr(0, cut), tokens, true);
          tokenizer->append_tokens(std::string_view(text).substr(cut), tokens, cut == 0);
          ASSERT_EQ(tokens, expected)
              << pattern << ' ' << behavior << ' ' << text << ' ' << known << ' ' << cut;
        }
      }
      EXPECT_EQ(cuts > 0,
                !std::string(behavior).starts_with("MergedWithN") && behavior != std::string("Contiguous"))
          << pattern << behavior;
    }
  }
}

TEST(BpeTokenizer, CutsAtMatchesOnlyBetweenAddedTokens) {
  const char* words[] = {"<s>", "<s", "<", "   ", " ", "low", "12", "<mask>", "\n", "<s>x"};
  Random random(6);
  for (const bool strips : {false, true}) {
    json added = {{{"id", 259}, {"content", "<s>"}, {"special", true}, {"normalized", strips}},
                  {{"id", 260}, {"content", "<mask>"}, {"lstrip", strips}, {"rstrip", strips}},
                  {{"id", 261}, {"content", "<s>xy"}, {"single_word", strips}}};
    const auto tokenizer = split_by({{"Regex", "\\p{N}{1,2}|\\p{L}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"}},
                                    "Isolated", added);
    size_t cuts = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      std::string text;
      for (int i = 0; i < 12; ++i) text += words[random.below(std::size(words))];
      const std::vector<int32_t> expected = tokenizer->encode(text);
      for (size_t known = 1; known <= text.size(); ++known) {
        const size_t cut = tokenizer->whole_length(std::string_view(text).substr(0, known));
        cuts += cut > 0;
        if (cut == 0) continue;
        std::vector<int32_t> tokens;
        tokenizer->append_tokens(std::string_view(text).substr(0, cut), tokens, true);
        tokenizer->append_tokens(std::string_view(text).substr(cut), tokens, false);
        ASSERT_EQ(tokens, expected) << text << ' ' << known << ' ' << cut;
      }
    }
    EXPECT_GT(cuts, 10000u);
  }
}

TEST(BpeTokenizer, DoesNotCutAtMatchesOfAnotherTextThanTheOneThatIsSplit) {
  json tokenizer = byte_level();
  const json split = {{"type", "Split"}, {"pattern", {{"Regex", ".."}}}, {"behavior", "Isolated"}};
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const auto cut = [&](const json& stages) {
    tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", stages}};
    return BpeTokenizer::from_json(tokenizer)->whole_length("low low low");
  };
  EXPECT_GT(cut({split, bytes}), 0u);
  EXPECT_EQ(cut({{{"type", "Digits"}, {"individual_digits", true}}, split, bytes}), 0u);
  tokenizer["normalizer"] = {{"type", "NFC"}};
  EXPECT_EQ(cut({split, bytes}), 0u);
}

TEST(BpeTokenizer, DoesNotCutWhereAPatternLooksBehind) {
  for (const char* pattern : {"(?<=l)o|.", "^l|o|w", "\\bl|o", "l\\Ko|.", "\\Gl|o", "(*UCP)l|o", "\\[^l|o"})
    EXPECT_EQ(split_by({{"Regex", pattern}})->whole_length("low low low"), 0u) << pattern;
}

TEST(BpeTokenizer, APatternThatTakesTooManyStepsIsAnError) {
  EXPECT_THAT(error_of([&] {
                split_by({{"Regex", "(l+)+(?=x)|(?:l|ll)+$|."}})->encode(std::string(400, 'l') + "o");
              }),
              AllOf(HasSubstr("the pattern '(l+)+"), HasSubstr("limit")));
}

TEST(LoadTokenizer, FindsTheFilesOfAFolder) {
  const TemporaryFolder folder;
  const json model = byte_level()["model"];
  const std::string merges = "#version: 0.2\nl o\nlo w\n\u0120 low\n";
  folder.write("a/vocab.json", model["vocab"].dump());
  EXPECT_THAT(error_of([&] { load_tokenizer(folder / "a"); }), HasSubstr("no vocab.json with merges.txt"));
  EXPECT_THAT(error_of([&] { load_tokenizer(folder / "a/vocab.json"); }),
              HasSubstr("needs merges.txt or vocab.bpe"));
  folder.write("a/merges.txt", merges);
  folder.write("b/encoder.json", model["vocab"].dump());
  folder.write("b/vocab.bpe", merges);
  folder.write("c/tokenizer.json", byte_level().dump());
  for (const char* path :
       {"a", "a/vocab.json", "a/merges.txt", "b", "b/encoder.json", "b/vocab.bpe", "c", "c/tokenizer.json"}) {
    EXPECT_THAT(load_tokenizer(folder / path)->encode("slow low"), ElementsAre('s', 257, 258)) << path;
  }
  EXPECT_THAT(error_of([&] { load_tokenizer(folder / "d"); }), HasSubstr("d'"));
  folder.write("e/merges.txt", merges);
  EXPECT_THAT(error_of([&] { load_tokenizer(folder / "e/merges.txt"); }),
              HasSubstr("merges need vocab.json"));
  folder.write("f/tokenizer.json", byte_level({{"normalizer", {{"type", "Strip"}}}}).dump());
  EXPECT_THAT(error_of([&] { load_tokenizer(folder / "f"); }),
              AllOf(HasSubstr("f/tokenizer.json"), HasSubstr("'Strip'")));
  folder.write("g/tokenizer.model", "no model");
  EXPECT_THAT(error_of([&] { load_tokenizer(folder / "g"); }), HasSubstr("expected a SentencePiece model"));
}

}  // namespace
}  // namespace cladtorch::data
