#include "cladtorch/ops/embedding.h"

#include "cladtorch/ops/count.h"
#include "ops/embedding/embedding_kernel.h"
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
  y.set_frozen(weight.is_frozen());
  detail::dispatch_any(weight.dtype(), [&]<class T>(T) {
    detail::gather_rows<T>(count, n, index, table.data<T>(), y.data<T>());
  });
  return y;
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor embedding_reverse_forw(const Tensor& indices, const Tensor& weight,
                              pullback_state<EmbeddingState>& state) {
  state.data = {weight.shape(), weight.dtype(), weight.is_frozen()};
  return ::cladtorch::embedding(indices, weight);
}

void embedding_pullback(const Tensor& indices, const Tensor&, Tensor d_y, Tensor*, Tensor* d_weight,
                        pullback_state<EmbeddingState>& state) {
  d_weight = wanted(d_weight, state.data.frozen);
  if (!d_y.defined() || !d_weight) return;
  const Tensor picked = indices.contiguous(), d = d_y.contiguous();
  const Shape& shape = state.data.weight;
  detail::dispatch_real("embedding", state.data.dtype, [&]<class T>(T) {
    detail::contribute_sum<T>(d_weight, shape, [&](auto target) {
      detail::scatter_rows<T>(indices.numel(), shape[0], shape[1], picked.data<int32_t>(), d.data<T>(),
                              target);
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
