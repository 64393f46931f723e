// GPT-2's pair of files: the vocabulary, an empty line, the merges.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cladtorch/data/bpe_tokenizer.h"
#include "cladtorch/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(input.find("\n\n"), size);
  const auto vocabulary = nlohmann::json::parse(input.substr(0, end), nullptr, false);
  if (vocabulary.is_discarded()) return 0;
  try {
    const auto tokenizer =
        cladtorch::data::BpeTokenizer::from_vocabulary_and_merges(vocabulary, input.substr(end));
    tokenizer->decode(tokenizer->encode("low lower, lowest"));
  } catch (const cladtorch::Error&) {
  }
  return 0;
}
