// The IDX format, in which MNIST and Fashion-MNIST are published.
// Format: http://yann.lecun.com/exdb/mnist
#pragma once

#include <filesystem>
#include <optional>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

/// What becomes of the elements of an IDX file.
struct IdxOptions {
  /// float32, float64, bfloat16 or int32. By default bytes become int32 in files of one dimension (labels)
  /// and float32 in files of more (images); other integers become int32, and floating-point numbers keep
  /// their type.
  std::optional<DType> dtype = {};
  /// Every element is multiplied by it. The default is 1/255 for bytes that become floating-point numbers in
  /// files of more than one dimension, so that images are in [0, 1], and otherwise 1.
  std::optional<double> scale = {};
};

/// The array in a file, plain or compressed by gzip, whatever its name says. Images of MNIST are [N,28,28]
/// and labels [N]. Throws Error naming the file if it cannot be read, is no IDX file, is damaged, or is
/// shorter or longer than its header says, and if integers are asked for where the file has other numbers.
Tensor read_idx(const std::filesystem::path& path, const IdxOptions& options = {});

}  // namespace cladtorch::data
