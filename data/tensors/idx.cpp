#include "cladtorch/data/idx.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "cladtorch/tensor/parallel.h"
#include "data/tensors/bytes.h"

namespace cladtorch::data {
namespace {

template <class T>
T big_endian(const std::byte* from) {
  std::array<std::byte, sizeof(T)> bytes;
  std::reverse_copy(from, from + sizeof(T), bytes.begin());
  return std::bit_cast<T>(bytes);
}

/// The element types, by their code in the file.
enum class Code : uint8_t { u8 = 0x08, i8 = 0x09, i16 = 0x0b, i32 = 0x0c, f32 = 0x0d, f64 = 0x0e };

size_t size_of(uint8_t code) {
  switch (Code{code}) {
    case Code::u8:
    case Code::i8:
      return 1;
    case Code::i16:
      return 2;
    case Code::i32:
    case Code::f32:
      return 4;
    case Code::f64:
      return 8;
  }
  return 0;
}

/// Calls action(T{}) for the type of the code.
template <class Action>
void with_type(Code code, Action action) {
  switch (code) {
    case Code::u8:
      return action(uint8_t{});
    case Code::i8:
      return action(int8_t{});
    case Code::i16:
      return action(int16_t{});
    case Code::i32:
      return action(int32_t{});
    case Code::f32:
      return action(float{});
    case Code::f64:
      return action(double{});
  }
}

DType default_dtype(Code code, int rank) {
  if (code == Code::f32) return DType::float32;
  if (code == Code::f64) return DType::float64;
  return code == Code::u8 && rank > 1 ? DType::float32 : DType::int32;
}

template <class To>
void convert(Code code, const std::byte* from, double scale, Tensor& to) {
  To* const out = to.data<To>();
  with_type(code, [&]<class From>(From) {
    parallel_for(to.numel(), 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto value = big_endian<From>(from + i * static_cast<int64_t>(sizeof(From)));
        if constexpr (std::is_same_v<To, int32_t>) {
          out[i] = static_cast<To>(value);
        } else {
          const double scaled = static_cast<double>(value) * scale;
          out[i] = static_cast<To>(static_cast<std::conditional_t<sizeof(To) == 8, double, float>>(scaled));
        }
      }
    });
  });
}

}  // namespace

Tensor read_idx(const std::filesystem::path& path, const IdxOptions& options) {
  const FileBytes file("read_idx", path);
  const Bytes bytes = file.bytes();
  const std::string name = "read_idx: '" + path.string() + "'";
  require(bytes.size() >= 4 && bytes[0] == std::byte{0} && bytes[1] == std::byte{0} &&
              size_of(static_cast<uint8_t>(bytes[2])) != 0,
          name, " is no IDX file: it does not begin with two zeros and the code of a type");
  const Code code{static_cast<uint8_t>(bytes[2])};
  const auto rank = static_cast<int>(bytes[3]);
  require(rank <= max_rank, name, " has ", rank, " dimensions, expected at most ", max_rank);
  const size_t header = 4 + 4 * static_cast<size_t>(rank);
  require(bytes.size() >= header, name, " ends too early; was it copied whole?");

  Shape shape;
  const size_t size = size_of(static_cast<uint8_t>(code)), held = (bytes.size() - header) / size;
  size_t elements = 1;
  bool empty = false;
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    const auto extent = big_endian<uint32_t>(bytes.data() + 4 + 4 * i);
    shape.push_back(extent);
    empty = empty || extent == 0;
    // The product without the zeros bounds every stride too.
    const size_t factor = std::max<size_t>(extent, 1);
    require(factor <= static_cast<size_t>(std::numeric_limits<int64_t>::max()) / 64 / elements, name,
            " ends too early: its header says ", shape, " ...");
    elements *= factor;
  }
  if (empty) elements = 0;
  require(elements <= held, name, " ends too early: its header says ", shape, " elements of ", size,
          size == 1 ? " byte" : " bytes", ", but only ", held, " follow");
  require(bytes.size() == header + elements * size, name, " has ", bytes.size() - header - elements * size,
          " bytes after the ", shape, " elements that its header says");

  const DType dtype = options.dtype.value_or(default_dtype(code, rank));
  require(is_floating(dtype) || dtype == DType::int32, name,
          ": expected float32, float64, bfloat16 or int32 as dtype, got ", dtype);
  const bool image = code == Code::u8 && rank > 1 && is_floating(dtype);
  const double scale = options.scale.value_or(image ? 1.0 / 255 : 1.0);
  require(is_floating(dtype) || (code != Code::f32 && code != Code::f64 && scale == 1), name,
          ": integers cannot be scaled, or made of floating-point numbers; ask for float32");
  Tensor result = Tensor::empty(shape, dtype);
  const std::byte* from = bytes.data() + header;
  switch (dtype) {
    case DType::float64:
      convert<double>(code, from, scale, result);
      break;
    case DType::int32:
      convert<int32_t>(code, from, scale, result);
      break;
    case DType::bfloat16:
      convert<bfloat16>(code, from, scale, result);
      break;
    default:
      convert<float>(code, from, scale, result);
  }
  return result;
}

}  // namespace cladtorch::data
