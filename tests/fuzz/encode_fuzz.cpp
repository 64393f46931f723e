// Any bytes as text, in one piece and in several, with the vocabularies of tests/tokenizers, and with
// patterns that PCRE2 reads. The first byte chooses one, the second where the text is cut.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cladtorch/data/token_stream.h"
#include "cladtorch/error.h"
#include "cladtorch/io/json.h"

namespace {

using namespace cladtorch;
using namespace cladtorch::data;

/// GPT-2's vocabulary for words that are split by `pattern`.
TokenizerPtr split_by(const char* pattern) {
  const auto path = std::filesystem::path(CLADTORCH_TOKENIZERS) / "gpt2/tokenizer.json";
  nlohmann::json json = io::read_large_json(path);
  json["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}},
                             {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  return tokenizer_from_json(json);
}

const std::vector<TokenizerPtr>& tokenizers() {
  static const std::vector<TokenizerPtr> all = [] {
    std::vector<TokenizerPtr> list;
    for (const char* name :
         {"gpt2", "llama3", "qwen", "o200k", "digits", "llama2", "metaspace_first", "sentencepiece_bpe"}) {
      list.push_back(load_tokenizer(std::filesystem::path(CLADTORCH_TOKENIZERS) / name));
    }
    list.push_back(split_by(R"(\p{N}{1,2}|\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"));
    list.push_back(split_by(R"([a-z]+(?=\W{1,3}\d)|\X)"));
    return list;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t which = data[0] % tokenizers().size();
  const Tokenizer& tokenizer = *tokenizers()[which];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    const std::vector<int32_t> whole = tokenizer.encode(text);
    const std::string decoded = tokenizer.decode(whole);
    const bool reversible =
        which == 0 || which == 1 || which == 3 || which > 7;  // byte-level, nothing normalized
    if (reversible && decoded != text) std::abort();

    TokenStream stream(tokenizer);
    std::vector<int32_t> tokens;
    const size_t step = 1 + data[1] % 64;
    for (size_t at = 0; at < text.size(); at += step) {
      const auto& more = stream.append(text.substr(at, step));
      tokens.insert(tokens.end(), more.begin(), more.end());
    }
    const auto& rest = stream.finish();
    tokens.insert(tokens.end(), rest.begin(), rest.end());
    if (tokens != whole) std::abort();
  } catch (const cladtorch::Error&) {
  }
  return 0;
}
