// Converts models from one file format to another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "cladtorch/io/safetensors_folder.h"
#include "cladtorch/io/stored_tensor.h"

namespace cladtorch::formats {

enum class ModelFormat : uint8_t {
  hugging_face,  ///< a folder as transformers writes it
  llmc,          ///< a .bin file of llm.c
  gguf,          ///< a file for llama.cpp, which is only written
};

/// The format of `path`, judged by its files and first bytes. Throws Error if it has none that can be read.
ModelFormat format_of(const std::filesystem::path& path);

struct ConvertOptions {
  ModelFormat format = ModelFormat::hugging_face;  ///< to write
  /// f32, f16 or bf16 for all tensors; by default each keeps its type.
  std::optional<io::StoredType> type = {};
  uint64_t shard_bytes = io::default_shard_bytes;  ///< of Hugging Face folders
  std::filesystem::path adapter = {};              ///< folder of an adapter that is merged into the model
};

struct Converted {
  std::string model;  ///< "gpt2, 12 layers, ..."
  int64_t parameters = 0;
  bool vocabulary = false;  ///< whether a GGUF file got a tokenizer
};

/// Reads the model at `from`, merging the adapter if `from` is one, and writes it to `to`, which appears
/// when it is complete. A folder must be new or empty; it also gets the tokenizer's files and those keys of
/// config.json that only other programs read. Throws Error.
Converted convert_model(const std::filesystem::path& from, const std::filesystem::path& to,
                        const ConvertOptions& options);

}  // namespace cladtorch::formats
