// A tokenizer.json, and what it makes of a text.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cladtorch/data/tokenizer.h"
#include "cladtorch/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = nlohmann::json::parse(data, data + size, nullptr, false);
  if (json.is_discarded()) return 0;
  try {
    const auto tokenizer = cladtorch::data::tokenizer_from_json(json);
    const std::string_view text = "low lower <s> \xc3\xa9\xe4\xbb\x8a\n\n  12 it's \xff";
    const auto tokens = tokenizer->encode(text);
    tokenizer->decode(tokens);
    tokenizer->whole_length(text);
    cladtorch::data::tokenizer_from_json(tokenizer->to_json());
  } catch (const cladtorch::Error&) {
  }
  return 0;
}
