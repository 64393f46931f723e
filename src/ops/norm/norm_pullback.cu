// The pullback of layer and RMS normalization. One pass reads x and d_y and writes d_x: 6 bytes an element of
// bfloat16. Meanwhile each thread sums its columns' terms of d_weight and d_bias over the rows that it has
// part in; those of a block become one row of `sums`, and a second kernel adds these rows in order.
#include "cuda/partial_sums.cuh"
#include "cuda/rows.cuh"
#include "ops/norm/norm_math.h"
#include "ops/norm/norm_on_device.h"

namespace cladtorch::cuda {
namespace {

/// Raw memory of a NormPullbackOnDevice. d_x is null if it is not wanted, weight_sums or bias_sums
/// [blocks, n] if d_weight or d_bias is not, mean for RMS normalization.
template <class T, class Out>
struct NormPullback {
  using C = Computed<T>;
  int64_t rows;
  int n;
  const T *x, *weight;
  const C *mean, *rstd;
  const T* d_y;
  Out* d_x;
  bool add;
  C *weight_sums, *bias_sums;
};

/// The threads' sums of their columns, one row after the other of the block's, to one row of memory.
template <class Row, class C>
__device__ void add_up(int n, const C (&sums)[Row::elements], C* total, C* out) {
  using Team = typename Row::Team;
  constexpr int N = Row::N;
  const auto combine = [&](bool first, C* to) {
    Row::for_each_pack(n, [&](int k, int column) {
      Pack<C, N> pack{};
      if (!first) pack = load<N>(total + column);
#pragma unroll
      for (int i = 0; i < N; ++i) pack.values[i] += sums[k * N + i];
      store<N>(to + column, pack);
    });
  };
  for (int number = 0; number + 1 < Team::count(); ++number) {
    if (number == Team::number()) combine(number == 0, total);
    __syncthreads();
  }
  if (Team::number() + 1 == Team::count()) combine(Team::count() == 1, out);
  __syncthreads();
}

template <class Row, class T, class Out>
__global__ void __launch_bounds__(Row::block_threads) held_rows_kernel(const NormPullback<T, Out> norm) {
  using C = Computed<T>;
  using Team = typename Row::Team;
  constexpr int N = Row::N;
  const C length = static_cast<C>(norm.n);
  C d_weight[Row::elements] = {}, d_bias[Row::elements] = {};
  for (int64_t row = first_row<Team>(); row < norm.rows; row += rows_at_once<Team>()) {
    const int64_t start = row * norm.n;
    Pack<T, N> x[Row::packs], d_y[Row::packs];
    Row::for_each_pack(norm.n, [&](int k, int column) {
      x[k] = load<N>(norm.x + start + column);
      d_y[k] = load<N>(norm.d_y + start + column);
    });
    const C mean = norm.mean ? norm.mean[row] : C(0), rstd = norm.rstd[row];
    C means[2] = {};  // of g and g z
    Row::for_each_pack(norm.n, [&](int k, int column) {
      const Pack<T, N> weight = load<N>(norm.weight + column);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const C z = detail::normalized(read(x[k].values[i]), mean, rstd), d = read(d_y[k].values[i]),
                g = d * read(weight.values[i]);
        means[0] += g;
        means[1] += g * z;
        d_weight[k * N + i] += d * z;
        d_bias[k * N + i] += d;
      }
    });
    if (!norm.d_x) continue;
    Team::template reduce<Sum>(means);
    means[0] = norm.mean ? means[0] / length : C(0);
    means[1] /= length;
    Row::for_each_pack(norm.n, [&](int k, int column) {
      const Pack<T, N> weight = load<N>(norm.weight + column);
      Pack<Out, N> d_x{};
      if (norm.add) d_x = load<N>(norm.d_x + start + column);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const C z = detail::normalized(read(x[k].values[i]), mean, rstd);
        const C d = detail::norm_d_x(read(d_y[k].values[i]), read(weight.values[i]), z, rstd, means[0],
                                     means[1], C(1));
        d_x.values[i] = converted<Out>(read(d_x.values[i]) + d);
      }
      store<N>(norm.d_x + start + column, d_x);
    });
  }
  C* const total = reinterpret_cast<C*>(dynamic_shared_memory());
  const int64_t block = int64_t{blockIdx.x} * norm.n;
  if (norm.weight_sums) add_up<Row>(norm.n, d_weight, total, norm.weight_sums + block);
  if (norm.bias_sums) add_up<Row>(norm.n, d_bias, total, norm.bias_sums + block);
}

