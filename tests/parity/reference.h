// The stored PyTorch results.
#pragma once

#include <cstring>
#include <string>

#include "cladtorch/io/safetensors.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch::testing {

class Reference {
 public:
  bool contains(const std::string& name) const { return file_.contains(name); }

  Tensor operator[](const std::string& name) const {
    const io::StoredTensor& stored = file_.at(name);
    const DType dtype = stored.type == io::StoredType::i32 ? DType::int32 : DType::float32;
    Tensor result = empty(Shape(std::span<const int64_t>(stored.shape)), dtype);
    std::memcpy(result.data(), stored.data.data(), stored.data.size());
    return result;
  }

 private:
  io::SafetensorsFile file_{CLADTORCH_PARITY_FILE};
};

}  // namespace cladtorch::testing
