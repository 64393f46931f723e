#include "cuda/log_sum_exp.cuh"
#include "cuda/pointwise.cuh"
#include "cuda/tensor_product.h"
#include "ops/cross_entropy/mean_of_rows.cuh"
#include "ops/linear_cross_entropy/linear_cross_entropy_on_device.h"
#include "tensor/device_memory.h"

namespace cladtorch::cuda {
namespace {

constexpr int block_threads = 1024;

/// One block per row of scores [rows, stride], of which the first `vocabulary` are scores and the others are
/// not looked at; rows begin at multiples of a pack. Replaces them by the gradient of factor times the row's
/// loss. Reads a row twice, the second time from the level-2 cache (100 KB for GPT-2 in bfloat16, two rows in
/// work on a multiprocessor), and writes it once: 4 bytes of memory traffic per score in bfloat16.
template <bool with_gradient, int N, class T>
__global__ void __launch_bounds__(block_threads, sizeof(T) == 8 ? 1 : multiprocessor_threads / block_threads)
    loss_kernel(int64_t vocabulary, int64_t stride, T* scores, const int32_t* targets, int64_t ignore_index,
                const Computed<T>* factor, Computed<T>* losses) {
  using C = Computed<T>;
  const int32_t target = targets[blockIdx.x];
  const bool counts = target != ignore_index, valid = target >= 0 && target < vocabulary;
  auto* const row = reinterpret_cast<Pack<T, N>*>(scores + blockIdx.x * stride);
  const int packs = static_cast<int>((vocabulary + N - 1) / N);
  const auto get = [&](int pack) {
    Pack<T, N> from = row[pack];
#pragma unroll
    for (int i = 0; i < N; ++i)
      if (int64_t{pack} * N + i >= vocabulary) from.values[i] = converted<T>(Maximum::of_nothing<C>());
    return from;
  };
  C log_sum_exp = 0;
  if (counts) {
    const C score_of_target = valid ? read(scores[blockIdx.x * stride + target]) : C(0);
    ExponentialSum<C> sum;
#pragma unroll 2
    for (int pack = BlockPerRow::rank(); pack < packs; pack += block_threads) sum.add(get(pack));
    sum.template reduce<BlockPerRow>();
    log_sum_exp = valid ? sum.largest + log(sum.sum) : std::numeric_limits<C>::quiet_NaN();
    if (BlockPerRow::rank() == 0) losses[blockIdx.x] = log_sum_exp - score_of_target;
  } else if (BlockPerRow::rank() == 0) {
    losses[blockIdx.x] = 0;
  }
  if constexpr (with_gradient) {
    const C by = *factor;
#pragma unroll 2
    for (int pack = BlockPerRow::rank(); pack < packs; pack += block_threads) {
      Pack<T, N> to = get(pack);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const C of_target = int64_t{pack} * N + i == target ? 1 : 0;
        const C weight = detail::ScalarExp{}(read(to.values[i]) - log_sum_exp);
        to.values[i] = converted<T>(counts ? by * (weight - of_target) : C(0));
      }
      row[pack] = to;
    }
  }
}

/// All of it for the rows of x.
template <class T>
class ScoredRows {
 public:
  using C = Computed<T>;
  static constexpr int pack = pack_size<T>;

  ScoredRows(const Tensor& x, const Tensor& weight, int64_t block_rows)
      : x_(x),
        weight_(weight),
        device_(x.device()),
        rows_(x.size(0)),
        vocabulary_(weight.size(0)),
        channels_(weight.size(1)),
        block_rows_(block_rows),
        scores_(Tensor::empty({block_rows, ceil_div(vocabulary_, 64) * 64}, x.dtype(), device_)),
        workspace_(detail::product_workspace(std::max(block_rows, vocabulary_),
                                             std::max(vocabulary_, channels_), device_)),
        losses_(Tensor::empty({rows_}, loss_dtype(), device_)),
        factor_(Tensor::empty({}, loss_dtype(), device_)) {}

