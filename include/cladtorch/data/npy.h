// NumPy's files: one array (.npy), or several with names (.npz).
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

/// np.load(path) of an .npy file, versions 1 to 3, in C or Fortran order; the tensor is dense in any case.
///
/// | NumPy | tensor |
/// |---|---|
/// | float32, float64 | the same |
/// | float16 | float32 |
/// | int32, int64, bool | the same |
/// | int8, int16, uint8, uint16 | int32 |
/// | uint32, uint64 | int64; Error if a value does not fit |
///
/// Throws Error naming the file if it cannot be read, is no such file, is shorter or longer than its header
/// says, has more than eight dimensions, or holds anything else: other types, big-endian numbers, objects.
Tensor read_npy(const std::filesystem::path& path);

/// np.save(path, x). bfloat16, which NumPy does not have, is written as float32. Throws Error for float8 and
/// if the file cannot be written; then an old one is unchanged.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Tensors with names, in the order of the file.
using NamedArrays = std::vector<std::pair<std::string, Tensor>>;

/// np.load(path) of an .npz file, compressed or not: all of its arrays. Throws Error as read_npy() does, and
/// if a member is no array or is damaged.
NamedArrays read_npz(const std::filesystem::path& path);
/// The array `name` alone, np.load(path)[name]. Throws Error if there is none.
Tensor read_npz(const std::filesystem::path& path, const std::string& name);

struct NpzOptions {
  bool compressed = false;  ///< as np.savez_compressed does
};

/// np.savez(path, **arrays), or np.savez_compressed. The same arrays give the same bytes. Throws Error as
/// write_npy() does, and if two arrays have one name.
void write_npz(const std::filesystem::path& path, const NamedArrays& arrays, const NpzOptions& options = {});

}  // namespace cladtorch::data
