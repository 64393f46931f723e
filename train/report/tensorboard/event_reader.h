// Reads event files for tests, with nothing of the code that writes them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/io/atomic_file.h"

namespace cladtorch::train {

/// CRC-32C bit by bit, so that a mistake in the table shows.
inline uint32_t slow_masked_crc32c(std::string_view data) {
  uint32_t crc = 0xffffffffu;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
  }
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

template <class T>
T number_at(std::string_view data, size_t at) {
  T value{};
  EXPECT_LE(at + sizeof value, data.size());
  if (at + sizeof value <= data.size()) std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

/// The records of a TFRecord file, their checksums checked.
inline std::vector<std::string> records_of(const std::filesystem::path& path) {
  const std::string file = io::read_file(path);
  std::vector<std::string> records;
  for (size_t at = 0; at < file.size();) {
    const auto length = number_at<uint64_t>(file, at);
    EXPECT_EQ(number_at<uint32_t>(file, at + 8), slow_masked_crc32c({file.data() + at, 8}));
    records.push_back(file.substr(at + 12, length));
    EXPECT_EQ(number_at<uint32_t>(file, at + 12 + length), slow_masked_crc32c(records.back()));
    at += 16 + length;
  }
  return records;
}

/// The fields of one protocol-buffer message by number; each holds its raw bytes.
class Fields {
 public:
  explicit Fields(std::string_view message) {
    while (!message.empty()) {
      const uint64_t key = varint(message);
      const size_t size = (key & 7) == 0   ? varint_size(message)
                          : (key & 7) == 1 ? 8
                          : (key & 7) == 5 ? 4
                                           : varint(message);
      fields_[static_cast<int>(key >> 3)] = std::string(message.substr(0, size));
      message.remove_prefix(std::min(size, message.size()));
    }
  }
  bool has(int field) const { return fields_.contains(field); }
  std::string text(int field) const { return has(field) ? fields_.at(field) : ""; }
  Fields message(int field) const { return Fields(text(field)); }
  uint64_t integer(int field) const {
    std::string_view bytes = fields_.contains(field) ? fields_.at(field) : std::string_view("\0", 1);
    return varint(bytes);
  }
  template <class T>
  T number(int field) const {
    return number_at<T>(text(field), 0);
  }

 private:
  static size_t varint_size(std::string_view message) {
    size_t size = 1;
    while (size < message.size() && (message[size - 1] & 0x80) != 0) ++size;
    return size;
  }
  static uint64_t varint(std::string_view& message) {
    uint64_t value = 0;
    const size_t size = varint_size(message);
    for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(message[i] & 0x7f) << (7 * i);
    message.remove_prefix(size);
    return value;
  }
  std::map<int, std::string> fields_;
};

/// One scalar event, as TensorBoard's event.proto and summary.proto number its fields.
struct Scalar {
  std::string tag;
  int64_t step;
  float value;
  bool operator==(const Scalar&) const = default;
};

inline std::vector<Scalar> scalars_of(const std::filesystem::path& path) {
  std::vector<Scalar> scalars;
  for (const std::string& record : records_of(path)) {
    const Fields event(record), value = event.message(5).message(1);
    if (!value.has(2)) continue;
    EXPECT_GT(event.number<double>(1), 1.7e9);
    scalars.push_back({value.text(1), static_cast<int64_t>(event.integer(2)), value.number<float>(2)});
  }
  return scalars;
}

}  // namespace cladtorch::train
