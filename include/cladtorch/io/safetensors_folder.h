// The safetensors files of a Hugging Face folder: one file, or several shards and an index.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/io/safetensors.h"

namespace cladtorch::io {

/// The tensors of `<stem>.safetensors`, or if there is none, of the shards that
/// `<stem>.safetensors.index.json` names, as if they were in one file.
class SafetensorsFolder : public StoredTensors {
 public:
  /// Maps and checks each file. The index may only name files of the folder, and each tensor must be in the
  /// shard that the index names; tensors that it does not name are ignored. Throws cladtorch::Error.
  explicit SafetensorsFolder(const std::filesystem::path& folder, const std::string& stem = "model");

  /// Whether `folder` holds either.
  static bool exists(const std::filesystem::path& folder, const std::string& stem = "model");

 private:
  std::vector<SafetensorsFile> files_;
};

/// The size at which transformers begins a second shard.
inline constexpr uint64_t default_shard_bytes = 5'000'000'000;

/// Writes `<stem>.safetensors`, or if the data take more than `shard_bytes`, shards named
/// `<stem>-00001-of-00003.safetensors` and then the index. A tensor is never cut: one larger than
/// `shard_bytes` gets its own shard. On failure no new file is left. Throws cladtorch::Error, also if the
/// folder already has shards, since several files cannot be replaced at once: write into a new folder and
/// exchange it.
void write_safetensors_folder(const std::filesystem::path& folder, std::span<const TensorEntry> entries,
                              const TensorData& data, const std::map<std::string, std::string>& metadata = {},
                              uint64_t shard_bytes = default_shard_bytes, const std::string& stem = "model");

}  // namespace cladtorch::io
