// A SentencePiece model, and what it makes of a text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cladtorch/data/sentencepiece_tokenizer.h"
#include "cladtorch/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const cladtorch::data::SentencePieceTokenizer tokenizer(
        std::string(reinterpret_cast<const char*>(data), size));
    const std::string_view text = "low lower <s> \xc3\xa9\xe4\xbb\x8a \xef\xbd\x81\n\n  12 it's \xff";
    const auto tokens = tokenizer.encode(text);
    tokenizer.decode(tokens);
    tokenizer.whole_length(text);
    tokenizer.joins_pairs();
    if (tokenizer.pieces().size() != static_cast<size_t>(tokenizer.vocab_size())) std::abort();
  } catch (const cladtorch::Error&) {
  }
  return 0;
}
