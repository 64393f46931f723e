// Causal attention of any dtype and head size, one warp per query or per key: the reference, and what runs
// where flash attention does not. causal_attention_math.h has the formulas.
#include "cuda/pointwise.cuh"
#include "cuda/reduction.cuh"
#include "ops/causal_attention/attention_heads.cuh"
#include "ops/causal_attention/attention_implementation.h"
#include "ops/common/scalar_exp.h"

namespace cladtorch::cuda {
namespace {

constexpr int block_warps = 4;

/// A piece of shared memory for each warp of the block.
template <class C>
__device__ C* warp_memory(int elements) {
  return reinterpret_cast<C*>(dynamic_shared_memory()) + WarpPerRow::number() * elements;
}

template <class T>
__device__ Computed<T> dot(int n, const Computed<T>* a, const T* b, bool packed) {
  constexpr int N = pack_size<T>;
  Computed<T> sum = 0;
  if (packed) {
    for (int i = 0; i < n; i += N) {
      const auto part = *reinterpret_cast<const Pack<T, N>*>(b + i);
#pragma unroll
      for (int j = 0; j < N; ++j) sum += a[i + j] * read(part.values[j]);
    }
  } else {
    for (int i = 0; i < n; ++i) sum += a[i] * read(b[i]);
  }
  return sum;
}

/// The query, or key, of this warp: number `position` of head `head` of sequence b.
struct Item {
  int64_t b;
  int head, position;
  bool exists;

  __device__ Item(int batch, int heads, int length) {
    const int64_t index = int64_t{blockIdx.x} * block_warps + WarpPerRow::number();
    exists = index < int64_t{batch} * heads * length;
    position = static_cast<int>(index % length);
    head = static_cast<int>(index / length % heads);
    b = index / length / heads;
  }
};

template <class C>
__device__ C scale_of(int head_size) {
  return C(1) / sqrt(static_cast<C>(head_size));
}

template <class T>
__global__ void __launch_bounds__(block_warps* warp_size, 4)
    attention_kernel(int batch, AttentionSizes x, AttentionForward<T> p) {
  using C = Computed<T>;
  const Item item(batch, x.heads, x.length);
  if (!item.exists) return;
  const int n = x.head_size, t = item.position;
  C *const query = warp_memory<C>(2 * n + warp_size), *const sums = query + n, *const weights = sums + n;
  const T* const q = p.q.head(item.b, int64_t{item.head} * n) + t * p.q.row;
  const T* const k = p.k.head(item.b, int64_t{item.head / x.group} * n);
  const T* const v = p.v.head(item.b, int64_t{item.head / x.group} * n);
  const detail::ScalarExp exp;
  for (int i = WarpPerRow::rank(); i < n; i += warp_size) {
    query[i] = scale_of<C>(n) * read(q[i]);
    sums[i] = 0;
  }
  __syncwarp();
  constexpr C nothing = -std::numeric_limits<C>::infinity();
  C largest = nothing, total = 0;
  const int end = x.end_key(t);
  for (int begin = x.first_key(t); begin < end; begin += warp_size) {
    const int key = begin + WarpPerRow::rank(), count = min(warp_size, end - begin);
    const C score = key < end ? dot(n, query, k + key * p.k.row, p.packed) : nothing;
    const C next = max(largest, warp_reduce<Maximum>(score)), factor = exp(largest - next);
    const C weight = exp(score - next);
    total = total * factor + warp_reduce<Sum>(weight);
    largest = next;
    weights[WarpPerRow::rank()] = weight;
    __syncwarp();
    for (int i = WarpPerRow::rank(); i < n; i += warp_size) {
      C sum = sums[i] * factor;
      for (int j = 0; j < count; ++j) sum += weights[j] * read(v[(begin + j) * p.v.row + i]);
      sums[i] = sum;
    }
    __syncwarp();
  }
  T* const y = p.y + ((item.b * x.length + t) * x.heads + item.head) * n;
  for (int i = WarpPerRow::rank(); i < n; i += warp_size) y[i] = converted<T>(sums[i] / total);
  if (p.log_sum_exp && WarpPerRow::rank() == 0)
    p.log_sum_exp[(item.b * x.heads + item.head) * x.length + t] = largest + log(total);
}

template <class T>
__global__ void __launch_bounds__(block_warps* warp_size, 4)
    delta_kernel(int batch, AttentionSizes x, AttentionBackward<T> p) {
  const Item item(batch, x.heads, x.length);
  if (!item.exists) return;
  const int64_t row = ((item.b * x.length + item.position) * x.heads + item.head) * x.head_size;
  Computed<T> sum = 0;
  for (int i = WarpPerRow::rank(); i < x.head_size; i += warp_size)
    sum += read(p.y[row + i]) * read(p.d_y[row + i]);
  sum = warp_reduce<Sum>(sum);
  if (WarpPerRow::rank() == 0) p.delta[(item.b * x.heads + item.head) * x.length + item.position] = sum;
}

/// Of a query and a key: how much the key weighs, and the gradient of its score.
template <class C>
struct Weight {
  C weight, d_score;

