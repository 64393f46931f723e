// A folder that generate.py wrote.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch::testing {

/// float32 tensors as they are, int64 ones as int32.
inline Tensor tensor_of(const io::StoredTensor& stored) {
  const Shape shape(std::span<const int64_t>(stored.shape));
  if (stored.type == io::StoredType::f32) {
    Tensor result = empty(shape);
    std::memcpy(result.data(), stored.data.data(), stored.data.size());
    return result;
  }
  require(stored.type == io::StoredType::i64, "unexpected type ", io::stored_name(stored.type));
  Tensor result = empty(shape, DType::int32);
  for (int64_t i = 0; i < result.numel(); ++i) {
    int64_t value = 0;
    std::memcpy(&value, stored.data.data() + static_cast<size_t>(i) * sizeof value, sizeof value);
    result.data<int32_t>()[i] = static_cast<int32_t>(value);
  }
  return result;
}

class HFReference {
 public:
  explicit HFReference(const std::string& name)
      : model_(folder(name) / "model.safetensors"), reference_(folder(name) / "reference.safetensors") {}

  static std::filesystem::path folder(const std::string& name) {
    return std::filesystem::path(CLADTORCH_HF_FOLDERS) / name;
  }

  size_t parameters() const { return model_.tensors().size(); }
  Tensor parameter(const std::string& name) const { return tensor_of(model_.at(name)); }
  Tensor operator[](const std::string& name) const { return tensor_of(reference_.at(name)); }

 private:
  io::SafetensorsFile model_, reference_;
};

}  // namespace cladtorch::testing
