#include "cladtorch/data/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "data/text/utf8.h"
#include "data/tokens/bpe/byte_alphabet.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/bpe/merge_learner.h"
#include "data/tokens/bpe/scanner.h"
#include "data/tokens/bpe/word_count.h"

namespace cladtorch::data {
namespace {

using bpe::Json;

constexpr const char* gpt4_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

bpe::Scanner scanner_of(const BpeTrainingOptions& options) {
  if (options.pattern == "gpt2") return {bpe::Scanner::Family::gpt2, 0};
  if (options.pattern == "gpt4") return {bpe::Scanner::Family::gpt4, 3};
  fail("train tokenizer: the pattern is '", options.pattern, "', expected gpt2 or gpt4");
}

void check(const BpeTrainingOptions& options) {
  const auto least = static_cast<int64_t>(256 + options.special_tokens.size());
  require(options.vocab_size >= least && options.vocab_size <= 10'000'000,
          "train tokenizer: the size of the vocabulary is ", options.vocab_size, ", expected from ", least,
          " (256 bytes and ", options.special_tokens.size(), " special tokens) to 10000000");
  require(options.threads >= 1 && options.most_words >= 1000,
          "train tokenizer: expected at least one thread and 1000 words");
  for (size_t i = 0; i < options.special_tokens.size(); ++i) {
    const std::string& token = options.special_tokens[i];
    const bool twice = std::count(options.special_tokens.begin(), options.special_tokens.end(), token) > 1;
    require(utf8::is_valid(token) && utf8::decode_first(token).bytes < token.size() &&
                token.find_first_of(" \t\r\n") == std::string::npos && !twice,
            "train tokenizer: the special token ", in_quotes(token),
            " must be UTF-8, longer than a character, without white space, and different from the others");
  }
}

Json byte_level(bool use_regex) {
  return {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}};
}

Json pre_tokenizer(const BpeTrainingOptions& options) {
  if (options.pattern == "gpt2") return byte_level(true);
  const Json split = {
      {"type", "Split"}, {"pattern", {{"Regex", gpt4_pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", {split, byte_level(false)}}};
}

/// The special tokens, then the characters that stand for bytes, ascending.
std::vector<std::string> first_names(const BpeTrainingOptions& options) {
  std::array<char32_t, 256> characters = bpe::byte_alphabet();
  std::sort(characters.begin(), characters.end());
  std::vector<std::string> names = options.special_tokens;
  for (char32_t c : characters) names.push_back(utf8::encode(c));
  return names;
}

Json describe(const BpeTrainingOptions& options, const bpe::MergeLearner& learner) {
  Json vocabulary = Json::object(), merges = Json::array(), added = Json::array();
  for (size_t i = 0; i < learner.names().size(); ++i) vocabulary[learner.names()[i]] = i;
  const auto& names = learner.names();
  for (const bpe::Merge& merge : learner.merges()) {
    merges.push_back(names[static_cast<size_t>(merge.left)] + " " + names[static_cast<size_t>(merge.right)]);
  }
  for (size_t i = 0; i < options.special_tokens.size(); ++i) {
    added.push_back({{"id", i}, {"content", options.special_tokens[i]}, {"special", true}});
  }
  return {{"added_tokens", std::move(added)},
          {"pre_tokenizer", pre_tokenizer(options)},
          {"decoder", byte_level(true)},
          {"model", {{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", std::move(merges)}}}};
}

}  // namespace

std::shared_ptr<const BpeTokenizer> train_bpe(const TextFiles& text, const BpeTrainingOptions& options) {
  check(options);
  bpe::MergeLearner learner(first_names(options));
  std::array<int32_t, 256> symbol_of_byte{};
  for (size_t byte = 0; byte < 256; ++byte) {
    const auto place =
        std::find(learner.names().begin(), learner.names().end(), utf8::encode(bpe::byte_alphabet()[byte]));
    symbol_of_byte[byte] = static_cast<int32_t>(place - learner.names().begin());
  }
  {
    std::vector<int32_t> symbols;
    for (const auto& [word, count] : bpe::count_words(text, scanner_of(options), options)) {
      symbols.clear();
      for (char byte : word) symbols.push_back(symbol_of_byte[static_cast<unsigned char>(byte)]);
      learner.add_word(symbols, count);
    }
  }
  const auto first = static_cast<double>(learner.names().size()),
             last = static_cast<double>(options.vocab_size);
  while (static_cast<int64_t>(learner.names().size()) < options.vocab_size &&
         learner.merge_next(options.min_frequency)) {
    if (options.progress && learner.merges().size() % 100 == 0) {
      options.progress("merging pairs",
                       (static_cast<double>(learner.names().size()) - first) / (last - first));
    }
  }
  return BpeTokenizer::from_json(describe(options, learner));
}

}  // namespace cladtorch::data
