// Element types and devices.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <ostream>

namespace cladtorch {

/// The upper half of an IEEE float32. A storage format: arithmetic converts to float first.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  /// Rounds to nearest even; NaN stays NaN.
  explicit bfloat16(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const bool nan = (word & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(nan ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// 4 bits of exponent, 3 of mantissa: up to 448, no infinity. A storage format of products alone; see
/// ops/float8.h.
struct float8_e4m3 {
  uint8_t bits = 0;
};
/// 5 bits of exponent, 2 of mantissa: up to 57344.
struct float8_e5m2 {
  uint8_t bits = 0;
};

enum class DType : uint8_t { float32, float64, int32, bfloat16, float8_e4m3, float8_e5m2, int64, boolean };

constexpr size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return 4;
    case DType::float64:
    case DType::int64:
      return 8;
    case DType::int32:
      return 4;
    case DType::bfloat16:
      return 2;
    case DType::float8_e4m3:
    case DType::float8_e5m2:
    case DType::boolean:
      return 1;
  }
  return 0;
}

constexpr const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
    case DType::int32:
      return "int32";
    case DType::bfloat16:
      return "bfloat16";
    case DType::float8_e4m3:
      return "float8_e4m3";
    case DType::float8_e5m2:
      return "float8_e5m2";
    case DType::int64:
      return "int64";
    case DType::boolean:
      return "bool";
  }
  return "unknown";
}

constexpr bool is_float8(DType dtype) { return dtype == DType::float8_e4m3 || dtype == DType::float8_e5m2; }

/// Whether elements have derivatives.
constexpr bool is_floating(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::bfloat16;
}
/// Whether tensors of the dtype may be indices and targets.
constexpr bool is_integer(DType dtype) { return dtype == DType::int32 || dtype == DType::int64; }

template <class T>
struct dtype_of;
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct dtype_of<int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct dtype_of<int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct dtype_of<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct dtype_of<bfloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct dtype_of<float8_e4m3> {
  static constexpr DType value = DType::float8_e4m3;
};
template <>
struct dtype_of<float8_e5m2> {
  static constexpr DType value = DType::float8_e5m2;
};

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

enum class DeviceType : uint8_t { cpu, cuda };

/// Where a tensor's storage lives.
struct Device {
  DeviceType type = DeviceType::cpu;
  int8_t index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

inline std::ostream& operator<<(std::ostream& out, Device device) {
  return device.type == DeviceType::cpu ? out << "cpu" : out << "cuda:" << int{device.index};
}

}  // namespace cladtorch
