// Layer and RMS normalization, of a sum too. Each element of x is read once and each of y written once: 4
// bytes an element of bfloat16, or 8 where the sum of two is normalized.
#include "cuda/rows.cuh"
#include "ops/norm/norm_math.h"
#include "ops/norm/norm_on_device.h"

namespace cladtorch::cuda {
namespace {

/// Raw memory of a detail::Norm.
template <class T>
struct Norm {
  int64_t rows;
  int n;
  const T *x, *added, *weight, *bias;
  Computed<T> epsilon;
  bool centered;
  T *sum, *y;
  Computed<T>*mean, *rstd;
};

/// Of one row, by its first thread.
template <class Team, class T>
__device__ void keep(const Norm<T>& norm, int64_t row, Computed<T> mean, Computed<T> rstd) {
  if (Team::rank() != 0) return;
  if (norm.mean) norm.mean[row] = mean;
  if (norm.rstd) norm.rstd[row] = rstd;
}

template <class Row, class T>
__global__ void __launch_bounds__(Row::block_threads) held_rows_kernel(const Norm<T> norm) {
  using C = Computed<T>;
  using Team = typename Row::Team;
  constexpr int N = Row::N;
  const int64_t row = first_row<Team>(), start = row * norm.n;
  if (row >= norm.rows) return;
  Pack<T, N> x[Row::packs];
  Row::for_each_pack(norm.n, [&](int k, int column) { x[k] = load<N>(norm.x + start + column); });
  if (norm.added) {
    Pack<T, N> added[Row::packs];
    Row::for_each_pack(norm.n, [&](int k, int column) { added[k] = load<N>(norm.added + start + column); });
    Row::for_each_pack(norm.n, [&](int k, int column) {
#pragma unroll
      for (int i = 0; i < N; ++i)
        x[k].values[i] = converted<T>(read(x[k].values[i]) + read(added[k].values[i]));
      store<N>(norm.sum + start + column, x[k]);
    });
  }
  const C length = static_cast<C>(norm.n);
  C mean = 0;
  if (norm.centered) {
    C sum[1] = {};
    Row::for_each_pack(norm.n, [&](int k, int) {
#pragma unroll
      for (int i = 0; i < N; ++i) sum[0] += read(x[k].values[i]);
    });
    Team::template reduce<Sum>(sum);
    mean = sum[0] / length;
  }
  C squares[1] = {};
  Row::for_each_pack(norm.n, [&](int k, int) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const C difference = read(x[k].values[i]) - mean;
      squares[0] += difference * difference;
    }
  });
  Team::template reduce<Sum>(squares);
  const C rstd = detail::norm_rstd(squares[0] / length, norm.epsilon);
  keep<Team>(norm, row, mean, rstd);
  Row::for_each_pack(norm.n, [&](int k, int column) {
    const Pack<T, N> weight = load<N>(norm.weight + column);
    Pack<T, N> bias{}, y;
    if (norm.bias) bias = load<N>(norm.bias + column);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      y.values[i] =
          converted<T>(detail::normalized(read(x[k].values[i]), mean, rstd) * read(weight.values[i]) +
                       read(bias.values[i]));
    }
    store<N>(norm.y + start + column, y);
  });
}

/// Rows of any length, walked several times.
template <class T>
__global__ void __launch_bounds__(long_row_threads) long_rows_kernel(const Norm<T> norm) {
  using C = Computed<T>;
  using Team = BlockPerRow;
  const int64_t row = first_row<Team>(), start = row * norm.n;
  const auto for_each = [&](auto&& f) {
    for (int i = Team::rank(); i < norm.n; i += Team::size()) f(i);
  };
  const T* x = norm.x + start;
  if (norm.added) {
    for_each([&](int i) { norm.sum[start + i] = converted<T>(read(x[i]) + read(norm.added[start + i])); });
    x = norm.sum + start;  // each thread reads what it wrote itself
  }
  const C length = static_cast<C>(norm.n);
  C mean = 0;
  if (norm.centered) {
    C sum[1] = {};
    for_each([&](int i) { sum[0] += read(x[i]); });
    Team::reduce<Sum>(sum);
    mean = sum[0] / length;
  }
  C squares[1] = {};
  for_each([&](int i) {
    const C difference = read(x[i]) - mean;
    squares[0] += difference * difference;
  });
  Team::reduce<Sum>(squares);
  const C rstd = detail::norm_rstd(squares[0] / length, norm.epsilon);
  keep<Team>(norm, row, mean, rstd);
  for_each([&](int i) {
    const C bias = norm.bias ? read(norm.bias[i]) : C(0);
    norm.y[start + i] =
        converted<T>(detail::normalized(read(x[i]), mean, rstd) * read(norm.weight[i]) + bias);
  });
}

template <class T>
T* data_or_null(const Tensor& x) {
  return x.defined() ? Tensor(x).device_data<T>() : nullptr;
}

template <class T>
void normalize(const detail::Norm& to) {
  using C = Computed<T>;
  const int64_t n = to.x.shape().back(), rows = n == 0 ? 0 : to.x.numel() / n;
  const Device device = to.x.device();
  const Norm<T> norm{rows,
                     static_cast<int>(n),
                     to.x.device_data<T>(),
                     data_or_null<T>(to.added),
                     to.weight.device_data<T>(),
                     data_or_null<T>(to.bias),
                     static_cast<C>(to.epsilon),
                     to.centered,
                     data_or_null<T>(to.sum),
                     data_or_null<T>(to.y),
                     data_or_null<C>(to.mean),
                     data_or_null<C>(to.rstd)};
  const bool aligned = rows_aligned<T>(n, norm.x, norm.added, norm.weight, norm.bias, norm.sum, norm.y);
  const auto held = [&]<class Row>(Row, const RowGrid& grid) {
    launch(device, held_rows_kernel<Row, T>, Grid(grid.blocks(rows), grid.threads), norm);
  };
  if (!with_held_row < T, sizeof(T) == 8 ? 512 : 1024 > (n, aligned, held))
    launch(device, long_rows_kernel<T>, Grid(rows, long_row_threads), norm);
}

void run(const detail::Norm& norm) {
  detail::dispatch_real("normalization", norm.x.dtype(), [&]<class T>(T) { normalize<T>(norm); });
}

const detail::DeviceFunctionCode code(detail::norm_on_device, run);

}  // namespace
}  // namespace cladtorch::cuda
