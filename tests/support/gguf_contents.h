// Takes a GGUF file apart for a test; what does not fit throws.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace cladtorch::testing_support {

struct GgufTensor {
  std::vector<uint64_t> dimensions;  ///< the contiguous one first
  uint32_t type = 0;
  std::string data;  ///< from its offset to the end of the file
};

struct GgufContents {
  std::map<std::string, uint64_t> counts;  ///< of type uint32, uint64 or bool
  std::map<std::string, float> reals;
  std::map<std::string, std::string> strings;
  std::map<std::string, std::vector<std::string>> lists;
  std::map<std::string, std::vector<int32_t>> numbers;
  std::map<std::string, std::vector<float>> real_lists;
  std::map<std::string, GgufTensor> tensors;

  explicit GgufContents(std::string file) : file_(std::move(file)) {
    if (bytes(4) != "GGUF" || number<uint32_t>() != 3) throw std::runtime_error("no GGUF of version 3");
    const auto tensor_count = number<uint64_t>(), key_count = number<uint64_t>();
    for (uint64_t i = 0; i < key_count; ++i) read_value(string());
    std::map<std::string, uint64_t> offsets;
    for (uint64_t i = 0; i < tensor_count; ++i) {
      const std::string name = string();
      GgufTensor& tensor = tensors[name];
      tensor.dimensions.resize(number<uint32_t>());
      for (uint64_t& dimension : tensor.dimensions) dimension = number<uint64_t>();
      tensor.type = number<uint32_t>();
      offsets[name] = number<uint64_t>();
    }
    const size_t data = (at_ + 31) / 32 * 32;
    for (auto& [name, tensor] : tensors) tensor.data = file_.substr(data + offsets[name]);
  }

 private:
  std::string bytes(size_t count) {
    if (count > file_.size() - at_) throw std::runtime_error("the GGUF file is too short");
    at_ += count;
    return file_.substr(at_ - count, count);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::string string() { return bytes(number<uint64_t>()); }

  void read_value(const std::string& key) {
    switch (number<uint32_t>()) {
      case 4:
        counts[key] = number<uint32_t>();
        return;
      case 6:
        reals[key] = number<float>();
        return;
      case 7:
        counts[key] = number<uint8_t>();
        return;
      case 8:
        strings[key] = string();
        return;
      case 9:
        return read_array(key);
      case 10:
        counts[key] = number<uint64_t>();
        return;
      default:
        throw std::runtime_error("a value of a type that is not written: " + key);
    }
  }
  void read_array(const std::string& key) {
    const auto type = number<uint32_t>();
    const auto count = number<uint64_t>();
    for (uint64_t i = 0; i < count; ++i) {
      if (type == 8) {
        lists[key].push_back(string());
      } else if (type == 5) {
        numbers[key].push_back(number<int32_t>());
      } else if (type == 6) {
        real_lists[key].push_back(number<float>());
      } else {
        throw std::runtime_error("an array of a type that is not written: " + key);
      }
    }
  }

  std::string file_;
  size_t at_ = 0;
};

}  // namespace cladtorch::testing_support
