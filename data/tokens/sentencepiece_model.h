// What the SentencePiece library does not tell of a model file, or relies on without looking.
#pragma once

#include <string_view>

namespace cladtorch::data {

/// Throws Error unless the tables of normalization rules of `model`, the content of a model file, lead to
/// nothing outside of them and no piece holds a zero byte: the library follows the tables without checks, and
/// ends the process for such a piece.
void check_sentencepiece_model(std::string_view model);

/// Whether `model` joins the pair of pieces with the best score, again and again (BPE), instead of looking
/// for the best way to cut a whole text.
bool joins_pairs(std::string_view model);

}  // namespace cladtorch::data
