// Images in PNG and JPEG files.
#pragma once

#include <filesystem>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

/// The image in a file as float32 [channels, height, width] in [0, 1]. `channels` is 3 for RGB or 1 for gray
/// (0.299 R + 0.587 G + 0.114 B), whatever the file has. The content of the file says which format it has. As
/// in torchvision, transparency is dropped, and neither a gamma nor the orientation of a camera is applied.
/// Throws Error naming the file if it cannot be read, is neither PNG nor JPEG, or is damaged.
Tensor read_image(const std::filesystem::path& path, int channels = 3);

/// Writes [C,H,W], with C of 1 (gray), 3 (RGB) or 4 (RGB and opacity), or [H,W] as PNG of 8 bits. 0 is black
/// and 1 is white; what lies outside is clamped. Any floating-point dtype. Throws Error for other shapes and
/// dtypes, and if the file cannot be written.
void write_png(const std::filesystem::path& path, const Tensor& image);

}  // namespace cladtorch::data
