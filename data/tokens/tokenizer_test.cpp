#include "cladtorch/data/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "cladtorch/random.h"
#include "data/text/utf8.h"
#include "data/tokens/sentencepiece_model.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using io::error_of;
using io::TemporaryFolder;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ByteTokenizer, RandomBytesSurviveARoundTrip) {
  const ByteTokenizer tokenizer;
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::string bytes(random.below(300), '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    const std::vector<int32_t> tokens = tokenizer.encode(bytes);
    ASSERT_EQ(tokens.size(), bytes.size());
    ASSERT_EQ(tokenizer.decode(tokens), bytes);
  }
}

TEST(CharTokenizer, RandomUnicodeSurvivesARoundTrip) {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::string text;
    size_t characters = 1 + random.below(100);
    for (size_t i = 0; i < characters; ++i) {
      char32_t c = static_cast<char32_t>(random.below(trial % 2 ? 0x110000 : 0x180));
      text += utf8::encode(utf8::is_scalar(c) ? c : U'\n');
    }
    const CharTokenizer tokenizer = CharTokenizer::from_text(text);
    const std::vector<int32_t> tokens = tokenizer.encode(text);
    ASSERT_EQ(tokens.size(), characters);
    ASSERT_EQ(tokenizer.decode(tokens), text);
    ASSERT_EQ(tokenizer_from_json(json::parse(tokenizer.to_json().dump()))->encode(text), tokens);
  }
}

TEST(CharTokenizer, NumbersCharactersInTheOrderOfTheirCodePoints) {
  const CharTokenizer tokenizer = CharTokenizer::from_text(
      "b\xc3\xa9"
      "a\nb");
  EXPECT_THAT(tokenizer.code_points(), ElementsAre(U'\n', U'a', U'b', U'\u00e9'));
  EXPECT_THAT(tokenizer.encode("a\xc3\xa9\n"), ElementsAre(1, 3, 0));
  EXPECT_EQ(tokenizer.token_bytes(3), "\xc3\xa9");
}

TEST(CharTokenizer, NamesTheCharacterThatTrainingNeverSaw) {
  const CharTokenizer tokenizer = CharTokenizer::from_text("abc");
  EXPECT_THAT(error_of([&] { tokenizer.encode("ab\xc3\xa9"); }),
              testing::AllOf(HasSubstr("'\xc3\xa9' (U+00E9) at byte 2"), HasSubstr("3 characters")));
  EXPECT_THAT(error_of([&] { tokenizer.encode("a\tb"); }), HasSubstr("the character U+0009 at byte 1"));
  EXPECT_THAT(error_of([&] { tokenizer.encode("a\xff"); }), HasSubstr("not UTF-8 at byte 1"));
}

TEST(Tokenizer, RefusesTokensOutsideTheVocabulary) {
  const std::vector<int32_t> high = {256}, low = {-1};
  EXPECT_THAT(error_of([&] { ByteTokenizer().decode(high); }),
              HasSubstr("token 256 is outside the vocabulary of 256"));
  EXPECT_THAT(error_of([&] { CharTokenizer::from_text("a").decode(low); }), HasSubstr("token -1 is outside"));
}

TEST(Tokenizer, SavesAndLoadsWithTheSameFingerprint) {
  const TemporaryFolder folder;
  const CharTokenizer character = CharTokenizer::from_text("na\xc3\xafve \"fox\"\n");
  const ByteTokenizer byte;
  for (const Tokenizer* tokenizer :
       {static_cast<const Tokenizer*>(&character), static_cast<const Tokenizer*>(&byte)}) {
    tokenizer->save(folder.path() / "tokenizer.json");
    const TokenizerPtr loaded = load_tokenizer(folder.path() / "tokenizer.json");
    EXPECT_EQ(loaded->kind(), tokenizer->kind());
    EXPECT_EQ(loaded->vocab_size(), tokenizer->vocab_size());
    EXPECT_EQ(loaded->fingerprint(), tokenizer->fingerprint());
  }
  EXPECT_NE(character.fingerprint(), byte.fingerprint());
  EXPECT_NE(character.fingerprint(), CharTokenizer::from_text("abc").fingerprint());
}

