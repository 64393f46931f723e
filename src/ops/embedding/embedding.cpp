#include "cladtorch/ops/embedding.h"

#include <algorithm>
#include <cstring>

#include "cladtorch/ops/count.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/common/rows.h"
#include "tensor/dispatch.h"

namespace cladtorch {

Tensor embedding(const Tensor& indices, const Tensor& weight) {
  require(indices.defined() && weight.defined(), "embedding: indices or weight is undefined");
  require(indices.dtype() == DType::int32, "embedding: expected int32 indices, got ", indices.dtype());
  require(weight.dim() == 2, "embedding: expected weight [V, C], got ", weight.shape());
  detail::count_op();
  const Tensor picked = indices.contiguous(), table = weight.contiguous();
  const int32_t* index = picked.data<int32_t>();
  const int64_t count = indices.numel(), rows = weight.size(0), n = weight.size(1);
  for (int64_t i = 0; i < count; ++i)
    require(index[i] >= 0 && index[i] < rows, "embedding: index ", index[i], " is outside the ", rows,
            " rows of the table");
  Shape shape = indices.shape();
  shape.push_back(n);
  Tensor y = Tensor::empty(shape, weight.dtype());
  const size_t row_bytes = static_cast<size_t>(n) * size_of(weight.dtype());
  const auto* from = static_cast<const std::byte*>(table.data());
  auto* to = static_cast<std::byte*>(y.data());
  parallel_for(count, detail::row_grain(n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(to + static_cast<size_t>(i) * row_bytes, from + static_cast<size_t>(index[i]) * row_bytes,
                  row_bytes);
  });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor embedding_reverse_forw(const Tensor& indices, const Tensor& weight,
                              pullback_state<EmbeddingState>& state) {
  state.data = {weight.shape(), weight.dtype()};
  return ::cladtorch::embedding(indices, weight);
}

// Threads share the columns, not the rows: each walks the indices in order, so repeated ones add up in order.
void embedding_pullback(const Tensor& indices, const Tensor&, Tensor d_y, Tensor*, Tensor* d_weight,
                        pullback_state<EmbeddingState>& state) {
  if (!d_y.defined() || !d_weight) return;
  const Tensor picked = indices.contiguous(), d = d_y.contiguous();
  const GradientTarget target = accumulate_into(d_weight, state.data.weight, state.data.dtype);
  const int32_t* index = picked.data<int32_t>();
  const int64_t count = indices.numel(), n = state.data.weight[1];
  detail::dispatch_floating("embedding", state.data.dtype, [&]<class T>(T) {
    const T* from = d.data<T>();
    T* to = target.data<T>();
    if (!target.add()) {
      parallel_for(state.data.weight.numel(), 1 << 16,
                   [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, T(0)); });
    }
    constexpr int64_t columns = 64;
    parallel_for(n, columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < count; ++i) {
        T* const row = to + index[i] * n;
        for (int64_t j = begin; j < end; ++j) row[j] += from[i * n + j];
      }
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
