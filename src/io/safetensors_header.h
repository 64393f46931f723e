// The JSON header of a safetensors file, read without building the JSON in memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/io/stored_tensor.h"

namespace cladtorch::io {

/// The key of the header that holds text of the writer's instead of a tensor.
inline constexpr const char* metadata_key = "__metadata__";

struct TensorDescription {
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  ///< bytes of the data after the header
};

struct SafetensorsHeader {
  std::map<std::string, TensorDescription> tensors;
  std::map<std::string, std::string> metadata;
};

/// Checks all of it: syntax, duplicate names, types, that each byte range fits its shape, and that the ranges
/// fill `data_bytes` without overlap or hole. Throws cladtorch::Error with the reason alone. Memory is
/// bounded by a multiple of the text.
SafetensorsHeader parse_safetensors_header(std::string_view text, uint64_t data_bytes);

}  // namespace cladtorch::io
