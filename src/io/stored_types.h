// The names of the element types in safetensors files.
#pragma once

#include <array>
#include <cstddef>

#include "cladtorch/io/stored_tensor.h"

namespace cladtorch::io {

struct StoredTypeEntry {
  StoredType type;
  const char* name;
  size_t bits;
};

/// In the order of the enumeration.
inline constexpr std::array<StoredTypeEntry, 22> stored_types = {{
    {StoredType::f4, "F4", 4},
    {StoredType::f6_e2m3, "F6_E2M3", 6},
    {StoredType::f6_e3m2, "F6_E3M2", 6},
    {StoredType::boolean, "BOOL", 8},
    {StoredType::u8, "U8", 8},
    {StoredType::i8, "I8", 8},
    {StoredType::f8_e5m2, "F8_E5M2", 8},
    {StoredType::f8_e4m3, "F8_E4M3", 8},
    {StoredType::f8_e8m0, "F8_E8M0", 8},
    {StoredType::f8_e4m3fnuz, "F8_E4M3FNUZ", 8},
    {StoredType::f8_e5m2fnuz, "F8_E5M2FNUZ", 8},
    {StoredType::i16, "I16", 16},
    {StoredType::u16, "U16", 16},
    {StoredType::f16, "F16", 16},
    {StoredType::bf16, "BF16", 16},
    {StoredType::i32, "I32", 32},
    {StoredType::u32, "U32", 32},
    {StoredType::f32, "F32", 32},
    {StoredType::c64, "C64", 64},
    {StoredType::f64, "F64", 64},
    {StoredType::i64, "I64", 64},
    {StoredType::u64, "U64", 64},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < stored_types.size(); ++i) {
    if (static_cast<size_t>(stored_types[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order(), "an entry is found by its type");

}  // namespace cladtorch::io
