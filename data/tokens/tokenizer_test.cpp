#include "cladtorch/data/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cladtorch/random.h"
#include "data/text/utf8.h"
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
  EXPECT_THAT(load("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(load(R"({"format":"cladtorch-tokenizer","version":9})"),
              HasSubstr("expected version 1, got 9"));
  EXPECT_THAT(load(head + R"("bpe"})"), HasSubstr("got \"bpe\""));
  EXPECT_THAT(load(head + R"("char"})"), HasSubstr("'characters' must be a list"));
  EXPECT_THAT(load(head + R"("char","characters":[]})"), HasSubstr("at least one"));
  EXPECT_THAT(load(head + R"("char","characters":["a","bc"]})"), HasSubstr("entry 1"));
  EXPECT_THAT(load(head + R"("char","characters":["b","a"]})"), HasSubstr("must ascend"));
  EXPECT_THAT(error_of([&] { load_tokenizer(folder.path() / "none.json"); }), HasSubstr("none.json"));
}

}  // namespace
}  // namespace cladtorch::data