/// d_x of rows of any length.
template <class T, class Out>
__global__ void __launch_bounds__(long_row_threads) long_rows_kernel(const NormPullback<T, Out> norm) {
  using C = Computed<T>;
  using Team = BlockPerRow;
  const int64_t row = first_row<Team>(), start = row * norm.n;
  const C length = static_cast<C>(norm.n), mean = norm.mean ? norm.mean[row] : C(0), rstd = norm.rstd[row];
  C means[2] = {};
  for (int i = Team::rank(); i < norm.n; i += Team::size()) {
    const C g = read(norm.d_y[start + i]) * read(norm.weight[i]);
    means[0] += g;
    means[1] += g * detail::normalized(read(norm.x[start + i]), mean, rstd);
  }
  Team::reduce<Sum>(means);
  means[0] = norm.mean ? means[0] / length : C(0);
  means[1] /= length;
  for (int i = Team::rank(); i < norm.n; i += Team::size()) {
    const C z = detail::normalized(read(norm.x[start + i]), mean, rstd);
    const C d =
        detail::norm_d_x(read(norm.d_y[start + i]), read(norm.weight[i]), z, rstd, means[0], means[1], C(1));
    Out& d_x = norm.d_x[start + i];
    d_x = converted<Out>((norm.add ? read(d_x) : C(0)) + d);
  }
}

/// The sums of long rows: block (i, p) has 256 columns of every gridDim.y-th row from p on.
template <class T, class Out>
__global__ void __launch_bounds__(pointwise_threads) long_sums_kernel(const NormPullback<T, Out> norm) {
  using C = Computed<T>;
  const int column = static_cast<int>(blockIdx.x * pointwise_threads + threadIdx.x);
  if (column >= norm.n) return;
  C d_weight = 0, d_bias = 0;
  for (int64_t row = blockIdx.y; row < norm.rows; row += gridDim.y) {
    const C mean = norm.mean ? norm.mean[row] : C(0), d = read(norm.d_y[row * norm.n + column]);
    d_weight += d * detail::normalized(read(norm.x[row * norm.n + column]), mean, norm.rstd[row]);
    d_bias += d;
  }
  const int64_t at = int64_t{blockIdx.y} * norm.n + column;
  if (norm.weight_sums) norm.weight_sums[at] = d_weight;
  if (norm.bias_sums) norm.bias_sums[at] = d_bias;
}

template <class T, class Out>
void launch_pullback(Device device, const NormPullback<T, Out>& norm, int64_t parts) {
  const int64_t n = norm.n;
  const bool aligned =
      rows_aligned<T>(n, norm.x, norm.weight, norm.d_y, norm.d_x, norm.weight_sums, norm.bias_sums);
  const auto held = [&]<class Row>(Row, const RowGrid& grid) {
    const size_t shared = Row::by_warp ? static_cast<size_t>(n) * sizeof(Computed<T>) : 0;
    launch(device, held_rows_kernel<Row, T, Out>, Grid(parts, grid.threads, shared), norm);
  };
  constexpr int longest_of_warp = sizeof(T) == 8 ? 512 : 768;  // that leaves registers for two blocks
  if (with_held_row<T, longest_of_warp>(n, aligned, held)) return;
  if (norm.d_x) launch(device, long_rows_kernel<T, Out>, Grid(norm.rows, long_row_threads), norm);
  if (!norm.weight_sums && !norm.bias_sums) return;
  const dim3 blocks(static_cast<unsigned>(ceil_div(n, pointwise_threads)), static_cast<unsigned>(parts));
  launch(device, long_sums_kernel<T, Out>, Grid(blocks, pointwise_threads), norm);
}

template <class T>
void pullback(const detail::NormPullbackOnDevice& of) {
  using C = Computed<T>;
  const int64_t n = of.x.shape().back(), rows = n == 0 ? 0 : of.x.numel() / n;
  const int64_t parts = of.sums.size(1);
  const Device device = of.x.device();
  Tensor memory = of.sums;
  C* const weight_sums = of.d_weight ? memory.device_data<C>() : nullptr;
  C* const bias_sums = of.d_bias ? memory.device_data<C>() + parts * n : nullptr;
  const auto run = [&]<class Out>(Out* d_x, bool add) {
    const NormPullback<T, Out> norm{rows,
                                    static_cast<int>(n),
                                    of.x.device_data<T>(),
                                    of.weight.device_data<T>(),
                                    of.mean.defined() ? of.mean.device_data<C>() : nullptr,
                                    of.rstd.device_data<C>(),
                                    of.d_y.device_data<T>(),
                                    d_x,
                                    add,
                                    weight_sums,
                                    bias_sums};
    launch_pullback(device, norm, parts);
  };
  if (of.d_x) {
    detail::write_to<T>(*of.d_x, run);
  } else {
    run(static_cast<T*>(nullptr), false);
  }
  if (of.d_weight) add_parts<T>(device, parts, n, weight_sums, *of.d_weight);
  if (of.d_bias) add_parts<T>(device, parts, n, bias_sums, *of.d_bias);
}

void run(const detail::NormPullbackOnDevice& norm) {
  detail::dispatch_real("normalization", norm.x.dtype(), [&]<class T>(T) { pullback<T>(norm); });
}

const detail::DeviceFunctionCode code(detail::norm_pullback_on_device, run);

}  // namespace
}  // namespace cladtorch::cuda
