// Causal attention of bfloat16 by Hopper's warpgroup products. Source: Shah et al., "FlashAttention-3", 2024.
// A block has 64 queries of one head for each of its warpgroups and goes through tiles of keys. The scores of
// a tile are computed beside the sums of values of the tile before it, which run on while the weights of the
// new one are found.
#include "ops/causal_attention/attention_implementation.h"
#include "ops/causal_attention/hopper_attention.cuh"
#include "ops/causal_attention/hopper_tiles.cuh"

namespace cladtorch::cuda {
namespace hopper {
namespace {

/// What the registers hold. With heads of 64 two blocks share a multiprocessor, 128 registers a thread: one
/// begins or ends, or finds weights, while the other multiplies.
template <int D>
struct ForwardBlock {
  static constexpr int warpgroups = 2, threads = warpgroups * warpgroup_threads,
                       queries = warpgroups * warpgroup_rows, keys = D == 64 ? 64 : 128,
                       per_multiprocessor = D == 64 ? 2 : 1;
  static constexpr size_t shared_bytes = tile_bytes(D, queries + 4 * keys) + tile_alignment;
};

template <int D>
class Forward {
  using Block = ForwardBlock<D>;
  static constexpr int N = Block::keys;
  using Keys = Tile<D, N>;

 public:
  __device__ Forward(const AttentionSizes& x, const AttentionForward<bfloat16>& p, float scale)
      : x_(x),
        p_(p),
        scale_(scale),
        // The last queries have most to do.
        first_(static_cast<int>(gridDim.x - 1 - blockIdx.x) * Block::queries),
        head_(static_cast<int>(blockIdx.y)),
        k_(p.k.head(blockIdx.z, int64_t{head_ / x.group} * D)),
        v_(p.v.head(blockIdx.z, int64_t{head_ / x.group} * D)),
        keys_end_(x.end_key(min(first_ + Block::queries, x.length) - 1)),
        keys_begin_(x.first_key(first_) / N * N),
        tiles_((keys_end_ - keys_begin_ + N - 1) / N),
        q_{tile_memory()} {}

  __device__ void run() {
    q_.template load<Block::threads>(p_.q.head(blockIdx.z, int64_t{head_} * D), p_.q.row, first_, x_.length);
    load(keys(0), k_, p_.k.row, 0);
    wait_for_tiles();
    begin_products();
    multiply_rows(scores_, q_, warpgroup() * warpgroup_rows, keys(0));
    load_after(0);
    wait_for_products<0>(scores_);
    weigh(0);
    round_strip(weights_, scores_);
    const int seen = seen_tiles();
    for (int number = 1; number <= tiles_; ++number) {
      wait_for_tiles();  // and until what was there before the tile after this has been read
      if (number < seen) {
        begin_products(weights_, y_);
        multiply_rows(scores_, q_, warpgroup() * warpgroup_rows, keys(number));
        multiply_columns(y_, weights_, values(number - 1));
        load_after(number);
        wait_for_products<1>(scores_);
        weigh(number);
        wait_for_products<0>(y_);
#pragma unroll
        for (auto& column : y_)
#pragma unroll
          for (int i = 0; i < 4; ++i) column[i] *= factors_[i / 2];
        round_strip(weights_, scores_);
      } else if (number == seen) {
        begin_products(weights_, y_);
        multiply_columns(y_, weights_, values(number - 1));
        load_after(number);
        wait_for_products<0>(y_);
      } else {
        load_after(number);
      }
    }
    write();
  }

 private:
  __device__ Keys keys(int number) const { return {q_.data + q_.elements + number % 2 * Keys::elements}; }
  __device__ Keys values(int number) const {
    return {q_.data + q_.elements + (2 + number % 2) * Keys::elements};
  }
  __device__ __forceinline__ void load(const Keys& tile, const bfloat16* head, int64_t row,
                                       int number) const {
    if (number < tiles_) tile.template load<Block::threads>(head, row, keys_begin_ + number * N, keys_end_);
  }
  /// What the tile after this needs.
  __device__ __forceinline__ void load_after(int number) const {
    load(values(number), v_, p_.v.row, number);
    load(keys(number + 1), k_, p_.k.row, number + 1);
  }

  /// Tiles up to the last that this warpgroup's queries see, of which there is one.
  __device__ int seen_tiles() const {
    const int last = min(first_ + (warpgroup() + 1) * warpgroup_rows, x_.length) - 1;
    return max(1, (x_.end_key(last) - keys_begin_ + N - 1) / N);
  }

