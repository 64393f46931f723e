// Models for llama.cpp: export to GGUF, with the names and keys that its own converter writes.
// Source: https://github.com/ggml-org/llama.cpp, conversion/.
#pragma once

#include <filesystem>

#include "cladtorch/io/gguf.h"
#include "cladtorch/models/language_model.h"

namespace cladtorch::formats {

/// Writes a GPT-2, Llama or Mistral. Matrices are stored as `type` (f32, f16 or bf16); vectors and position
/// embeddings as f32, which llama.cpp expects. The queries and keys of a Llama are reordered for llama.cpp's
/// rotary embedding, which rotates neighbours instead of halves. If `folder` has a tokenizer.json of
/// transformers with a byte-level BPE, the vocabulary, the merges and the special tokens are written; for a
/// tokenizer.model with a BPE, or a tokenizer.json made from one, the scores are written instead of merges.
/// llama.cpp cannot use other tokenizers. Returns whether the vocabulary was written. Throws Error for a
/// pre-tokenization for which llama.cpp has no name.
bool save_gguf(const LanguageModel& model, const std::filesystem::path& file, io::StoredType type,
               const std::filesystem::path& folder);

}  // namespace cladtorch::formats
