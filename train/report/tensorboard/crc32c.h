// CRC-32C, the checksum of TFRecord files. Source: RFC 3720, appendix B.4.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cladtorch::train {

namespace detail {
constexpr std::array<uint32_t, 256> crc32c_table() {
  constexpr uint32_t reversed_polynomial = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? reversed_polynomial : 0);
    }
    table[byte] = remainder;
  }
  return table;
}
}  // namespace detail

inline uint32_t crc32c(std::string_view data) {
  static constexpr std::array<uint32_t, 256> table = detail::crc32c_table();
  uint32_t crc = ~uint32_t{0};
  for (const char c : data) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

/// As TFRecord stores it, so that a record that holds checksums is no special case.
inline uint32_t masked_crc32c(std::string_view data) {
  const uint32_t crc = crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

}  // namespace cladtorch::train
