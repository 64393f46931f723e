#include "tensor/indices.h"

#include <utility>

namespace cladtorch::detail {

Tensor as_int32(const char* operation, const char* what, const Tensor& indices) {
  require(is_integer(indices.dtype()), operation, ": expected int32 or int64 ", what, ", got ",
          indices.dtype());
  if (indices.dtype() == DType::int32) return indices;
  if (!indices.is_cuda()) {
    const Tensor dense = indices.contiguous();
    for (int64_t i = 0; i < dense.numel(); ++i) {
      const int64_t index = dense.data<int64_t>()[i];
      require(std::in_range<int32_t>(index), operation, ": ", index, " among the ", what,
              " does not fit in int32");
    }
  }
  return indices.to(DType::int32);
}

}  // namespace cladtorch::detail
