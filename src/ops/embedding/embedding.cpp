#include "cladtorch/ops/embedding.h"

#include "cladtorch/tensor/recorder.h"
#include "ops/common/call.h"
#include "ops/embedding/embedding_kernel.h"
#include "ops/embedding/embedding_on_device.h"
#include "tensor/dispatch.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

void check_indices(int64_t count, const int32_t* index, int64_t rows) {
  for (int64_t i = 0; i < count; ++i)
    require(index[i] >= 0 && index[i] < rows, "embedding: index ", index[i], " is outside the ", rows,
            " rows of the table");
}

void pull_on_device(const Tensor& indices, const Tensor& d_y, Tensor* d_weight, const Shape& table,
                    DType dtype) {
  const Device device = d_y.device();
  const int64_t count = indices.numel();
  const int64_t chunks = (count + detail::embedding_chunk - 1) / detail::embedding_chunk;
  const detail::SortMemory sorting{Tensor::empty({4, count}, DType::int32, device),
                                   Tensor::empty({detail::sort_counts(count)}, DType::int32, device)};
  const Tensor sums = Tensor::empty({chunks, 2, table[1]}, detail::computed_in(dtype), device);
  detail::embedding_pullback_on_device(
      {indices, d_y, table[0], sorting, sums, accumulate_into(d_weight, table, dtype, device)});
}

}  // namespace

Tensor embedding(const Tensor& indices, const Tensor& weight) {
  CLADTORCH_RECORD_STATE(EmbeddingState, embedding, indices, unread(weight));
  const detail::Call call("embedding",
                          {{"indices", indices, detail::Operand::independent}, {"weight", weight}});
  require(weight.dim() == 2, "embedding: expected weight [V, C], got ", weight.shape());
  const Tensor picked = detail::as_int32("embedding", "indices", indices).contiguous(),
               table = weight.contiguous();
  const int64_t count = indices.numel(), rows = weight.size(0), n = weight.size(1);
  Shape shape = indices.shape();
  shape.push_back(n);
  Tensor y = call.result(shape);
  if (weight.is_cuda()) {
    detail::embedding_on_device(picked, table, y);
  } else {
    check_indices(count, picked.data<int32_t>(), rows);
    detail::dispatch_any(weight.dtype(), [&]<class T>(T) {
      detail::gather_rows<T>(count, n, picked.data<int32_t>(), table.data<T>(), y.data<T>());
    });
  }
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
  const Tensor picked = detail::as_int32("embedding", "indices", indices).contiguous(), d = d_y.contiguous();
  const Shape& shape = state.data.weight;
  const DType dtype = state.data.dtype;
  const auto on_device = [&] { ::cladtorch::pull_on_device(picked, d, d_weight, shape, dtype); };
  detail::run_where("embedding", d, on_device, [&]<class T>(T) {
    detail::contribute_sum<T>(d_weight, shape, [&](auto target) {
      detail::scatter_rows<T>(indices.numel(), shape[0], shape[1], picked.data<int32_t>(), d.data<T>(),
                              target);
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