  /// From scores to weights, and what earlier sums are to be multiplied by.
  __device__ __forceinline__ void weigh(int number) {
    const int key = keys_begin_ + number * N;
    const int position = x_.past + first_ + warpgroup() * warpgroup_rows;
    const bool all_seen = key + N - 1 <= position && position + warpgroup_rows - 1 - key < x_.window;
    if (!all_seen)
      flash::hide_unseen(scores_, x_.past + first_ + first_row_of_strip() + fragment_row(),
                         key + fragment_column(), x_.window);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      factors_[half] = flash::exponentiate(scores_, half, scale_ * log2_e, rows_[half]);
  }

  __device__ void write() {
    const int64_t y_row = int64_t{x_.heads} * D;
    const int row = first_ + first_row_of_strip();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = rows_[half].total;
      total += __shfl_xor_sync(whole_warp, total, 1);
      total += __shfl_xor_sync(whole_warp, total, 2);
      factors_[half] = 1 / total;
      const int t = row + fragment_row() + 8 * half;
      if (p_.log_sum_exp && t < x_.length && fragment_column() == 0)
        p_.log_sum_exp[(int64_t{blockIdx.z} * x_.heads + head_) * x_.length + t] =
            rows_[half].largest * scale_ + logf(total);
    }
    flash::write_strip<D>(y_, factors_, p_.y + int64_t{blockIdx.z} * x_.length * y_row + int64_t{head_} * D,
                          y_row, row, x_.length, false);
  }

  const AttentionSizes& x_;
  const AttentionForward<bfloat16>& p_;
  const float scale_;
  const int first_, head_;
  const bfloat16 *const k_, *const v_;
  const int keys_end_, keys_begin_, tiles_;
  const Tile<D, Block::queries> q_;

  Strip<D / 8> y_ = {};
  Strip<N / 8> scores_;
  Left<N / 8> weights_;
  flash::RowState rows_[2];
  float factors_[2];
};

template <int D>
__global__ void __launch_bounds__(threads_with_code(ForwardBlock<D>::threads),
                                  ForwardBlock<D>::per_multiprocessor)
    hopper_attention_kernel(AttentionSizes x, AttentionForward<bfloat16> p, float scale) {
  if constexpr (has_warpgroup_products) Forward<D>(x, p, scale).run();
}

template <int D>
void run(const detail::AttentionLayout& x, const detail::AttentionOperands& in, int64_t past, Tensor& y,
         Tensor& log_sum_exp) {
  using Block = ForwardBlock<D>;
  const dim3 blocks(static_cast<unsigned>(ceil_div(x.length, Block::queries)), static_cast<unsigned>(x.heads),
                    static_cast<unsigned>(x.batch));
  launch(y.device(), hopper_attention_kernel<D>, Grid(blocks, dim3(Block::threads), Block::shared_bytes),
         AttentionSizes(x, past), AttentionForward<bfloat16>(x, in, y, log_sum_exp),
         1 / std::sqrt(static_cast<float>(D)));
}

/// The kernels of this file and of hopper_attention_pullback.cu.
class HopperAttention final : public AttentionImplementation {
 public:
  std::string name() const override { return "hopper"; }

  bool supports(const AttentionProblem& problem) const override {
    if (problem.dtype != DType::bfloat16 || !problem.is_packed()) return false;
    switch (problem.layout.head_size) {
      case 64:
        return has_code(hopper_attention_kernel<64>, ForwardBlock<64>::threads, problem.device);
      case 128:
        return has_code(hopper_attention_kernel<128>, ForwardBlock<128>::threads, problem.device);
      default:
        return false;
    }
  }

  size_t scratch_bytes(const AttentionProblem& problem) override {
    if (problem.pass == AttentionPass::forward) return 0;
    return static_cast<size_t>(problem.layout.statistics()) * sizeof(float);
  }

  void forward(const AttentionProblem& problem, const detail::AttentionOperands& in, Tensor& y,
               Tensor& log_sum_exp, void*) override {
    if (problem.layout.head_size == 64) {
      run<64>(problem.layout, in, problem.past, y, log_sum_exp);
    } else {
      run<128>(problem.layout, in, problem.past, y, log_sum_exp);
    }
  }

  void pullback(const AttentionProblem& problem, const detail::AttentionOperands& in, const Tensor& y,
                const Tensor& log_sum_exp, const Tensor& d_y,
                const std::array<detail::AttentionGradientPlace, 3>& to, void* delta) override {
    const AttentionBackward<bfloat16> all(problem.layout, in, y, log_sum_exp, d_y, delta, to);
    attention_delta(problem.layout, all, problem.device);
    hopper_attention_pullback(problem.layout, all, problem.device);
  }
};

HopperAttention implementation;
const AttentionRegistration registration(implementation);

}  // namespace
}  // namespace hopper
}  // namespace cladtorch::cuda
