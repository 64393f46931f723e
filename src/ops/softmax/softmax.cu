// Softmax and its logarithm. Rows that fit are held in registers: 4 bytes an element of bfloat16, 6 in the
// pullback. Longer rows are walked twice, and at the second time read from the cache.
#include "cuda/log_sum_exp.cuh"
#include "cuda/pointwise.cuh"
#include "ops/common/rows.h"
#include "ops/softmax/softmax_math.h"
#include "ops/softmax/softmax_on_device.h"

namespace cladtorch::cuda {
namespace {

template <class T>
struct Forward {
  int64_t rows;
  int n;
  bool logarithm;
  const T* x;
  T* y;
};

/// -inf, whose exponential is zero, in the type of elements.
template <class T>
__device__ __forceinline__ T nothing() {
  return converted<T>(Maximum::of_nothing<Computed<T>>());
}

template <class Row, class T>
__global__ void __launch_bounds__(Row::block_threads) held_rows_kernel(const Forward<T> softmax) {
  using C = Computed<T>;
  using Team = typename Row::Team;
  constexpr int N = Row::N;
  const int64_t row = first_row<Team>();
  if (row >= softmax.rows) return;
  const int n = softmax.n;
  const T* const from = softmax.x + row * n;
  const int shift = shift_of<N>(from);
  Pack<T, N> x[Row::packs];
  Row::for_each_pack(n, shift,
                     [&](int k, int column) { x[k] = load_within<N>(from, column, n, nothing<T>()); });
  C largest[1] = {Maximum::of_nothing<C>()};
  Row::for_each_pack(n, shift, [&](int k, int) {
#pragma unroll
    for (int i = 0; i < N; ++i) largest[0] = max(largest[0], read(x[k].values[i]));
  });
  Team::template reduce<Maximum>(largest);
  C values[Row::elements], sum[1] = {};
  Row::for_each_pack(n, shift, [&](int k, int) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      C& value = values[k * N + i];
      value = read(x[k].values[i]) - largest[0];
      const C exponential = detail::ScalarExp{}(value);
      sum[0] += exponential;
      if (!softmax.logarithm) value = exponential;
    }
  });
  Team::template reduce<Sum>(sum);
  const C factor = 1 / sum[0], logarithm = std::log(sum[0]);
  Row::for_each_pack(n, shift, [&](int k, int column) {
    Pack<T, N> y;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const C value = values[k * N + i];
      y.values[i] = converted<T>(softmax.logarithm ? value - logarithm : value * factor);
    }
    store_within<N>(softmax.y + row * n, column, n, y);
  });
}

template <int N, class T>
__global__ void __launch_bounds__(long_row_threads) long_rows_kernel(const Forward<T> softmax) {
  using C = Computed<T>;
  const int n = softmax.n;
  const int64_t start = first_row<BlockPerRow>() * n;
  const T* const from = softmax.x + start;
  ExponentialSum<C> total;
  walk_row<BlockPerRow, N>(from, n, nothing<T>(), [&](const Pack<T, N>& x, int) { total.add(x); });
  total.template reduce<BlockPerRow>();
  const C factor = 1 / total.sum, logarithm = std::log(total.sum);
  walk_row<BlockPerRow, N>(from, n, nothing<T>(), [&](const Pack<T, N>& x, int column) {
    Pack<T, N> y;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const C value = read(x.values[i]) - total.largest;
      y.values[i] = converted<T>(softmax.logarithm ? value - logarithm : detail::ScalarExp{}(value)*factor);
    }
    store_within<N>(softmax.y + start, column, n, y);
  });
}

template <class T, class Out>
struct Pullback {
  int64_t rows;
  int n;
  bool logarithm;
  const T *y, *d_y;
  Out* d_x;
  bool add;

  /// An element's term of what the row is projected on.
  __device__ __forceinline__ Computed<T> term(T y_i, T d) const {
    return logarithm ? read(d) : read(y_i) * read(d);
  }
  __device__ __forceinline__ Computed<T> element(T y_i, T d, Computed<T> sum) const {
    return logarithm ? detail::log_softmax_d_x(read(y_i), read(d), sum)
                     : detail::softmax_d_x(read(y_i), read(d), sum);
  }
  template <int N>
  __device__ __forceinline__ void write(int64_t start, int column, const Pack<T, N>& y_packed,
                                        const Pack<T, N>& d, Computed<T> sum) const {
    Pack<Out, N> result{};
    if (add) result = load_within<N>(d_x + start, column, n, Out{});
#pragma unroll
    for (int i = 0; i < N; ++i) {
      result.values[i] =
          converted<Out>(read(result.values[i]) + element(y_packed.values[i], d.values[i], sum));
    }
    store_within<N>(d_x + start, column, n, result);
  }
};

