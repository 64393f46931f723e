// The pullback of causal attention of bfloat16 by Hopper's warpgroup products, in two kernels as that of
// flash_attention_pullback.cu: the order of no sum depends on the order of blocks. Weights come out of one
// product as the left operand of the next, in registers.
#include "ops/causal_attention/hopper_attention.cuh"
#include "ops/causal_attention/hopper_tiles.cuh"

namespace cladtorch::cuda {
namespace hopper {
namespace {

/// What the registers hold: with heads of 128 the sums of a block of keys are half of them.
struct KeysBlock {
  static constexpr int warpgroups = 2, threads = warpgroups * warpgroup_threads,
                       keys = warpgroups * warpgroup_rows, queries = 64;
  static constexpr size_t shared_bytes(int D) {
    return tile_bytes(D, 2 * keys + 4 * queries) + 2 * queries * sizeof(float2) + tile_alignment;
  }
};
template <int D>
struct QueriesBlock {
  static constexpr int warpgroups = 2, threads = warpgroups * warpgroup_threads,
                       queries = warpgroups * warpgroup_rows, keys = D == 64 ? 128 : 64;
  static constexpr size_t shared_bytes = tile_bytes(D, 2 * queries + 4 * keys) + tile_alignment;
};

/// From scores to weights; `statistic(column, half)` is the query's of a column and a half of this lane's
/// strip.
template <int N, class Statistic>
__device__ __forceinline__ void find_weights(Strip<N>& scores, float scale, const Statistic& statistic) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      scores[n][i] = detail::ScalarExp2{}(scores[n][i] * scale - statistic(8 * n + i % 2, i / 2).x);
}
template <int N, class Statistic>
__device__ __forceinline__ void find_gradients(Strip<N>& d_weights, const Strip<N>& weights,
                                               const Statistic& statistic) {
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      d_weights[n][i] = weights[n][i] * (d_weights[n][i] - statistic(8 * n + i % 2, i / 2).y);
}

template <int D>
__device__ __forceinline__ void keys_kernel(const AttentionSizes& x, const AttentionBackward<bfloat16>& p,
                                            float scale) {
  using Block = KeysBlock;
  constexpr int K = Block::keys, M = Block::queries;
  const Tile<D, K> k{tile_memory()}, v{k.data + k.elements};
  const auto stage = [&](int number, int operand) {
    return Tile<D, M>{v.data + v.elements + (2 * (number % 2) + operand) * Tile<D, M>::elements};
  };
  auto* const statistics = reinterpret_cast<float2*>(stage(1, 1).data + Tile<D, M>::elements);
  const int first = static_cast<int>(blockIdx.x) * K, key_head = static_cast<int>(blockIdx.y);
  const int64_t b = blockIdx.z, y_row = int64_t{x.heads} * D;
  const int last_key = min(first + K, x.length) - 1;
  const int begin = first, end = static_cast<int>(min(int64_t{x.length}, int64_t{last_key} + x.window));
  const int tiles_of_head = (end - begin + M - 1) / M, tiles = tiles_of_head * x.group;
  const auto head_of = [&](int number) { return key_head * x.group + number / tiles_of_head; };
  const auto query_of = [&](int number) { return begin + number % tiles_of_head * M; };
  const auto load = [&](int number) {
    if (number < tiles) {
      const int head = head_of(number), from = query_of(number);
      stage(number, 0).template load<Block::threads>(p.q.head(b, int64_t{head} * D), p.q.row, from, x.length);
      stage(number, 1).template load<Block::threads>(p.d_y + b * x.length * y_row + int64_t{head} * D, y_row,
                                                     from, x.length);
    }
  };
  const auto statistic_of = [&](int number) {
    const int i = static_cast<int>(threadIdx.x);
    if (number >= tiles || i >= M) return make_float2(0, 0);
    return flash::Statistics(x, p, b, head_of(number)).of(query_of(number) + i, x.length);
  };
  const auto keep = [&](int number, float2 statistic) {
    if (threadIdx.x < M) statistics[number % 2 * M + static_cast<int>(threadIdx.x)] = statistic;
  };
  k.template load<Block::threads>(p.k.head(b, int64_t{key_head} * D), p.k.row, first, x.length);
  v.template load<Block::threads>(p.v.head(b, int64_t{key_head} * D), p.v.row, first, x.length);
  load(0);
  keep(0, statistic_of(0));

  const int row = warpgroup() * warpgroup_rows, first_key = first + row,
            key = first + first_row_of_strip() + fragment_row();
  Strip<D / 8> d_k = {}, d_v = {};
  for (int number = 0; number < tiles; ++number) {
    wait_for_tiles();  // and until the tile before this has been read
    const int first_query = query_of(number);
    // The first queries of a block see none of the keys of its second warpgroup, the last of a window none of
    // the first.
    const bool any_seen = first_query + M - 1 >= first_key &&
                          int64_t{first_query} - (first_key + warpgroup_rows - 1) < x.window;
    const bool all_seen =
        first_query >= first_key + warpgroup_rows - 1 && first_query + M - 1 - first_key < x.window;
    const Tile<D, M> q = stage(number, 0), d_y = stage(number, 1);
    float2 next;
    const auto load_next = [&] {
      load(number + 1);
      next = statistic_of(number + 1);
    };
    if (!any_seen) {
      load_next();
    } else {
      Strip<M / 8> weights, d_weights;
      Left<M / 8> left, d_left;
      begin_products();
      multiply_rows(weights, k, row, q);
      multiply_rows(d_weights, v, row, d_y);
      load_next();
      const auto statistic = [&](int column, int) {
        return statistics[number % 2 * M + fragment_column() + column];
      };
      wait_for_products<1>(weights);
      if (!all_seen) flash::hide_unseen<true>(weights, first_query + fragment_column(), key, x.window);
      find_weights(weights, scale * log2_e, statistic);
      round_strip(left, weights);
      begin_products(left, d_v);
      multiply_columns(d_v, left, d_y);
      wait_for_products<1>(d_weights);
      find_gradients(d_weights, weights, statistic);
      round_strip(d_left, d_weights);
      begin_products(d_left, d_k);
      multiply_columns(d_k, d_left, q);
      wait_for_products<0>(d_v, d_k);
    }
    keep(number + 1, next);
  }
  const int strip = first + first_row_of_strip();
  if (p.d_k.data)
    flash::write_strip<D>(d_k, {scale, scale}, p.d_k.head(b, int64_t{key_head} * D), p.d_k.row, strip,
                          x.length, p.add_k);
  if (p.d_v.data)
    flash::write_strip<D>(d_v, {1, 1}, p.d_v.head(b, int64_t{key_head} * D), p.d_v.row, strip, x.length,
                          p.add_v);
}

template <int D>
__device__ __forceinline__ void queries_kernel(const AttentionSizes& x, const AttentionBackward<bfloat16>& p,
                                               float scale) {
  using Block = QueriesBlock<D>;
  constexpr int M = Block::queries, N = Block::keys;
  const Tile<D, M> q{tile_memory()}, d_y{q.data + q.elements};
  const auto stage = [&](int number, int operand) {
    return Tile<D, N>{d_y.data + d_y.elements + (2 * (number % 2) + operand) * Tile<D, N>::elements};
  };
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * M, head = static_cast<int>(blockIdx.y);
  const int64_t b = blockIdx.z, key_head = head / x.group, y_row = int64_t{x.heads} * D;
  const bfloat16 *const k = p.k.head(b, key_head * D), *const v = p.v.head(b, key_head * D);
  const int keys_end = min(first + M, x.length), keys_begin = x.first_key(first) / N * N;
  const int tiles = (keys_end - keys_begin + N - 1) / N;
  const auto load = [&](int number) {
    if (number < tiles) {
      const int from = keys_begin + number * N;
      stage(number, 0).template load<Block::threads>(k, p.k.row, from, keys_end);
      stage(number, 1).template load<Block::threads>(v, p.v.row, from, keys_end);
    }
  };
  q.template load<Block::threads>(p.q.head(b, int64_t{head} * D), p.q.row, first, x.length);
  d_y.template load<Block::threads>(p.d_y + b * x.length * y_row + int64_t{head} * D, y_row, first, x.length);
  load(0);

  const int row = warpgroup() * warpgroup_rows, first_query = first + row,
            query = first + first_row_of_strip() + fragment_row();
  const flash::Statistics all(x, p, b, head);
  const float2 statistics[2] = {all.of(query, x.length), all.of(query + 8, x.length)};
  const auto statistic = [&](int, int half) { return statistics[half]; };
  Strip<D / 8> d_q = {};
  for (int number = 0; number < tiles; ++number) {
    wait_for_tiles();  // and until the tile before this has been read
    const int first_key = keys_begin + number * N;
    // The last keys of a block are seen by none of the queries of its first warpgroup, the first of a window
    // by none of the second.
    const bool any_seen = first_key <= first_query + warpgroup_rows - 1 &&
                          int64_t{first_query} - (first_key + N - 1) < x.window;
    const bool all_seen =
        first_key + N - 1 <= first_query && first_query + warpgroup_rows - 1 - first_key < x.window;
    if (!any_seen) {
      load(number + 1);
    } else {
      Strip<N / 8> weights, d_weights;
      Left<N / 8> d_left;
      begin_products();
      multiply_rows(weights, q, row, stage(number, 0));
      multiply_rows(d_weights, d_y, row, stage(number, 1));
      load(number + 1);
      wait_for_products<1>(weights);
      if (!all_seen) flash::hide_unseen(weights, query, first_key + fragment_column(), x.window);
      find_weights(weights, scale * log2_e, statistic);
      wait_for_products<0>(d_weights);
      find_gradients(d_weights, weights, statistic);
      round_strip(d_left, d_weights);
      begin_products(d_left, d_q);
      multiply_columns(d_q, d_left, stage(number, 0));
      wait_for_products<0>(d_q);
    }
  }
  flash::write_strip<D>(d_q, {scale, scale}, p.d_q.head(b, int64_t{head} * D), p.d_q.row,
                        first + first_row_of_strip(), x.length, p.add_q);
}

template <int D>
__global__ void __launch_bounds__(threads_with_code(KeysBlock::threads), 1)
    hopper_keys_kernel(AttentionSizes x, AttentionBackward<bfloat16> p, float scale) {
  if constexpr (has_warpgroup_products) keys_kernel<D>(x, p, scale);
}
template <int D>
__global__ void __launch_bounds__(threads_with_code(QueriesBlock<D>::threads), 1)
    hopper_queries_kernel(AttentionSizes x, AttentionBackward<bfloat16> p, float scale) {
  if constexpr (has_warpgroup_products) queries_kernel<D>(x, p, scale);
}

template <int D>
void run(const detail::AttentionLayout& x, const AttentionBackward<bfloat16>& p, Device device) {
  using Queries = QueriesBlock<D>;
  const auto blocks = [&](int rows, int64_t heads) {
    return dim3(static_cast<unsigned>(ceil_div(x.length, rows)), static_cast<unsigned>(heads),
                static_cast<unsigned>(x.batch));
  };
  const float scale = 1 / std::sqrt(static_cast<float>(D));
  if (p.d_k.data || p.d_v.data)
    launch(device, hopper_keys_kernel<D>,
           Grid(blocks(KeysBlock::keys, x.key_heads), dim3(KeysBlock::threads), KeysBlock::shared_bytes(D)),
           AttentionSizes(x, 0), p, scale);
  if (p.d_q.data)
    launch(device, hopper_queries_kernel<D>,
           Grid(blocks(Queries::queries, x.heads), dim3(Queries::threads), Queries::shared_bytes),
           AttentionSizes(x, 0), p, scale);
}

}  // namespace
}  // namespace hopper

void hopper_attention_pullback(const detail::AttentionLayout& x, const AttentionBackward<bfloat16>& p,
                               Device device) {
  if (x.head_size == 64) {
    hopper::run<64>(x, p, device);
  } else {
    hopper::run<128>(x, p, device);
  }
}

}  // namespace cladtorch::cuda
