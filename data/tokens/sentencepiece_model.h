// What the SentencePiece library relies on in a model file, without looking.
#pragma once

#include <string_view>

namespace cladtorch::data {

/// Throws Error unless the tables of normalization rules of `model`, the content of a model file, lead to
/// nothing outside of them and no piece holds a zero byte: the library follows the tables without checks, and
/// ends the process for such a piece.
void check_sentencepiece_model(std::string_view model);

}  // namespace cladtorch::data
