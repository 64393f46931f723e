#include "cladtorch/io/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "cladtorch/error.h"
#include "cladtorch/tensor/parallel.h"
#include "io/half_kernels.h"
#include "tensor/bfloat16_kernels.h"

namespace cladtorch::io {
namespace {

/// Elements that one thread converts at a time.
constexpr int64_t grain = int64_t{1} << 16;

using Table = std::array<float, 256>;

/// The value of 1 sign bit, then `exponent_bits`, then `fraction_bits`, without infinities or NaN.
float small_float(uint32_t bits, int fraction_bits, int exponent_bits, int bias) {
  const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const auto exponent = static_cast<int>(bits >> fraction_bits & ((1u << exponent_bits) - 1));
  const float significand =
      static_cast<float>(fraction) + (exponent > 0 ? std::ldexp(1.0f, fraction_bits) : 0);
  const float magnitude = std::ldexp(significand, std::max(exponent, 1) - bias - fraction_bits);
  return (bits >> (fraction_bits + exponent_bits) & 1) != 0 ? -magnitude : magnitude;
}

/// Source: Micikevicius et al., "FP8 formats for deep learning", 2022 (OCP's E5M2 and E4M3); Noune et al.,
/// "8-bit numerical formats for deep neural networks", 2022 (fnuz); OCP Microscaling formats 1.0 (E8M0).
float small_value(StoredType type, uint32_t bits) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  switch (type) {
    case StoredType::f8_e5m2:
      if ((bits & 0x7f) == 0x7c) {
        return (bits & 0x80) != 0 ? -std::numeric_limits<float>::infinity()
                                  : std::numeric_limits<float>::infinity();
      }
      return (bits & 0x7f) > 0x7c ? nan : small_float(bits, 2, 5, 15);
    case StoredType::f8_e4m3:
      return (bits & 0x7f) == 0x7f ? nan : small_float(bits, 3, 4, 7);
    case StoredType::f8_e5m2fnuz:
      return bits == 0x80 ? nan : small_float(bits, 2, 5, 16);
    case StoredType::f8_e4m3fnuz:
      return bits == 0x80 ? nan : small_float(bits, 3, 4, 8);
    default:
      assert(type == StoredType::f8_e8m0 && "an 8-bit float");
      return bits == 0xff ? nan : std::ldexp(1.0f, static_cast<int>(bits) - 127);
  }
}

Table table_of(StoredType type) {
  Table table{};
  for (uint32_t bits = 0; bits < 256; ++bits) table[bits] = small_value(type, bits);
  return table;
}

/// Calls convert(count, from, to) on pieces of the data as whole elements of type T, several threads at once.
/// Data of files may begin at any byte: elements that are not aligned are copied first.
template <class T, class Convert>
void convert_elements(std::span<const std::byte> data, float* to, Convert convert) {
  const bool aligned = reinterpret_cast<uintptr_t>(data.data()) % alignof(T) == 0;
  parallel_for(static_cast<int64_t>(data.size() / sizeof(T)), grain, [&](int64_t begin, int64_t end) {
    const std::byte* from = data.data() + static_cast<size_t>(begin) * sizeof(T);
    if (aligned) return convert(end - begin, reinterpret_cast<const T*>(from), to + begin);
    std::array<T, 1024> piece;
    for (int64_t at = begin; at < end; at += std::ssize(piece)) {
      const int64_t count = std::min<int64_t>(std::ssize(piece), end - at);
      std::memcpy(piece.data(), from + static_cast<size_t>(at - begin) * sizeof(T),
                  static_cast<size_t>(count) * sizeof(T));
      convert(count, piece.data(), to + at);
    }
  });
}

void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  parallel_for(std::ssize(from), 4 * grain, [&](int64_t begin, int64_t end) {
    std::memcpy(to.data() + begin, from.data() + begin, static_cast<size_t>(end - begin));
  });
}

}  // namespace

bool converts_to_float32(StoredType type) {
  switch (type) {
    case StoredType::f64:
    case StoredType::f32:
    case StoredType::f16:
    case StoredType::bf16:
    case StoredType::f8_e5m2:
    case StoredType::f8_e4m3:
    case StoredType::f8_e8m0:
    case StoredType::f8_e4m3fnuz:
    case StoredType::f8_e5m2fnuz:
      return true;
    default:
      return false;
  }
}

void to_float32(const StoredTensor& from, std::span<float> to) {
  assert(to.size() * stored_bits(from.type) == from.data.size() * 8 && "a place for each element");
  float* const out = to.data();
  switch (from.type) {
    case StoredType::f32:
      return copy_bytes(from.data, std::as_writable_bytes(to));
    case StoredType::f64:
      return convert_elements<double>(from.data, out, [](int64_t n, const double* x, float* y) {
        for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
      });
    case StoredType::f16:
      return convert_elements<uint16_t>(from.data, out, half_kernels().back().widen);
    case StoredType::bf16:
      return convert_elements<bfloat16>(from.data, out, detail::bfloat16_kernels().back().widen);
    default:
      break;
  }
  if (!converts_to_float32(from.type)) {
    throw Error(fmt::format("{} does not convert to F32", stored_name(from.type)));
  }
  const Table table = table_of(from.type);
  convert_elements<uint8_t>(from.data, out, [&](int64_t n, const uint8_t* x, float* y) {
    for (int64_t i = 0; i < n; ++i) y[i] = table[x[i]];
  });
}

void from_float32(std::span<const float> from, StoredType type, std::span<std::byte> to) {
  assert(from.size() * stored_bits(type) == to.size() * 8 && "the bytes of all elements");
  const auto each_piece = [&]<class T>(void (*convert)(int64_t, const float*, T*)) {
    assert(reinterpret_cast<uintptr_t>(to.data()) % alignof(T) == 0 && "aligned for the type");
    T* const out = reinterpret_cast<T*>(to.data());
    parallel_for(std::ssize(from), grain,
                 [&](int64_t begin, int64_t end) { convert(end - begin, from.data() + begin, out + begin); });
  };
  switch (type) {
    case StoredType::f32:
      return copy_bytes(std::as_bytes(from), to);
    case StoredType::f64:
      return each_piece(+[](int64_t n, const float* x, double* y) { std::copy_n(x, n, y); });
    case StoredType::f16:
      return each_piece(half_kernels().back().narrow);
    case StoredType::bf16:
      return each_piece(detail::bfloat16_kernels().back().narrow);
    default:
      throw Error(fmt::format("F32 does not convert to {}", stored_name(type)));
  }
}

}  // namespace cladtorch::io
