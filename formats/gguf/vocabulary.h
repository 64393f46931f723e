// The tokenizer of a folder of transformers as llama.cpp's keys.
#pragma once

#include <cstdint>
#include <filesystem>

#include "cladtorch/io/gguf.h"

namespace cladtorch::formats {

/// Appends tokenizer.ggml.* for the tokenizer in `folder`, if it is a tokenizer.json with a byte-level BPE, a
/// tokenizer.model that joins pairs, or such a model as a tokenizer.json; returns whether. Numbers from the
/// vocabulary's size up to `vocab_size` become unused tokens. Throws Error naming the file.
bool append_vocabulary(io::GgufMetadata& metadata, const std::filesystem::path& folder, int64_t vocab_size);

}  // namespace cladtorch::formats
