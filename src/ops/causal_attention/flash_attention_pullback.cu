// The pullback of causal attention of bfloat16 by tensor cores. Weights are computed again from the
// log-sum-exps, once by a block that has some keys and goes through the queries that see them, once by a
// block that has some queries and goes through their keys: seven products instead of five, but no sum that
// several blocks add to, whose order would change. In the first all products are of transposes, so that
// weights come out of one product as the left operand of the next.
#include "ops/causal_attention/flash_softmax.cuh"

namespace cladtorch::cuda {
namespace flash {
namespace {

/// What the registers hold: strips of keys or queries that a warp has, and how many of the others it meets at
/// once.
template <int D>
struct KeysBlock {
  static constexpr int strips = D == 64 ? 2 : 1, keys = block_rows<strips>, queries = D == 64 ? 16 : 32;
};
template <int D>
struct QueriesBlock {
  static constexpr int strips = D == 64 ? 2 : 1, queries = block_rows<strips>, keys = 32;
};

template <int D>
__global__ void __launch_bounds__(block_threads)
    flash_keys_kernel(AttentionSizes x, AttentionBackward<bfloat16> p, float scale) {
  constexpr int R = KeysBlock<D>::strips, K = KeysBlock<D>::keys, M = KeysBlock<D>::queries;
  auto* const shared = reinterpret_cast<bfloat16*>(dynamic_shared_memory());
  const Tile<D> k{shared}, v{shared + K * D};
  const auto stage = [&](int number, int operand) {
    return Tile<D>{shared + (2 * K + (2 * (number % 2) + operand) * M) * D};
  };
  auto* const statistics = reinterpret_cast<float2*>(shared + (2 * K + 4 * M) * D);
  const int first = static_cast<int>(blockIdx.x) * K, key_head = static_cast<int>(blockIdx.y);
  const int64_t b = blockIdx.z, y_row = int64_t{x.heads} * D;
  const int last_key = min(first + K, x.length) - 1;
  const int begin = first / M * M,
            end = static_cast<int>(min(int64_t{x.length}, int64_t{last_key} + x.window));
  const int tiles_of_head = static_cast<int>(ceil_div(end - begin, M)), tiles = tiles_of_head * x.group;
  const auto load = [&](int number) {
    if (number < tiles) {
      const int head = key_head * x.group + number / tiles_of_head, from = begin + number % tiles_of_head * M;
      stage(number, 0).template load<M>(p.q.head(b, int64_t{head} * D), p.q.row, from, x.length);
      stage(number, 1).template load<M>(p.d_y + b * x.length * y_row + int64_t{head} * D, y_row, from,
                                        x.length);
      if (threadIdx.x < M) {
        const int i = static_cast<int>(threadIdx.x);
        statistics[number % 2 * M + i] = Statistics(x, p, b, head).of(from + i, x.length);
      }
    }
    cp_async_commit();
  };
  k.template load<K>(p.k.head(b, int64_t{key_head} * D), p.k.row, first, x.length);
  v.template load<K>(p.v.head(b, int64_t{key_head} * D), p.v.row, first, x.length);
  load(0);

  Strip<D / 8> d_k[R] = {}, d_v[R] = {};
  for (int number = 0; number < tiles; ++number) {
    cp_async_wait<0>();
    __syncthreads();  // the tile is there, and the one before it has been read
    load(number + 1);
    const Tile<D> q = stage(number, 0), d_y = stage(number, 1);
    Strip<M / 8> weights[R], d_weights[R];
    multiply_rows<D>(weights, k, q);
    multiply_rows<D>(d_weights, v, d_y);
    const int query = begin + number % tiles_of_head * M + fragment_column();
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int key = first + first_row_of_strip<R>(r) + fragment_row();
#pragma unroll
      for (int n = 0; n < M / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int column = 8 * n + i % 2;
          weigh(weights[r][n][i], d_weights[r][n][i], sees(query + column, key + i / 2 * 8, x.window),
                scale * log2_e, statistics[number % 2 * M + fragment_column() + column]);
        }
      }
    }
    multiply_columns<D>(d_v, weights, d_y);
    multiply_columns<D>(d_k, d_weights, q);
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int row = first + first_row_of_strip<R>(r);
    if (p.d_k.data)
      write_strip<D>(d_k[r], {scale, scale}, p.d_k.head(b, int64_t{key_head} * D), p.d_k.row, row, x.length,
                     p.add_k);
    if (p.d_v.data)
      write_strip<D>(d_v[r], {1, 1}, p.d_v.head(b, int64_t{key_head} * D), p.d_v.row, row, x.length, p.add_v);
  }
}

template <int D>
__global__ void __launch_bounds__(block_threads)
    flash_queries_kernel(AttentionSizes x, AttentionBackward<bfloat16> p, float scale) {
  constexpr int R = QueriesBlock<D>::strips, M = QueriesBlock<D>::queries, N = QueriesBlock<D>::keys;
  auto* const shared = reinterpret_cast<bfloat16*>(dynamic_shared_memory());
  const Tile<D> q{shared}, d_y{shared + M * D};
  const auto stage = [&](int number, int operand) {
    return Tile<D>{shared + (2 * M + (2 * (number % 2) + operand) * N) * D};
  };
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * M, head = static_cast<int>(blockIdx.y);
  const int64_t b = blockIdx.z, key_head = head / x.group, y_row = int64_t{x.heads} * D;
  const bfloat16 *const k = p.k.head(b, key_head * D), *const v = p.v.head(b, key_head * D);
  const int keys_end = min(first + M, x.length);
  const int keys_begin = x.first_key(first) / N * N;
  const int tiles = (keys_end - keys_begin + N - 1) / N;
  const auto load = [&](int number) {
    if (number < tiles) {
      const int from = keys_begin + number * N;
      stage(number, 0).template load<N>(k, p.k.row, from, keys_end);
      stage(number, 1).template load<N>(v, p.v.row, from, keys_end);
    }
    cp_async_commit();
  };
  q.template load<M>(p.q.head(b, int64_t{head} * D), p.q.row, first, x.length);
  d_y.template load<M>(p.d_y + b * x.length * y_row + int64_t{head} * D, y_row, first, x.length);
  load(0);

  Strip<D / 8> d_q[R] = {};
  const Statistics all(x, p, b, head);
  float2 statistics[R][2];
#pragma unroll
  for (int i = 0; i < 2 * R; ++i)
    statistics[i / 2][i % 2] =
        all.of(first + first_row_of_strip<R>(i / 2) + fragment_row() + i % 2 * 8, x.length);
  for (int number = 0; number < tiles; ++number) {
    cp_async_wait<0>();
    __syncthreads();  // the tile is there, and the one before it has been read
    load(number + 1);
    Strip<N / 8> weights[R], d_weights[R];
    multiply_rows<D>(weights, q, stage(number, 0));
    multiply_rows<D>(d_weights, d_y, stage(number, 1));
    const int key = keys_begin + number * N + fragment_column();
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int query = first + first_row_of_strip<R>(r) + fragment_row();
#pragma unroll
      for (int n = 0; n < N / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          weigh(weights[r][n][i], d_weights[r][n][i], sees(query + i / 2 * 8, key + 8 * n + i % 2, x.window),
                scale * log2_e, statistics[r][i / 2]);
      }
    }
    multiply_columns<D>(d_q, d_weights, stage(number, 0));
  }
#pragma unroll
  for (int r = 0; r < R; ++r)
    write_strip<D>(d_q[r], {scale, scale}, p.d_q.head(b, int64_t{head} * D), p.d_q.row,
                   first + first_row_of_strip<R>(r), x.length, p.add_q);
}

