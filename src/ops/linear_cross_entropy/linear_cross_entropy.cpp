// The classifier at the end of a language model. With scores s_r = W x_r for each of the R rows that count,
//     loss  = 1/R sum_r log Z_r,  Z_r = sum_v e_rv,  e_rv = exp(s_rv - shift_r),  shift_r = s_r,target(r)
//     d_x_r = 1/R (1/Z_r sum_v e_rv W_v - W_target(r))
//     d_W_v = 1/R (sum_r e_rv x_r / Z_r - sum_{r: target(r) = v} x_r)
// The score of the target is one dot product, and known before all others: no pass looks for the largest
// score. The exponentials stay in range unless a row's loss exceeds 30 nats; then the block is swept again
// with the maxima as shifts.
//
// Rows go through in blocks. One sweep over the vocabulary computes the scores of a chunk of W, exponentiates
// them and multiplies them by the same chunk, which is still in the cache: Z and d_x come from one reading of
// W. The exponentials of the block are kept for d_W, whose product takes x_r / Z_r instead of normalizing
// them. So nothing is computed twice. Recomputing the scores in the pullback would store less, but take four
// products of this size instead of three: a tenth of a whole step of GPT-2 124M.
//
// The pullback's cotangent is a factor that is not known yet. With one block the exponentials wait for it,
// and d_W is written straight to its place. With several d_W is accumulated block by block for a cotangent of
// 1, in memory of W's size, and added in the pullback. So one block may have the exponentials of several, and
// of as many rows more as that memory would hold: 1024 rows of GPT-2 in float.
#include <utility>

#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/cross_entropy/targets.h"
#include "ops/linear_cross_entropy/linear_cross_entropy_kernel.h"
#include "ops/linear_cross_entropy/linear_cross_entropy_on_device.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

/// The rows that count, one after the other: `dense` itself if all do.
Tensor packed_rows(const Tensor& dense, const Tensor& targets, int64_t counted, int64_t ignore_index,
                   int64_t length) {
  if (counted == targets.numel()) return dense;
  Tensor packed = Tensor::empty({counted, length}, dense.dtype());
  detail::dispatch_any(dense.dtype(), [&]<class T>(T) {
    detail::pack_rows<T>(targets.numel(), targets.data<int32_t>(), ignore_index, length, dense.data<T>(),
                         packed.data<T>());
  });
  return packed;
}

/// Undoes packed_rows: zero where no row counts.
Tensor unpacked_rows(const Tensor& packed, const Tensor& targets, int64_t counted, int64_t ignore_index,
                     const Shape& shape) {
  if (counted == targets.numel()) return packed.reshape(shape);
  Tensor whole = Tensor::empty(shape, packed.dtype());
  detail::dispatch_any(packed.dtype(), [&]<class T>(T) {
    detail::unpack_rows<T>(targets.numel(), targets.data<int32_t>(), ignore_index, shape.back(),
                           packed.data<T>(), whole.data<T>());
  });
  return whole;
}

/// Memory for Classifier<T> to work in.
template <class T>
Tensor work_for(int64_t rows, int64_t vocabulary, int64_t channels) {
  return Tensor::empty({detail::Classifier<T>::work(rows, vocabulary, channels) / 4});
}
std::byte* bytes_of(Tensor& work) { return static_cast<std::byte*>(work.data()); }