  __device__ Weight(C score, C log_sum_exp, C d_weight, C delta) {
    weight = detail::ScalarExp{}(score - log_sum_exp);
    d_score = weight * (d_weight - delta);
  }
};

template <class T>
__device__ void write_gradient(T* to, bool add, Computed<T> value) {
  *to = converted<T>(add ? read(*to) + value : value);
}

template <class T>
__global__ void __launch_bounds__(block_warps* warp_size, 4)
    queries_kernel(int batch, AttentionSizes x, AttentionBackward<T> p) {
  using C = Computed<T>;
  const Item item(batch, x.heads, x.length);
  if (!item.exists) return;
  const int n = x.head_size, t = item.position;
  C *const query = warp_memory<C>(3 * n + warp_size), *const d_y = query + n, *const sums = d_y + n,
           *const d_scores = sums + n;
  const T* const q = p.q.head(item.b, int64_t{item.head} * n) + t * p.q.row;
  const T* const k = p.k.head(item.b, int64_t{item.head / x.group} * n);
  const T* const v = p.v.head(item.b, int64_t{item.head / x.group} * n);
  const int64_t out = ((item.b * x.length + t) * x.heads + item.head) * n;
  const int64_t statistic = (item.b * x.heads + item.head) * x.length + t;
  const C scale = scale_of<C>(n), lse = p.log_sum_exp[statistic], delta = p.delta[statistic];
  for (int i = WarpPerRow::rank(); i < n; i += warp_size) {
    query[i] = scale * read(q[i]);
    d_y[i] = read(p.d_y[out + i]);
    sums[i] = 0;
  }
  __syncwarp();
  const int end = x.end_key(t);
  for (int begin = x.first_key(t); begin < end; begin += warp_size) {
    const int key = begin + WarpPerRow::rank(), count = min(warp_size, end - begin);
    if (key < end) {
      const C score = dot(n, query, k + key * p.k.row, p.packed),
              d_weight = dot(n, d_y, v + key * p.v.row, p.packed);
      d_scores[WarpPerRow::rank()] = Weight<C>(score, lse, d_weight, delta).d_score;
    }
    __syncwarp();
    for (int i = WarpPerRow::rank(); i < n; i += warp_size)
      for (int j = 0; j < count; ++j) sums[i] += d_scores[j] * read(k[(begin + j) * p.k.row + i]);
    __syncwarp();
  }
  T* const to = p.d_q.head(item.b, int64_t{item.head} * n) + t * p.d_q.row;
  for (int i = WarpPerRow::rank(); i < n; i += warp_size) write_gradient(to + i, p.add_q, scale * sums[i]);
}

template <class T>
__global__ void __launch_bounds__(block_warps* warp_size, 4)
    keys_kernel(int batch, AttentionSizes x, AttentionBackward<T> p) {
  using C = Computed<T>;
  const Item item(batch, x.heads / x.group, x.length);
  if (!item.exists) return;
  const int n = x.head_size, key = item.position;
  C *const k = warp_memory<C>(4 * n + 2 * warp_size), *const v = k + n, *const d_k = v + n,
           *const d_v = d_k + n, *const weights = d_v + n, *const d_scores = weights + warp_size;
  const C scale = scale_of<C>(n);
  for (int i = WarpPerRow::rank(); i < n; i += warp_size) {
    k[i] = scale * read(p.k.head(item.b, int64_t{item.head} * n)[key * p.k.row + i]);
    v[i] = read(p.v.head(item.b, int64_t{item.head} * n)[key * p.v.row + i]);
    d_k[i] = d_v[i] = 0;
  }
  __syncwarp();
  const int end = static_cast<int>(min(int64_t{x.length}, int64_t{key} + x.window));
  const int64_t row = int64_t{x.heads} * n;
  for (int head = item.head * x.group; head < (item.head + 1) * x.group; ++head) {
    const T* const q = p.q.head(item.b, int64_t{head} * n);
    const T* const d_y = p.d_y + item.b * x.length * row + int64_t{head} * n;
    const int64_t statistics = (item.b * x.heads + head) * x.length;
    for (int begin = key; begin < end; begin += warp_size) {
      const int t = begin + WarpPerRow::rank(), count = min(warp_size, end - begin);
      if (t < end) {
        const Weight<C> of(dot(n, k, q + t * p.q.row, p.packed), p.log_sum_exp[statistics + t],
                           dot(n, v, d_y + t * row, p.packed), p.delta[statistics + t]);
        weights[WarpPerRow::rank()] = of.weight;
        d_scores[WarpPerRow::rank()] = of.d_score;
      }
      __syncwarp();
      for (int i = WarpPerRow::rank(); i < n; i += warp_size) {
        for (int j = 0; j < count; ++j) {
          d_k[i] += d_scores[j] * read(q[(begin + j) * p.q.row + i]);
          d_v[i] += weights[j] * read(d_y[(begin + j) * row + i]);
        }
      }
      __syncwarp();
    }
  }
  const auto write = [&](const Heads<T>& to, bool add, const C* sums, C factor) {
    if (!to.data) return;
    T* const row = to.head(item.b, int64_t{item.head} * n) + key * to.row;
    for (int i = WarpPerRow::rank(); i < n; i += warp_size) write_gradient(row + i, add, factor * sums[i]);
  };
  write(p.d_k, p.add_k, d_k, scale);
  write(p.d_v, p.add_v, d_v, C(1));
}

template <class C>
Grid grid_of(int64_t items, int64_t elements_per_warp) {
  return {ceil_div(items, block_warps), block_warps * warp_size,
          sizeof(C) * block_warps * static_cast<size_t>(elements_per_warp)};
}

template <class T>
void find_delta(const detail::AttentionLayout& x, const AttentionBackward<T>& p, Device device) {
  launch(device, delta_kernel<T>, grid_of<Computed<T>>(x.statistics(), 0), static_cast<int>(x.batch),
         AttentionSizes(x, 0), p);
}

/// Of this file, and of flash_attention.cu.
class OwnAttention final : public AttentionImplementation {
 public:
  std::string name() const override { return "own"; }
  bool supports(const AttentionProblem&) const override { return true; }

