// GPT-2's files (vocabulary and merges), read as the tokenizer.json that they stand for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace cladtorch::data::bpe {

inline constexpr const char* gpt2_end_of_text = "<|endoftext|>";

/// `vocabulary` maps tokens to numbers (encoder.json, vocab.json), `merges` has one merge to a line
/// (vocab.bpe, merges.txt). `add_prefix_space` puts a space before a text that has none.
nlohmann::json gpt2_tokenizer(const nlohmann::json& vocabulary, std::string_view merges,
                              bool add_prefix_space = false);

}  // namespace cladtorch::data::bpe
