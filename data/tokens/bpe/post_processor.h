// What a tokenizer puts around a text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "cladtorch/data/tokenizer.h"
#include "data/tokens/bpe/added_tokens.h"

namespace cladtorch::data::bpe {

/// The "post_processor" of a tokenizer.json for a single text: null, ByteLevel, TemplateProcessing,
/// RobertaProcessing, or a Sequence of them. Throws Error naming what is not supported.
SpecialTokens read_post_processor(const nlohmann::json& json, int64_t vocab_size);

/// The token that stands between documents, known by its name.
std::optional<int32_t> end_of_text(const std::vector<AddedToken>& tokens);

}  // namespace cladtorch::data::bpe