  size_t scratch_bytes(const AttentionProblem& problem) override {
    if (problem.pass == AttentionPass::forward) return 0;
    return static_cast<size_t>(problem.layout.statistics()) * size_of(detail::computed_in(problem.dtype));
  }

  void forward(const AttentionProblem& problem, const detail::AttentionOperands& in, Tensor& y,
               Tensor& log_sum_exp, void*) override {
    const detail::AttentionLayout& x = problem.layout;
    const int64_t past = problem.past;
    if (flash_attention(x, in, past, y, log_sum_exp)) return;
    detail::dispatch_real("causal_attention", y.dtype(), [&]<class T>(T) {
      launch(y.device(), attention_kernel<T>,
             grid_of<Computed<T>>(x.statistics(), 2 * x.head_size + warp_size), static_cast<int>(x.batch),
             AttentionSizes(x, past), AttentionForward<T>(x, in, y, log_sum_exp));
    });
  }

  void pullback(const AttentionProblem& problem, const detail::AttentionOperands& in, const Tensor& y,
                const Tensor& log_sum_exp, const Tensor& d_y,
                const std::array<detail::AttentionGradientPlace, 3>& to, void* delta) override {
    const detail::AttentionLayout& x = problem.layout;
    detail::dispatch_real("causal_attention", y.dtype(), [&]<class T>(T) {
      using C = Computed<T>;
      const AttentionSizes sizes(x, 0);
      const AttentionBackward<T> all(x, in, y, log_sum_exp, d_y, delta, to);
      const int batch = static_cast<int>(x.batch);
      const int64_t n = x.head_size;
      find_delta(x, all, y.device());
      if constexpr (std::is_same_v<T, bfloat16>) {
        if (flash_attention_pullback(x, in, all, y.device())) return;
      }
      if (to[0].data)
        launch(y.device(), queries_kernel<T>, grid_of<C>(x.statistics(), 3 * n + warp_size), batch, sizes,
               all);
      if (to[1].data || to[2].data)
        launch(y.device(), keys_kernel<T>,
               grid_of<C>(x.batch * x.key_heads * x.length, 4 * n + 2 * warp_size), batch, sizes, all);
    });
  }
};

OwnAttention own;
const AttentionRegistration registration(own);

}  // namespace

void attention_delta(const detail::AttentionLayout& x, const AttentionBackward<bfloat16>& p, Device device) {
  find_delta(x, p, device);
}

}  // namespace cladtorch::cuda
