// The safetensors format: named tensors after a JSON header, read through a memory map.
// Format: https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/io/mapped_file.h"

namespace cladtorch::io {

enum class StoredType { boolean, u8, i8, i16, u16, f16, bf16, i32, u32, f32, i64, u64, f64 };

/// Bytes of one element.
size_t stored_size(StoredType type);
/// The format's own spelling: "F32", "BF16", ...
const char* stored_name(StoredType type);

/// One tensor of a file: row-major, little-endian. `data` points to memory that somebody else keeps alive.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// An opened file. The tensors' data live in the map and stay valid as long as this object.
class SafetensorsFile {
 public:
  /// Maps `path` and checks all of it: header length (at most 100 MB) and JSON, duplicate names, types, that
  /// each byte range fits its shape, and that the ranges fill the data without overlap or hole. Throws
  /// cladtorch::Error.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool contains(const std::string& name) const { return tensors_.contains(name); }
  /// Throws cladtorch::Error naming the file when there is no such tensor.
  const StoredTensor& at(const std::string& name) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  MappedFile file_;
  std::map<std::string, StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// Writes `tensors` in the given order, atomically. Throws on duplicate names or data that does not fit its
/// shape.
void write_safetensors(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, StoredTensor>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace cladtorch::io
