// A read-only view of tokens stored as 16 or 32 bits, in memory or in a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cladtorch::data {

/// The width of a stored token; the value is the number of bytes.
enum class TokenWidth : uint8_t { u16 = 2, u32 = 4 };

/// The narrowest width that holds token numbers below `vocab_size`.
constexpr TokenWidth width_for(int64_t vocab_size) {
  return vocab_size <= 65536 ? TokenWidth::u16 : TokenWidth::u32;
}

/// Does not own the tokens: whoever made the span keeps them alive.
class TokenSpan {
 public:
  TokenSpan() = default;
  TokenSpan(std::span<const uint16_t> tokens)  // NOLINT: a view converts as std::span does
      : data_(tokens.data()), size_(tokens.size()), width_(TokenWidth::u16) {}
  TokenSpan(std::span<const uint32_t> tokens)  // NOLINT: likewise
      : data_(tokens.data()), size_(tokens.size()), width_(TokenWidth::u32) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  TokenWidth width() const { return width_; }
  const void* data() const { return data_; }

  /// Token `i`; `i` must be below size().
  int32_t operator[](size_t i) const {
    return width_ == TokenWidth::u16 ? static_cast<int32_t>(static_cast<const uint16_t*>(data_)[i])
                                     : static_cast<int32_t>(static_cast<const uint32_t*>(data_)[i]);
  }

  /// `count` tokens from `first` on; the range must lie inside the span.
  TokenSpan subspan(size_t first, size_t count) const;

  /// Widens tokens [first, first + out.size()) into `out`; the range must lie inside the span.
  void copy(size_t first, std::span<int32_t> out) const;

 private:
  const void* data_ = nullptr;
  size_t size_ = 0;
  TokenWidth width_ = TokenWidth::u16;
};

}  // namespace cladtorch::data
