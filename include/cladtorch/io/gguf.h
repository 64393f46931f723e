// Writes the GGUF container of llama.cpp and ggml, version 3.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cladtorch/io/safetensors.h"

namespace cladtorch::io {

/// A value of one of the types that describe language models.
using GgufValue = std::variant<uint32_t, int32_t, float, bool, uint64_t, std::string,
                               std::vector<std::string>, std::vector<int32_t>, std::vector<float>>;
using GgufMetadata = std::vector<std::pair<std::string, GgufValue>>;

/// Writes `metadata` and the tensors in the given order, atomically. As everywhere in this
/// library, the last dimension of a shape is contiguous. Takes F32, F16, BF16, F64, I8, I16, I32 and I64.
/// Throws cladtorch::Error for other types, more than four dimensions, a name of more than 63 bytes,
/// duplicate names and keys, and data that does not fit its shape.
void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                std::span<const TensorEntry> entries, const TensorData& data);

}  // namespace cladtorch::io
