// The safetensors format: named tensors after a JSON header, read through a memory map.
// Format: https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/io/mapped_file.h"
#include "cladtorch/io/stored_tensor.h"

namespace cladtorch::io {

/// Named tensors of one or several files.
class StoredTensors {
 public:
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  /// The strings that the file holds beside the tensors.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool contains(const std::string& name) const { return tensors_.contains(name); }
  /// Throws cladtorch::Error naming the file if there is no such tensor.
  const StoredTensor& at(const std::string& name) const;
  /// The path of the file, for messages.
  const std::filesystem::path& path() const { return path_; }

 protected:
  explicit StoredTensors(std::filesystem::path path) : path_(std::move(path)) {}
  ~StoredTensors() = default;
  StoredTensors(StoredTensors&&) = default;
  StoredTensors& operator=(StoredTensors&&) = default;

  std::filesystem::path path_;
  std::map<std::string, StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// An opened file. The tensors' data live in the map and stay valid as long as this object.
class SafetensorsFile : public StoredTensors {
 public:
  /// Maps `path` and checks all of it: the header's length (at most 100 MB) and JSON, duplicate names, types,
  /// that each byte range fits its shape, and that the ranges fill the data without overlap or hole. Throws
  /// cladtorch::Error.
  explicit SafetensorsFile(const std::filesystem::path& path);

 private:
  MappedFile file_;
};

/// The description of a tensor in a file.
struct TensorEntry {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
};

/// Returns the data of entry `index`, which stay valid until the next call. It is called once for each entry,
/// in order, so that it can convert one tensor at a time.
using TensorData = std::function<std::span<const std::byte>(size_t index)>;

/// Writes the tensors in the given order, atomically. Throws on duplicate names or data that does not fit its
/// shape.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorEntry> entries,
                       const TensorData& data, const std::map<std::string, std::string>& metadata = {});
/// The same for tensors that are in memory.
void write_safetensors(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, StoredTensor>>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace cladtorch::io