  void run(const Tensor& targets, int64_t ignore_index, Tensor& loss, Tensor& d_x, Tensor& d_weight) {
    C *const factor = factor_.device_data<C>(), *const losses = losses_.device_data<C>();
    const int32_t* const all_targets = targets.device_data<int32_t>();
    mean_of_rows<C>(device_, rows_, all_targets, ignore_index, nullptr, nullptr, factor);
    for (int64_t begin = 0; begin < rows_; begin += block_rows_) {
      const int64_t count = std::min(block_rows_, rows_ - begin);
      score(begin, count);
      const bool with_gradient = d_x.defined() || d_weight.defined();
      launch(device_, with_gradient ? loss_kernel<true, pack, T> : loss_kernel<false, pack, T>,
             Grid(count, block_threads), vocabulary_, scores_.size(1), scores_.device_data<T>(),
             all_targets + begin, ignore_index, factor, losses + begin);
      if (channels_ == 0) continue;
      const Tensor d_scores = scores_.narrow(0, 0, count).narrow(1, 0, vocabulary_);
      if (d_x.defined()) multiply(d_scores, weight_, d_x.device_data<T>() + begin * channels_, x_.dtype());
      if (d_weight.defined())
        multiply(d_scores.transpose(0, 1), x_.narrow(0, begin, count), d_weight.device_data<C>(),
                 loss_dtype(), begin > 0);
    }
    if (rows_ == 0 && d_weight.defined())
      detail::clear_on(device_, d_weight.device_data<C>(), d_weight.nbytes());
    mean_of_rows(device_, rows_, all_targets, ignore_index, losses, loss.device_data<C>(), factor);
  }

 private:
  DType loss_dtype() const { return detail::computed_in(x_.dtype()); }

  void score(int64_t begin, int64_t count) {
    if (channels_ == 0) return detail::clear_on(device_, scores_.device_data<T>(), scores_.nbytes());
    TensorProduct product(x_.narrow(0, begin, count), weight_.transpose(0, 1), x_.dtype(),
                          scores_.device_data<T>(), workspace_);
    product.problem.c.stride = scores_.size(1);
    product.run_on(device_);
  }

  void multiply(const Tensor& a, const Tensor& b, void* c, DType out, bool add = false) {
    TensorProduct product(a, b, out, c, workspace_);
    product.problem.add = add;
    product.run_on(device_);
  }

  const Tensor &x_, &weight_;
  Device device_;
  int64_t rows_, vocabulary_, channels_, block_rows_;
  Tensor scores_, workspace_, losses_, factor_;
};

void classify(const Tensor& x, const Tensor& weight, const Tensor& targets, int64_t ignore_index,
              int64_t block_rows, Tensor& loss, Tensor& d_x, Tensor& d_weight) {
  detail::dispatch_real("linear_cross_entropy", x.dtype(), [&]<class T>(T) {
    ScoredRows<T>(x, weight, block_rows).run(targets, ignore_index, loss, d_x, d_weight);
  });
}

template <class Factor>
struct Scale {
  const Factor* factor;
  template <class T>
  __device__ T operator()(T x) const {
    return static_cast<T>(*factor) * x;
  }
};

void scale(const Tensor& x, const Tensor& factor, const GradientTarget& out) {
  detail::dispatch_real("linear_cross_entropy", x.dtype(), [&]<class T>(T) {
    const Scale<Computed<T>> by{factor.device_data<Computed<T>>()};
    const auto write_scaled = [&](auto* to, bool add) {
      with_write(add, [&](auto write) {
        pointwise<decltype(write)::value>(x.device(), x.numel(), to, by, x.device_data<T>());
      });
    };
    if (out.dtype() == DType::bfloat16) {
      write_scaled(out.data<bfloat16>(), out.add());
    } else {
      write_scaled(out.data<Computed<T>>(), out.add());
    }
  });
}

const detail::DeviceFunctionCode classify_code(detail::linear_cross_entropy_on_device, classify);
const detail::DeviceFunctionCode scale_code(detail::scaled_on_device, scale);

}  // namespace
}  // namespace cladtorch::cuda
