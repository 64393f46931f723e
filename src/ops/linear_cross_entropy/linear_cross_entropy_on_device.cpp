#include "ops/linear_cross_entropy/linear_cross_entropy_on_device.h"

#include <algorithm>

#include "ops/matmul/matmul_on_device.h"
#include "tensor/dispatch.h"

namespace cladtorch::detail {

Tensor linear_cross_entropy_forward(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                    int64_t ignore_index, LinearCrossEntropyState* state,
                                    int64_t score_bytes) {
  const int64_t rows = targets.numel(), vocabulary = weight.size(0), channels = weight.size(1);
  const auto row_bytes = std::max<int64_t>(1, vocabulary * static_cast<int64_t>(size_of(x.dtype())));
  constexpr int64_t tile = 128;  // of rows of a product
  const int64_t most = std::max(tile, score_bytes / row_bytes / tile * tile);
  const int64_t blocks = std::max<int64_t>(1, (rows + most - 1) / most);
  const int64_t block_rows = std::min(rows, ((rows + blocks - 1) / blocks + tile - 1) / tile * tile);
  Tensor loss = Tensor::empty({}, computed_in(x.dtype()), x.device()), d_x, d_weight;
  if (state) {
    state->x_frozen = x.is_frozen();
    state->weight_frozen = weight.is_frozen();
    state->weight_shape = weight.shape();
    if (!state->x_frozen) d_x = Tensor::empty({rows, channels}, x.dtype(), x.device());
    if (!state->weight_frozen) d_weight = Tensor::empty(weight.shape(), computed_in(x.dtype()), x.device());
  }
  const Tensor dense = x.contiguous().reshape({rows, channels});
  linear_cross_entropy_on_device(dense, weight.contiguous(), targets.contiguous(), ignore_index, block_rows,
                                 loss, d_x, d_weight);
  if (state) {
    if (d_x.defined()) state->d_x = d_x.reshape(x.shape());
    state->d_weight = d_weight;
    state->dtype = x.dtype();
  }
  return loss;
}

void linear_cross_entropy_backward(const LinearCrossEntropyState& state, const Tensor& d_y, Tensor* d_x,
                                   Tensor* d_weight) {
  const auto accumulate = [&](Tensor* d, const Tensor& kept) {
    if (d) scaled_on_device(kept, d_y, accumulate_into(d, kept.shape(), state.dtype, d_y.device()));
  };
  accumulate(d_weight, state.d_weight);
  accumulate(d_x, state.d_x);
}

}  // namespace cladtorch::detail