TEST(Tokenizer, SaysWhatIsWrongWithAFile) {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& content) {
    return error_of([&] { load_tokenizer(folder.write("t.json", content)); });
  };
  const std::string head = R"({"format":"cladtorch-tokenizer","version":1,"kind":)";
  EXPECT_THAT(load("{"), testing::AllOf(HasSubstr("t.json"), HasSubstr("not JSON")));
  EXPECT_THAT(load("[]"), HasSubstr("expected a JSON object, found array"));
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(load(R"({"model":)" + deep + "}"), HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(load(R"({"format":"cladtorch-tokenizer","version":9})"),
              HasSubstr("expected version 1, got 9"));
  EXPECT_THAT(load(head + R"("bpe"})"), HasSubstr("got \"bpe\""));
  EXPECT_THAT(load(head + R"("char"})"), HasSubstr("'characters' must be a list"));
  EXPECT_THAT(load(head + R"("char","characters":[]})"), HasSubstr("at least one"));
  EXPECT_THAT(load(head + R"("char","characters":["a","bc"]})"), HasSubstr("entry 1"));
  EXPECT_THAT(load(head + R"("char","characters":["b","a"]})"), HasSubstr("must ascend"));
  EXPECT_THAT(error_of([&] { load_tokenizer(folder.path() / "none.json"); }), HasSubstr("none.json"));
}

/// A unit that no byte leads to, or the replacement at the beginning.
constexpr uint32_t no_byte = 0x80000000u;

/// A model file that has only the rule that "a" becomes "b": its blob, the trie in 256 units and the
/// replacement.
std::string model_with_rule(const std::function<void(std::vector<uint32_t>&)>& change = {},
                            const std::string& replacements = std::string("b\0", 2)) {
  std::vector<uint32_t> units(512, no_byte);
  units[0] = 256u << 10;  // the root: places begin at 256
  units[256 ^ 'a'] =
      (256u ^ 'a' ^ 288u) << 10 | 1u << 8 | 'a';  // a rule ends here; what it becomes says unit 288
  if (change) change(units);
  std::string blob(4, '\0');
  const auto bytes = static_cast<uint32_t>(units.size() * 4);
  std::memcpy(blob.data(), &bytes, 4);
  blob.append(reinterpret_cast<const char*>(units.data()), bytes);
  blob += replacements;
  const auto field = [](char tag, const std::string& content) {
    std::string size;
    for (size_t rest = content.size(); rest > 0; rest >>= 7)
      size += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    return tag + size + content;
  };
  return field(3 << 3 | 2, field(2 << 3 | 2, blob));
}

TEST(SentencePieceModel, RulesThatLeadOutsideOfTheirTableAreRefused) {
  const auto refused = [](const std::string& model) {
    return error_of([&] { check_sentencepiece_model(model); });
  };
  EXPECT_EQ(refused(model_with_rule()), "");
  const std::string damaged = "expected a SentencePiece model: its table of normalization rules is damaged";
  const auto with = [&](size_t unit, uint32_t value) {
    return refused(model_with_rule([&](std::vector<uint32_t>& units) { units[unit] = value; }));
  };
  EXPECT_EQ(with(0, 512u << 10), damaged) << "a root beyond the table";
  EXPECT_EQ(with(256 ^ 'a', 4096u << 10 | 1u << 8 | 'a'), damaged) << "a place beyond the table";
  EXPECT_EQ(with(256 ^ 'a', 'a' << 10 | 'a'), damaged) << "a path without an end";
  EXPECT_EQ(with(288, 0x80000002u), damaged) << "a replacement behind the last";
  EXPECT_EQ(refused(model_with_rule({}, "b")), damaged) << "a replacement without an end";
  EXPECT_EQ(refused(model_with_rule({}, "")), damaged);
  std::string cut = model_with_rule();
  cut.resize(cut.size() - 1);
  EXPECT_EQ(refused(cut), "expected a SentencePiece model, which this is not");
}

TEST(SentencePieceModel, APieceWithAZeroByteIsRefused) {
  EXPECT_EQ(error_of([] {
              check_sentencepiece_model(
                  std::string("\x0a\x05\x0a\x03"
                              "a\0b",
                              7));
            }),
            "expected a SentencePiece model: one of its pieces holds a zero byte");
}

TEST(SentencePieceModel, MoreRulesInsideEachOtherThanTheLibraryHasRoomForAreRefused) {
  for (uint32_t rules : {32u, 33u}) {
    const std::string model = model_with_rule([&](std::vector<uint32_t>& units) {
      units.assign(256 * 40, no_byte);
      units[0] = 256u << 10;
      for (uint32_t i = 0; i < rules; ++i) {
        const uint32_t number = 256 * (i + 1) ^ 'a', next = 256 * (i + 2);
        units[number] = (number ^ next) << 10 | 1u << 8 | 'a';
      }
    });
    EXPECT_EQ(error_of([&] { check_sentencepiece_model(model); }).empty(), rules == 32) << rules;
  }
}

}  // namespace
}  // namespace cladtorch::data
