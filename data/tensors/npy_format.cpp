#include "data/tensors/npy_format.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cladtorch/io/conversion.h"
#include "cladtorch/quote.h"
#include "data/tensors/npy_header.h"

namespace cladtorch::data {
namespace {

using io::StoredType;

constexpr std::string_view magic = "\x93NUMPY";

StoredType type_of(const std::string& name, const std::string& description) {
  static constexpr std::array<std::pair<std::string_view, StoredType>, 12> types = {{
      {"<f2", StoredType::f16},
      {"<f4", StoredType::f32},
      {"<f8", StoredType::f64},
      {"|b1", StoredType::boolean},
      {"|i1", StoredType::i8},
      {"<i2", StoredType::i16},
      {"<i4", StoredType::i32},
      {"<i8", StoredType::i64},
      {"|u1", StoredType::u8},
      {"<u2", StoredType::u16},
      {"<u4", StoredType::u32},
      {"<u8", StoredType::u64},
  }};
  for (const auto& [known, type] : types)
    if (known == description) return type;
  const char* way_out = description.starts_with('>')    ? "big-endian numbers are not read; "
                        : description.starts_with("|O") ? "Python objects are not read; "
                                                        : "";
  fail(name, " has elements of type ", in_quotes(description), ": ", way_out,
       "save it as float32, float64, int32 or int64");
}

/// Numbers of another width, and truth values.
template <class From, class To>
Tensor converted(const std::string& name, const Shape& shape, Bytes from) {
  Tensor result = Tensor::empty(shape, dtype_of<To>::value);
  To* const out = result.data<To>();
  for (size_t i = 0; i < from.size() / sizeof(From); ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<To, bool>) {
      out[i] = value != 0;
    } else {
      require(std::in_range<To>(value), name, " has the value ", value, " at element ", i,
              ", which does not fit in ", result.dtype(), "; save it as float64");
      out[i] = static_cast<To>(value);
    }
  }
  return result;
}

DType dtype_like(StoredType type) {
  if (type == StoredType::f32) return DType::float32;
  if (type == StoredType::f64) return DType::float64;
  return type == StoredType::i64 ? DType::int64 : DType::int32;
}

Tensor convert(const std::string& name, StoredType type, const Shape& shape, Bytes from) {
  switch (type) {
    case StoredType::boolean:
      return converted<uint8_t, bool>(name, shape, from);
    case StoredType::i8:
      return converted<int8_t, int32_t>(name, shape, from);
    case StoredType::i16:
      return converted<int16_t, int32_t>(name, shape, from);
    case StoredType::u8:
      return converted<uint8_t, int32_t>(name, shape, from);
    case StoredType::u16:
      return converted<uint16_t, int32_t>(name, shape, from);
    case StoredType::u32:
      return converted<uint32_t, int64_t>(name, shape, from);
    case StoredType::u64:
      return converted<uint64_t, int64_t>(name, shape, from);
    case StoredType::f16: {
      Tensor result = Tensor::empty(shape);
      io::to_float32({type, {shape.begin(), shape.end()}, from},
                     {result.data<float>(), static_cast<size_t>(shape.numel())});
      return result;
    }
    default:
      break;
  }
  Tensor result = Tensor::empty(shape, dtype_like(type));
  if (!from.empty()) std::memcpy(result.data(), from.data(), from.size());
  return result;
}

}  // namespace

Tensor parse_npy(const std::string& name, Bytes file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  require(text.size() >= 10 && text.starts_with(magic), name,
          " is no .npy file: it does not begin with \\x93NUMPY");
  const auto byte = [&](size_t i) { return static_cast<size_t>(file[i]); };
  const size_t version = byte(6);
  require(version >= 1 && version <= 3, name, " has version ", version, " of the format, expected 1, 2 or 3");
  const size_t start = version == 1 ? 10 : 12;
  require(text.size() >= start, name, " ends too early; was it copied whole?");
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  require(text.size() - start >= length, name, " ends too early; was it copied whole?");

  const NpyHeader header = parse_npy_header(name, text.substr(start, length));
  const StoredType type = type_of(name, header.type);
  require(header.shape.size() <= static_cast<size_t>(max_rank), name, " has ", header.shape.size(),
          " dimensions, expected at most ", max_rank);
  const size_t needed = io::stored_bytes(name, type, header.shape);
  const Bytes elements = file.subspan(start + length);
  Shape shape{std::span<const int64_t>(header.shape)};
  require(elements.size() >= needed, name, " ends too early: ", shape, " elements take ", needed,
          " bytes, but only ", elements.size(), " follow its header");
  require(elements.size() == needed, name, " has ", elements.size() - needed, " bytes after its ", shape,
          " elements");
  if (!header.fortran_order) return convert(name, type, shape, elements);
  // The elements are those of the transposed array in C order.
  Shape reversed, order;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    reversed.push_back(shape[i]);
    order.push_back(i);
  }
  return convert(name, type, reversed, elements).permute(order).contiguous();
}

Tensor as_npy(const std::string& name, const Tensor& tensor) {
  require(tensor.defined(), name, ": the tensor is undefined");
  require(!is_float8(tensor.dtype()), name, ": expected a dtype that NumPy has, or bfloat16, got ",
          tensor.dtype());
  const Tensor dense = tensor.to(Device{}).contiguous();
  return dense.dtype() == DType::bfloat16 ? dense.to(DType::float32) : dense;
}

std::string npy_header(const Tensor& tensor) {
  const char* type = tensor.dtype() == DType::float32   ? "<f4"
                     : tensor.dtype() == DType::float64 ? "<f8"
                     : tensor.dtype() == DType::int64   ? "<i8"
                     : tensor.dtype() == DType::boolean ? "|b1"
                                                        : "<i4";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", type);
  for (const int64_t extent : tensor.shape()) text += fmt::format("{}, ", extent);
  // One alone has a comma behind it, several have none.
  if (tensor.dim() > 0) text.resize(text.size() - (tensor.dim() == 1 ? 1 : 2));
  text += "), }";
  constexpr size_t start = 10, alignment = 64;
  const size_t padded = (start + text.size() + 1 + alignment - 1) / alignment * alignment - start;
  text.resize(padded - 1, ' ');
  text += '\n';
  return std::string(magic) + '\1' + '\0' + static_cast<char>(text.size() & 0xff) +
         static_cast<char>(text.size() >> 8) + text;
}

}  // namespace cladtorch::data
