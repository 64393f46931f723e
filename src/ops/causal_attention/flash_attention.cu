// Causal attention of bfloat16 by tensor cores. Source: Dao, "FlashAttention-2", 2023. A block has 128
// queries of one head and goes through tiles of its keys; the next tile of keys and values is copied while
// the products with this one run. Scores exist in registers only.
#include "ops/causal_attention/flash_softmax.cuh"

namespace cladtorch::cuda {
namespace flash {
namespace {

constexpr int strips = 2, block_queries = block_rows<strips>;
template <int D>
constexpr int block_keys = D == 64 ? 64 : 32;  // by registers

template <int D>
__global__ void __launch_bounds__(block_threads)
    flash_attention_kernel(AttentionSizes x, AttentionForward<bfloat16> p, float scale) {
  constexpr int N = block_keys<D>;
  auto* const shared = reinterpret_cast<bfloat16*>(dynamic_shared_memory());
  const Tile<D> q{shared};
  const auto stage = [&](int number, int operand) {
    return Tile<D>{shared + (block_queries + (2 * (number % 2) + operand) * N) * D};
  };
  // The last queries have most to do.
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * block_queries,
            head = static_cast<int>(blockIdx.y);
  const int64_t b = blockIdx.z, key_head = head / x.group;
  const bfloat16 *const k = p.k.head(b, key_head * D), *const v = p.v.head(b, key_head * D);
  const int keys_end = x.end_key(min(first + block_queries, x.length) - 1);
  const int keys_begin = x.first_key(first) / N * N, tiles = (keys_end - keys_begin + N - 1) / N;
  const auto load = [&](int number) {
    if (number < tiles) {
      const int from = keys_begin + number * N;
      stage(number, 0).template load<N>(k, p.k.row, from, keys_end);
      stage(number, 1).template load<N>(v, p.v.row, from, keys_end);
    }
    cp_async_commit();
  };
  q.template load<block_queries>(p.q.head(b, int64_t{head} * D), p.q.row, first, x.length);
  load(0);

  Strip<D / 8> y[strips] = {};
  RowState rows[strips][2];
  for (int number = 0; number < tiles; ++number) {
    cp_async_wait<0>();
    __syncthreads();  // the tile is there, and the one before it has been read
    load(number + 1);
    Strip<N / 8> scores[strips];
    multiply_rows<D>(scores, q, stage(number, 0));
    const int key = keys_begin + number * N;
    const bool all_seen =
        key + N - 1 <= x.past + first && x.past + first + block_queries - 1 - key < x.window;
#pragma unroll
    for (int r = 0; r < strips; ++r) {
      const int position = x.past + first + first_row_of_strip<strips>(r) + fragment_row();
      if (!all_seen) hide_unseen(scores[r], position, key + fragment_column(), x.window);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float factor = exponentiate(scores[r], half, scale * log2_e, rows[r][half]);
#pragma unroll
        for (auto& column : y[r]) {
          column[2 * half] *= factor;
          column[2 * half + 1] *= factor;
        }
      }
    }
    multiply_columns<D>(y, scores, stage(number, 1));
  }

  const int64_t y_row = int64_t{x.heads} * D;
#pragma unroll
  for (int r = 0; r < strips; ++r) {
    const int row = first + first_row_of_strip<strips>(r);
    float factors[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = rows[r][half].total;
      total += __shfl_xor_sync(whole_warp, total, 1);
      total += __shfl_xor_sync(whole_warp, total, 2);
      factors[half] = 1 / total;
      const int t = row + fragment_row() + 8 * half;
      if (p.log_sum_exp && t < x.length && fragment_column() == 0)
        p.log_sum_exp[(b * x.heads + head) * x.length + t] = rows[r][half].largest * scale + logf(total);
    }
    write_strip<D>(y[r], factors, p.y + b * x.length * y_row + int64_t{head} * D, y_row, row, x.length,
                   false);
  }
}

template <int D>
void run(const detail::AttentionLayout& x, const detail::AttentionOperands& in, int64_t past, Tensor& y,
         Tensor& log_sum_exp) {
  const dim3 blocks(static_cast<unsigned>(ceil_div(x.length, block_queries)), static_cast<unsigned>(x.heads),
                    static_cast<unsigned>(x.batch));
  launch(y.device(), flash_attention_kernel<D>,
         Grid(blocks, dim3(block_threads), sizeof(bfloat16) * D * (block_queries + 4 * block_keys<D>)),
         AttentionSizes(x, past), AttentionForward<bfloat16>(x, in, y, log_sum_exp),
         1 / std::sqrt(static_cast<float>(D)));
}

}  // namespace
}  // namespace flash

bool flash_attention(const detail::AttentionLayout& x, const detail::AttentionOperands& in, int64_t past,
                     Tensor& y, Tensor& log_sum_exp) {
  if (!flash::suits(x, in)) return false;
  if (x.head_size == 64) {
    flash::run<64>(x, in, past, y, log_sum_exp);
  } else {
    flash::run<128>(x, in, past, y, log_sum_exp);
  }
  return true;
}

}  // namespace cladtorch::cuda
