// What the decoders make of files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensors/bytes.h"

namespace cladtorch::data {

/// Rows of pixels, each with 1 (gray), 3 (RGB) or 4 channels (inverted CMYK).
struct Pixels {
  int64_t height = 0, width = 0, channels = 0;
  int64_t bytes = 1;  ///< of a channel: 1, or 2 with the higher one first
  std::vector<uint8_t> data;

  size_t row_size() const { return static_cast<size_t>(width * channels * bytes); }
};

/// `name` begins every message, with the operation and the file.
Pixels decode_png(const std::string& name, Bytes file);
Pixels decode_jpeg(const std::string& name, Bytes file);

/// A PNG file of 8 bits; `pixels.channels` may be 4 for RGB and opacity.
std::string encode_png(const std::string& name, const Pixels& pixels);

}  // namespace cladtorch::data