template <int D>
void run(const detail::AttentionLayout& x, const AttentionBackward<bfloat16>& p, Device device) {
  using Keys = KeysBlock<D>;
  using Queries = QueriesBlock<D>;
  const auto blocks = [&](int rows, int64_t heads) {
    return dim3(static_cast<unsigned>(ceil_div(x.length, rows)), static_cast<unsigned>(heads),
                static_cast<unsigned>(x.batch));
  };
  const auto bytes = [](int rows) { return sizeof(bfloat16) * D * static_cast<size_t>(rows); };
  const float scale = 1 / std::sqrt(static_cast<float>(D));
  if (p.d_k.data || p.d_v.data)
    launch(device, flash_keys_kernel<D>,
           Grid(blocks(Keys::keys, x.key_heads), dim3(block_threads),
                bytes(2 * Keys::keys + 4 * Keys::queries) + 2 * Keys::queries * sizeof(float2)),
           AttentionSizes(x, 0), p, scale);
  if (p.d_q.data)
    launch(device, flash_queries_kernel<D>,
           Grid(blocks(Queries::queries, x.heads), dim3(block_threads),
                bytes(2 * Queries::queries + 4 * Queries::keys)),
           AttentionSizes(x, 0), p, scale);
}

}  // namespace
}  // namespace flash

bool flash_attention_pullback(const detail::AttentionLayout& x, const detail::AttentionOperands& in,
                              const AttentionBackward<bfloat16>& p, Device device) {
  if (!flash::suits(x, in) || !is_aligned<8>(p.d_y)) return false;
  if (x.head_size == 64) {
    flash::run<64>(x, p, device);
  } else {
    flash::run<128>(x, p, device);
  }
  return true;
}

}  // namespace cladtorch::cuda
