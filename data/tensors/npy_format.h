// An .npy file in memory, which .npz files hold too.
#pragma once

#include <string>

#include "cladtorch/tensor/tensor.h"
#include "data/tensors/bytes.h"

namespace cladtorch::data {

/// `name` begins every message, with the operation and the file.
Tensor parse_npy(const std::string& name, Bytes file);

/// What comes before the elements of the tensor.
std::string npy_header(const Tensor& tensor);

/// The tensor as NumPy can hold it: dense, on the CPU, float32 for bfloat16. `name` as above.
Tensor as_npy(const std::string& name, const Tensor& tensor);

}  // namespace cladtorch::data
