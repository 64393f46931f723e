// Tensors of files, with any element type of the safetensors format, in memory that they do not own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cladtorch::io {

/// The element types of safetensors 0.8. The f8 types are the OCP formats, and `fnuz` those without
/// infinities and negative zero; f8_e8m0 is a power of two; f4 and f6 are packed without gaps; c64 is two
/// float32.
enum class StoredType : uint8_t {
  f4,
  f6_e2m3,
  f6_e3m2,
  boolean,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64,
};

/// Bits of one element: 4 to 64.
size_t stored_bits(StoredType type);
/// The format's own spelling: "F32", "BF16", ...
const char* stored_name(StoredType type);

/// One tensor of a file: row-major, little-endian. `data` points to memory that the tensor does not own, at
/// any alignment.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// The number of elements, which does not overflow for a tensor that was read from a file.
int64_t element_count(const StoredTensor& tensor);

/// The number of bytes that `shape` of `type` takes. Throws cladtorch::Error that names `name` if a dimension
/// is negative, the number overflows, or the last element of a packed type ends within a byte.
size_t stored_bytes(const std::string& name, StoredType type, std::span<const int64_t> shape);

}  // namespace cladtorch::io