template <class Row, class T, class Out>
__global__ void __launch_bounds__(Row::block_threads) held_rows_kernel(const Pullback<T, Out> softmax) {
  using C = Computed<T>;
  using Team = typename Row::Team;
  constexpr int N = Row::N;
  const int64_t row = first_row<Team>(), start = row * softmax.n;
  if (row >= softmax.rows) return;
  const int n = softmax.n, shift = shift_of<N>(softmax.y + start);
  Pack<T, N> y[Row::packs], d[Row::packs];
  Row::for_each_pack(n, shift, [&](int k, int column) {
    y[k] = load_within<N>(softmax.y + start, column, n, T{});
    d[k] = load_within<N>(softmax.d_y + start, column, n, T{});
  });
  C sum[1] = {};
  Row::for_each_pack(n, shift, [&](int k, int) {
#pragma unroll
    for (int i = 0; i < N; ++i) sum[0] += softmax.term(y[k].values[i], d[k].values[i]);
  });
  Team::template reduce<Sum>(sum);
  Row::for_each_pack(n, shift, [&](int k, int column) { softmax.write(start, column, y[k], d[k], sum[0]); });
}

template <int N, class T, class Out>
__global__ void __launch_bounds__(long_row_threads) long_rows_kernel(const Pullback<T, Out> softmax) {
  using C = Computed<T>;
  using Team = BlockPerRow;
  const int n = softmax.n;
  const int64_t start = first_row<Team>() * n;
  const T* const d_y = softmax.d_y + start;
  C sum[1] = {};
  walk_row<Team, N>(softmax.y + start, n, T{}, [&](const Pack<T, N>& y, int column) {
    const Pack<T, N> d = load_within<N>(d_y, column, n, T{});
#pragma unroll
    for (int i = 0; i < N; ++i) sum[0] += softmax.term(y.values[i], d.values[i]);
  });
  Team::reduce<Sum>(sum);
  walk_row<Team, N>(softmax.y + start, n, T{}, [&](const Pack<T, N>& y, int column) {
    softmax.write(start, column, y, load_within<N>(d_y, column, n, T{}), sum[0]);
  });
}

/// Forward and pullback alike: kernels on rows that are cut into packs where `alike` says that they can be.
template <class T, class Rows, class HeldKernel, class LongKernel>
void launch_rows(Device device, const Rows& softmax, bool alike, HeldKernel held_kernel,
                 LongKernel long_kernel) {
  constexpr int N = 16 / sizeof(T);
  const int64_t most_columns = softmax.n + (alike ? N - 1 : 0);
  const auto held = [&]<class Row>(Row row, const RowGrid& grid) {
    launch(device, held_kernel(row), Grid(grid.blocks(softmax.rows), grid.threads), softmax);
  };
  if (with_held_row < T, sizeof(T) == 8 ? 512 : 1024 > (most_columns, alike, held)) return;
  const Grid grid(softmax.rows, long_row_threads);
  if (alike) {
    launch(device, long_kernel(std::integral_constant<int, N>{}), grid, softmax);
  } else {
    launch(device, long_kernel(std::integral_constant<int, 1>{}), grid, softmax);
  }
}

void forward(const Tensor& x, bool logarithm, const GradientTarget& y) {
  detail::dispatch_real("softmax", x.dtype(), [&]<class T>(T) {
    const Forward<T> softmax{detail::row_count(x), static_cast<int>(detail::row_length(x)), logarithm,
                             x.device_data<T>(), y.data<T>()};
    using Kernel = void (*)(Forward<T>);
    launch_rows<T>(
        x.device(), softmax, equally_aligned<T>(softmax.x, softmax.y),
        []<class Row>(Row) -> Kernel { return held_rows_kernel<Row, T>; },
        []<int N>(std::integral_constant<int, N>) -> Kernel { return long_rows_kernel<N, T>; });
  });
}

void pullback(const Tensor& y, bool logarithm, const Tensor& d_y, const GradientTarget& d_x) {
  detail::dispatch_real("softmax", y.dtype(), [&]<class T>(T) {
    detail::write_to<T>(d_x, [&]<class Out>(Out* to, bool add) {
      const Pullback<T, Out> softmax{detail::row_count(y),
                                     static_cast<int>(detail::row_length(y)),
                                     logarithm,
                                     y.device_data<T>(),
                                     d_y.device_data<T>(),
                                     to,
                                     add};
      using Kernel = void (*)(Pullback<T, Out>);
      launch_rows<T>(
          y.device(), softmax, equally_aligned<T>(softmax.y, softmax.d_y, to),
          []<class Row>(Row) -> Kernel { return held_rows_kernel<Row, T, Out>; },
          []<int N>(std::integral_constant<int, N>) -> Kernel { return long_rows_kernel<N, T, Out>; });
    });
  });
}

const detail::DeviceFunctionCode forward_code(detail::softmax_on_device, forward);
const detail::DeviceFunctionCode pullback_code(detail::softmax_pullback_on_device, pullback);

}  // namespace
}  // namespace cladtorch::cuda
