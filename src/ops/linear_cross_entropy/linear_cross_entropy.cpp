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
// The pullback's cotangent is a factor that is not known yet. When all rows fit one block, the exponentials
// wait for it, and d_W is written straight to its place. Otherwise d_W is accumulated block by block for a
// cotangent of 1, in memory of W's size, and added in the pullback.
#include <algorithm>
#include <cstring>
#include <utility>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/gradient_target.h"
#include "ops/common/elementwise.h"
#include "ops/cross_entropy/targets.h"
#include "ops/linear_cross_entropy/classifier.h"

namespace cladtorch {
namespace {

/// Scores of one block: 54 MB in float, a third of GPT-2's W. With its vocabulary a block has 256 rows,
/// enough to hide reading W and updating d_W behind the products.
constexpr int64_t block_scores = int64_t{13} << 20;
constexpr int64_t smallest_block = 128;

int64_t blocks_of(int64_t rows, int64_t vocabulary) {
  const int64_t most = std::max(smallest_block, block_scores / vocabulary / 64 * 64);
  return (rows + most - 1) / most;
}

/// Throws Error unless the operands fit; returns how many rows count.
int64_t check(const Tensor& x, const Tensor& weight, const Tensor& targets, int64_t ignore_index) {
  detail::check_operands("linear_cross_entropy", x, weight);
  require(targets.defined(), "linear_cross_entropy: targets are undefined");
  require(weight.dim() == 2 && x.dim() >= 1 && x.size(-1) == weight.size(1) &&
              x.shape().without(x.dim() - 1) == targets.shape(),
          "linear_cross_entropy: expected x [..., C], weight [V, C] and targets [...]: x is ", x.shape(),
          ", weight is ", weight.shape(), ", targets is ", targets.shape());
  return detail::count_targets("linear_cross_entropy", targets, weight.size(0), ignore_index);
}

/// The places of the rows that count; undefined if all do.
Tensor places_of(const Tensor& targets, int64_t counted, int64_t ignore_index) {
  if (counted == targets.numel()) return {};
  Tensor places = Tensor::empty({counted}, DType::int32);
  int32_t* place = places.data<int32_t>();
  for (int64_t i = 0; i < targets.numel(); ++i) {
    if (targets.data<int32_t>()[i] != ignore_index) *place++ = static_cast<int32_t>(i);
  }
  return places;
}

/// Calls copy(packed row, whole row, bytes of one) for each row that counts.
template <class Copy>
void for_each_place(const Tensor& places, size_t row_bytes, Copy copy) {
  for (int64_t i = 0; i < places.numel(); ++i) {
    const auto place = static_cast<size_t>(places.data<int32_t>()[i]);
    copy(static_cast<size_t>(i) * row_bytes, place * row_bytes);
  }
}

/// The rows that count, one after the other.
Tensor packed_rows(const Tensor& dense, const Tensor& places, int64_t row_length) {
  if (!places.defined()) return dense;
  Tensor packed = Tensor::empty({places.numel(), row_length}, dense.dtype());
  const size_t bytes = static_cast<size_t>(row_length) * size_of(dense.dtype());
  const auto* from = static_cast<const std::byte*>(dense.data());
  auto* to = static_cast<std::byte*>(packed.data());
  for_each_place(places, bytes,
                 [&](size_t row, size_t place) { std::memcpy(to + row, from + place, bytes); });
  return packed;
}

/// Undoes packed_rows: zero where no row counts.
Tensor unpacked_rows(Tensor packed, const Tensor& places, const Shape& shape) {
  if (!places.defined()) return packed.reshape(shape);
  Tensor whole = zeros(shape, packed.dtype());
  const size_t bytes = static_cast<size_t>(shape.back()) * size_of(packed.dtype());
  const auto* from = static_cast<const std::byte*>(packed.data());
  auto* to = static_cast<std::byte*>(whole.data());
  for_each_place(places, bytes,
                 [&](size_t row, size_t place) { std::memcpy(to + place, from + row, bytes); });
  return whole;
}

/// The mean loss; with a state, also what the pullback needs.
Tensor forward(const Tensor& x, const Tensor& weight, const Tensor& targets, int64_t ignore_index,
               LinearCrossEntropyState* state) {
  const int64_t counted = check(x, weight, targets, ignore_index);
  detail::count_op();
  const int64_t vocabulary = weight.size(0), channels = weight.size(1);
  const Tensor dense_targets = targets.contiguous(), dense_weight = weight.contiguous();
  const Tensor places = places_of(dense_targets, counted, ignore_index);
  const Tensor rows = packed_rows(x.contiguous(), places, channels),
               picked = packed_rows(dense_targets, places, 1);
  const double factor = counted == 0 ? 0 : 1 / static_cast<double>(counted);
  const int64_t blocks = std::max<int64_t>(1, blocks_of(counted, vocabulary));
  const int64_t block_rows = (counted + blocks - 1) / blocks;
  const DType sum_dtype = x.dtype() == DType::bfloat16 ? DType::float32 : x.dtype();
  double total = 0;
  detail::dispatch_real("linear_cross_entropy", x.dtype(), [&]<class T>(T) {
    using Sum = detail::SumOf<T>;
    Tensor d_x, d_weight, exponentials, row_factors;
    if (state) {
      d_x = Tensor::empty({counted, channels}, x.dtype());
      exponentials = Tensor::empty({vocabulary, block_rows}, x.dtype());
      row_factors = Tensor::empty({block_rows}, sum_dtype);
      if (blocks > 1) d_weight = Tensor::empty({vocabulary, channels}, sum_dtype);
    }
    for (int64_t begin = 0; begin < counted; begin += block_rows) {
      const detail::Classifier<T> block(std::min(block_rows, counted - begin), vocabulary, channels,
                                        rows.data<T>() + begin * channels, dense_weight.data<T>(),
                                        picked.data<int32_t>() + begin);
      if (!state) {
        total += block.loss();
        continue;
      }
      total += block.loss_and_d_x(factor, d_x.data<T>() + begin * channels, exponentials.data<T>(),
                                  row_factors.data<Sum>());
      if (blocks > 1) {
        block.d_weight(factor, 1, exponentials.data<T>(), row_factors.data<Sum>(), d_weight.data<Sum>(),
                       begin > 0);
      }
    }
    if (!state) return;
    state->d_x = unpacked_rows(std::move(d_x), places, x.shape());
    state->weight_shape = weight.shape();
    state->factor = factor;
    if (blocks > 1) {
      state->d_weight = std::move(d_weight);
    } else {
      state->x = rows;
      state->targets = picked;
      state->exponentials = std::move(exponentials);
      state->row_factors = std::move(row_factors);
    }
  });
  Tensor y = Tensor::empty({}, sum_dtype);
  y.fill_(factor * total);
  return y;
}

/// *d += factor * x, a contribution of the given dtype.
void accumulate_scaled(Tensor* d, const Tensor& x, double factor, DType dtype) {
  using detail::convert;
  detail::dispatch_real("linear_cross_entropy", x.dtype(), [&]<class T>(T) {
    using Sum = detail::SumOf<T>;
    const T* const in = x.data<T>();
    const auto by = static_cast<Sum>(factor);
    const auto write = [&]<class Out>(Out* out, bool add) {
      parallel_for(x.numel(), detail::pointwise_grain, [&](int64_t begin, int64_t end) {
        if (add) {
          for (int64_t i = begin; i < end; ++i)
            out[i] = convert<Out>(convert<Sum>(out[i]) + by * convert<Sum>(in[i]));
        } else {
          for (int64_t i = begin; i < end; ++i) out[i] = convert<Out>(by * convert<Sum>(in[i]));
        }
      });
    };
    const GradientTarget target = accumulate_into(d, x.shape(), dtype);
    if (target.dtype() == DType::bfloat16) {
      write(target.data<bfloat16>(), target.add());
    } else {
      write(target.data<Sum>(), target.add());
    }
  });
}

}  // namespace

Tensor linear_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                            int64_t ignore_index) {
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
  if (!d_y.defined()) return;
  const double cotangent = d_y.item();
  if (d_weight && s.d_weight.defined()) {
    accumulate_scaled(d_weight, s.d_weight, cotangent, s.d_x.dtype());
  } else if (d_weight) {
    const int64_t vocabulary = s.weight_shape[0], channels = s.weight_shape[1];
    const GradientTarget target = accumulate_into(d_weight, s.weight_shape, s.d_x.dtype());
    detail::dispatch_real("linear_cross_entropy", s.d_x.dtype(), [&]<class T>(T) {
      const detail::Classifier<T> block(s.targets.numel(), vocabulary, channels, s.x.data<T>(), nullptr,
                                        s.targets.data<int32_t>());
      detail::write_to<T>(target, [&](auto* d, bool add) {
        block.d_weight(s.factor, cotangent, s.exponentials.data<T>(), s.row_factors.data<detail::SumOf<T>>(),
                       d, add);
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
