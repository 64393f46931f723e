// Protocol-buffer messages, written field by field. Source: protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace cladtorch::train {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored little-endian, as they lie in memory");

/// The encoded fields of one message. As the format asks, a number that is zero is its field's default and is
/// left out, except by the functions that say otherwise.
class Message {
 public:
  Message& integer(int field, int64_t value) {
    if (value == 0) return *this;
    key(field, varint_type);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& real(int field, double value) {
    if (value == 0) return *this;
    key(field, fixed64_type);
    append(&value, sizeof value);
    return *this;
  }
  /// Writes a zero too: a choice among several fields says by the field alone which was made.
  Message& chosen_real(int field, float value) {
    key(field, fixed32_type);
    append(&value, sizeof value);
    return *this;
  }
  /// Writes an empty text too: an element of a list counts.
  Message& bytes(int field, std::string_view value) {
    key(field, bytes_type);
    varint(value.size());
    encoded_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.encoded_); }
  /// A list of numbers, zeros and all.
  Message& reals(int field, std::span<const double> values) {
    if (values.empty()) return *this;
    return bytes(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  const std::string& encoded() const { return encoded_; }

 private:
  enum WireType { varint_type = 0, fixed64_type = 1, bytes_type = 2, fixed32_type = 5 };

  void key(int field, WireType type) { varint(static_cast<uint64_t>(field) << 3 | type); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) encoded_ += static_cast<char>(value | 0x80);
    encoded_ += static_cast<char>(value);
  }
  void append(const void* data, size_t size) { encoded_.append(static_cast<const char*>(data), size); }

  std::string encoded_;
};

}  // namespace cladtorch::train
