#include "tests/tokenizers/vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "cladtorch/data/token_stream.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/random.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using nlohmann::json;
using testing::ElementsAreArray;

constexpr const char* kinds[] = {
    "gpt2", "llama3", "qwen", "o200k", "digits", "splits", "llama2", "metaspace_first", "metaspace_always"};

void expect_same_tokens(const Tokenizer& tokenizer, const Vectors& vectors) {
  for (const Vectors::Text& entry : vectors.texts) {
    ASSERT_THAT(tokenizer.encode(entry.text), ElementsAreArray(entry.tokens)) << json(entry.text).dump();
  }
}

void expect_same_blocks(const Tokenizer& tokenizer, const Vectors& vectors) {
  for (size_t block = 0; block < vectors.blocks.size(); ++block) {
    ASSERT_EQ(hash_of(tokenizer.encode(block_text(block))), vectors.blocks[block])
        << "from U+" << std::hex << 256 * block;
  }
}

/// The texts one after the other, encoded in random pieces and as a whole.
void expect_same_in_pieces(const Tokenizer& tokenizer, const Vectors& vectors, uint64_t seed) {
  Random random(seed);
  std::string all;
  for (int i = 0; i < 400; ++i) all += vectors.texts[random.below(vectors.texts.size())].text;
  TokenStream stream(tokenizer);
  std::vector<int32_t> tokens;
  size_t longest_wait = 0, waiting = 0;
  for (size_t at = 0; at < all.size();) {
    const size_t length = std::min<size_t>(1 + random.below(200), all.size() - at);
    const std::vector<int32_t>& more = stream.append(std::string_view(all).substr(at, length));
    tokens.insert(tokens.end(), more.begin(), more.end());
    waiting = more.empty() ? waiting + length : 0;
    longest_wait = std::max(longest_wait, waiting);
    at += length;
  }
  const std::vector<int32_t>& rest = stream.finish();
  tokens.insert(tokens.end(), rest.begin(), rest.end());
  ASSERT_EQ(tokens, tokenizer.encode(all));
  EXPECT_EQ(longest_wait < all.size() / 2, tokenizer.whole_length("a word and another") > 0);
}

class Kind : public testing::TestWithParam<const char*> {
 protected:
  const Vectors vectors = load_vectors(GetParam());
  const TokenizerPtr tokenizer = load_tokenizer(vectors_folder() / GetParam());
};

TEST_P(Kind, GivesTheTokensOfHuggingFace) { expect_same_tokens(*tokenizer, vectors); }

TEST_P(Kind, GivesTheTokensOfHuggingFaceForAllOfUnicode) { expect_same_blocks(*tokenizer, vectors); }

TEST_P(Kind, DecodesAsHuggingFace) {
  const bool metaspace = std::string(GetParam()).starts_with("metaspace");
  for (const Vectors::Text& entry : vectors.texts) {
    // There all spaces at the beginning are lost, not just the one that was added.
    if (metaspace && (entry.text.starts_with(' ') || entry.text.starts_with("\u2581"))) continue;
    ASSERT_EQ(tokenizer->decode(entry.tokens), entry.decoded) << json(entry.text).dump();
  }
}

TEST_P(Kind, EncodesBytesThatAreNotUtf8) {
  for (const auto& [bytes, tokens] : vectors.bytes) {
    ASSERT_THAT(tokenizer->encode(bytes), ElementsAreArray(tokens)) << testing::PrintToString(bytes);
    ASSERT_EQ(tokenizer->decode(tokens), bytes);
  }
}

TEST_P(Kind, KnowsWhatGoesAroundAText) {
  std::vector<int32_t> around = tokenizer->special_tokens().before;
  around.insert(around.end(), tokenizer->special_tokens().after.begin(),
                tokenizer->special_tokens().after.end());
  EXPECT_EQ(around, vectors.around);
}

TEST_P(Kind, GivesTheSameTokensInPieces) {
  for (uint64_t seed = 0; seed < 20; ++seed) expect_same_in_pieces(*tokenizer, vectors, seed);
}

TEST_P(Kind, GivesTheSameTokensWhenSavedAndLoaded) {
  const io::TemporaryFolder folder;
  tokenizer->save(folder / "tokenizer.json");
  const TokenizerPtr loaded = load_tokenizer(folder / "tokenizer.json");
  EXPECT_EQ(loaded->fingerprint(), tokenizer->fingerprint());
  EXPECT_EQ(loaded->special_tokens().end_of_text, tokenizer->special_tokens().end_of_text);
  expect_same_tokens(*loaded, vectors);
}

std::string name_of(const testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Bpe, Kind, testing::ValuesIn(kinds), name_of);

class SentencePiece : public testing::TestWithParam<const char*> {};

TEST_P(SentencePiece, GivesTheTokensOfTheLibrary) {
  const Vectors vectors = load_vectors(GetParam());
  const TokenizerPtr tokenizer = load_tokenizer(vectors_folder() / GetParam());
  expect_same_tokens(*tokenizer, vectors);
  for (uint64_t seed = 0; seed < 20; ++seed) expect_same_in_pieces(*tokenizer, vectors, seed);
  const io::TemporaryFolder folder;
  tokenizer->save(folder / "tokenizer.json");
  expect_same_tokens(*load_tokenizer(folder / "tokenizer.json"), vectors);
}

INSTANTIATE_TEST_SUITE_P(Models, SentencePiece, testing::Values("sentencepiece_bpe", "sentencepiece_unigram"),
                         name_of);

/// CLADTORCH_DATA names a folder that holds gpt2/encoder.json, gpt2/vocab.bpe and tinyshakespeare.txt.
TEST(Gpt2Vocabulary, GivesTheTokensOfHuggingFaceAndTiktoken) {
  const char* folder = std::getenv("CLADTORCH_DATA");
  if (folder == nullptr) GTEST_SKIP() << "CLADTORCH_DATA is not set: no vocabulary of GPT-2";
  const TokenizerPtr tokenizer = load_tokenizer(std::filesystem::path(folder) / "gpt2");
  EXPECT_EQ(tokenizer->vocab_size(), 50257);
  EXPECT_EQ(tokenizer->special_tokens().end_of_text, 50256);
  const Vectors vectors = load_vectors("gpt2_vocabulary");
  expect_same_tokens(*tokenizer, vectors);
  expect_same_blocks(*tokenizer, vectors);
  for (uint64_t seed = 0; seed < 5; ++seed) expect_same_in_pieces(*tokenizer, vectors, seed);
  const std::string text = io::read_file(std::filesystem::path(folder) / "tinyshakespeare.txt");
  const std::vector<int32_t> tokens = tokenizer->encode(text);
  EXPECT_EQ(tokens.size(),
            338025u);  // as nanoGPT's README says: 301,966 to train on and 36,059 for validation
  EXPECT_EQ(tokenizer->decode(tokens), text);
}

}  // namespace
}  // namespace cladtorch::data
