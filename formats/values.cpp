#include "formats/values.h"

#include <cstring>
#include <utility>

#include "cladtorch/io/conversion.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "formats/transpose.h"

namespace cladtorch::formats {
namespace {

void copy(const std::byte* in, size_t bytes, std::byte* out) {
  constexpr int64_t grain = 1 << 20;
  parallel_for(static_cast<int64_t>(bytes), grain, [&](int64_t begin, int64_t end) {
    std::memcpy(out + begin, in + begin, static_cast<size_t>(end - begin));
  });
}

/// The stored values as a dense float32 tensor of the stored shape.
Tensor to_float(const io::StoredTensor& stored, const std::string& where) {
  require(io::converts_to_float32(stored.type), where, " is ", io::stored_name(stored.type),
          ", expected a floating type such as F32, F16 or BF16");
  Tensor values = empty(Shape(std::span<const int64_t>(stored.shape)));
  io::to_float32(stored, {values.data<float>(), static_cast<size_t>(values.numel())});
  return values;
}

/// The dense tensor that a file keeps of `parameter`: itself, or its transpose.
Tensor values_to_store(const Tensor& parameter, bool transposed) {
  if (!transposed) return parameter.contiguous();
  const Tensor dense = parameter.contiguous();
  Tensor result = empty({dense.size(1), dense.size(0)}, dense.dtype());
  transpose(static_cast<const std::byte*>(dense.data()), dense.size(0), dense.size(1), size_of(dense.dtype()),
            static_cast<std::byte*>(result.data()));
  return result;
}

}  // namespace

io::StoredType stored_type(DType dtype) {
  switch (dtype) {
    case DType::bfloat16:
      return io::StoredType::bf16;
    case DType::float64:
      return io::StoredType::f64;
    case DType::int32:
      return io::StoredType::i32;
    case DType::int64:
      return io::StoredType::i64;
    case DType::boolean:
      return io::StoredType::boolean;
    default:
      return io::StoredType::f32;
  }
}

void read_values(const io::StoredTensor& stored, bool transposed, Tensor& parameter,
                 const std::string& where) {
  const Shape found(std::span<const int64_t>(stored.shape));
  const Shape expected = transposed ? parameter.transpose(0, 1).shape() : parameter.shape();
  require(found == expected, where, " is ", found, ", but config.json makes it ", expected);
  const bool same_type = stored.type == stored_type(parameter.dtype());
  if (!same_type && !transposed && parameter.dtype() == DType::float32 && parameter.is_contiguous() &&
      io::converts_to_float32(stored.type)) {
    return io::to_float32(stored, {parameter.data<float>(), static_cast<size_t>(parameter.numel())});
  }
  const Tensor wide = same_type ? Tensor() : to_float(stored, where);
  if (!same_type && parameter.dtype() != DType::float32)
    return parameter.copy_from(transposed ? wide.transpose(0, 1) : wide);
  if (same_type && parameter.dtype() == DType::boolean && !transposed) {  // any other byte is no bool
    bool* const to = parameter.data<bool>();
    for (size_t i = 0; i < stored.data.size(); ++i) to[i] = stored.data[i] != std::byte{0};
    return;
  }
  const auto* in = same_type ? stored.data.data() : static_cast<const std::byte*>(wide.data());
  auto* out = static_cast<std::byte*>(parameter.data());
  if (transposed) {
    transpose(in, found[0], found[1], size_of(parameter.dtype()), out);
  } else {
    copy(in, parameter.nbytes(), out);
  }
}

std::span<const std::byte> StoredBytes::of(const Tensor& parameter, io::StoredType type, bool transposed) {
  dense_ = values_to_store(parameter, transposed);
  if (stored_type(dense_.dtype()) == type) {
    return {static_cast<const std::byte*>(std::as_const(dense_).data()), dense_.nbytes()};
  }
  dense_ = dense_.to(DType::float32);
  const auto count = static_cast<size_t>(dense_.numel());
  const size_t bytes = count * io::stored_bits(type) / 8;
  if (bytes > converted_.size()) converted_.resize(bytes);
  const std::span<std::byte> result = std::span(converted_).first(bytes);
  io::from_float32({std::as_const(dense_).data<float>(), count}, type, result);
  return result;
}

}  // namespace cladtorch::formats