/// The mean loss; with a state, also what the pullback needs.
Tensor forward(const Tensor& x, const Tensor& weight, const Tensor& given, int64_t ignore_index,
               LinearCrossEntropyState* state) {
  const detail::Call call("linear_cross_entropy",
                          {{"x", x}, {"weight", weight}, {"targets", given, detail::Operand::independent}});
  require(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1) &&
              x.shape().without(x.dim() - 1) == given.shape(),
          "linear_cross_entropy: expected x [..., C], weight [V, C] and targets [...]: x is ", x.shape(),
          ", weight is ", weight.shape(), ", targets is ", given.shape());
  const Tensor targets = detail::as_int32("linear_cross_entropy", "targets", given);
  detail::count_flops(2 * x.numel() * weight.size(0));
  if (x.is_cuda())
    return call.finish(detail::linear_cross_entropy_forward(x, weight, targets, ignore_index, state));
  const int64_t counted =
      detail::count_targets("linear_cross_entropy", targets, weight.size(0), ignore_index);
  const int64_t vocabulary = weight.size(0), channels = weight.size(1);
  const Tensor dense_targets = targets.contiguous(), dense_weight = weight.contiguous();
  const Tensor rows = packed_rows(x.contiguous(), dense_targets, counted, ignore_index, channels),
               picked = packed_rows(dense_targets, dense_targets, counted, ignore_index, 1);
  double mean = 0;
  detail::dispatch_real("linear_cross_entropy", x.dtype(), [&]<class T>(T) {
    using Sum = detail::Computed<T>;
    const detail::ClassifierBlocks<T> blocks(counted, vocabulary, channels);
    Tensor work = work_for<T>(blocks.block_rows, vocabulary, channels);
    const auto run = [&](const detail::ClassifierGradients<T>* kept) {
      mean = detail::mean_loss(blocks, rows.data<T>(), dense_weight.data<T>(), picked.data<int32_t>(), kept,
                               bytes_of(work));
    };
    if (!state) return run(nullptr);
    Tensor d_x = call.empty({counted, channels});
    Tensor row_factors = call.sums({blocks.block_rows}), exponentials, d_weight;
    state->x_frozen = x.is_frozen();
    state->weight_frozen = weight.is_frozen();
    if (!state->weight_frozen) exponentials = call.empty({vocabulary, blocks.block_rows});
    if (!state->weight_frozen && blocks.count > 1) d_weight = call.sums({vocabulary, channels});
    const detail::ClassifierGradients<T> kept{
        d_x.data<T>(), exponentials.defined() ? exponentials.data<T>() : nullptr, row_factors.data<Sum>(),
        d_weight.defined() ? d_weight.data<Sum>() : nullptr};
    run(&kept);
    state->d_x = unpacked_rows(d_x, dense_targets, counted, ignore_index, x.shape());
    state->weight_shape = weight.shape();
    state->factor = blocks.factor();
    if (state->weight_frozen) return;
    if (blocks.count > 1) {
      state->d_weight = std::move(d_weight);
    } else {
      state->x = rows;
      state->targets = picked;
      state->exponentials = std::move(exponentials);
      state->row_factors = std::move(row_factors);
    }
  });
  Tensor y = call.result({}, detail::computed_in(x.dtype()));
  y.fill_(mean);
  return y;
}

/// *d += factor * x, a contribution of the given dtype.
void accumulate_scaled(Tensor* d, const Tensor& x, double factor, DType dtype) {
  detail::dispatch_real("linear_cross_entropy", x.dtype(), [&]<class T>(T) {
    const GradientTarget target = accumulate_into(d, x.shape(), dtype);
    const auto write = [&](auto* out, bool add) {
      detail::add_scaled(x.numel(), x.data<T>(), factor, out, add, target.squares());
    };
    if (target.dtype() == DType::bfloat16) {
      write(target.data<bfloat16>(), target.add());
    } else {
      write(target.data<detail::Computed<T>>(), target.add());
    }
  });
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            int64_t ignore_index) {
  CLADTORCH_RECORD_STATE(LinearCrossEntropyState, linear_cross_entropy, unread(x), unread(weight),
                         unread(targets), ignore_index);
  return forward(x, weight, targets, ignore_index, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor linear_cross_entropy_reverse_forw(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                         int64_t ignore_index,
                                         pullback_state<LinearCrossEntropyState>& state) {
  return ::cladtorch::forward(x, weight, targets, ignore_index, &state.data);
}

void linear_cross_entropy_pullback(const Tensor&, const Tensor&, const Tensor&, int64_t, Tensor d_y,
                                   Tensor* d_x, Tensor* d_weight, Tensor*,
                                   pullback_state<LinearCrossEntropyState>& state) {
  // What was kept is large and dies here, not with the state at the end of the backward pass.
  const LinearCrossEntropyState s = std::exchange(state.data, {});
  d_x = wanted(d_x, s.x_frozen);
  d_weight = wanted(d_weight, s.weight_frozen);
  if (!d_y.defined()) return;
  if (d_y.is_cuda()) return detail::linear_cross_entropy_backward(s, d_y, d_x, d_weight);
  const double cotangent = d_y.item();
  if (d_weight && s.d_weight.defined()) {
    accumulate_scaled(d_weight, s.d_weight, cotangent, s.d_x.dtype());
  } else if (d_weight) {
    const int64_t vocabulary = s.weight_shape[0], channels = s.weight_shape[1];
    const GradientTarget target = accumulate_into(d_weight, s.weight_shape, s.d_x.dtype());
    detail::dispatch_real("linear_cross_entropy", s.d_x.dtype(), [&]<class T>(T) {
      Tensor work = ::cladtorch::work_for<T>(s.targets.numel(), vocabulary, channels);
      const detail::Classifier<T> block(s.targets.numel(), vocabulary, channels, s.x.data<T>(), nullptr,
                                        s.targets.data<int32_t>(), ::cladtorch::bytes_of(work));
      detail::write_to<T>(target, [&](auto* d, bool add) {
        block.d_weight(s.factor, cotangent, s.exponentials.data<T>(),
                       s.row_factors.data<detail::Computed<T>>(), d, add, target.squares());
      });
    });
  }
  if (!d_x) return;
  if (cotangent == 1) {
    d_x->accumulate(s.d_x);  // shares the memory if it is the first contribution
  } else {
    accumulate_scaled(d_x, s.d_x, cotangent, s.d_x.dtype());
  }
}

}  // namespace clad::custom_derivatives::cladtorch
