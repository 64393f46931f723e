// Cross-entropy reads each logit once: 2 bytes an element of bfloat16. Its pullback reads and writes each
// once.
#include "cuda/log_sum_exp.cuh"
#include "ops/common/rows.h"
#include "ops/cross_entropy/losses_on_device.h"
#include "ops/cross_entropy/mean_of_rows.cuh"

namespace cladtorch::cuda {
namespace {

template <class T>
struct Rows {
  int64_t rows;
  int n;
  const T* logits;
  const int32_t* targets;
  int64_t ignore_index;
};

template <class T>
Rows<T> rows_of(const Tensor& logits, const Tensor& targets, int64_t ignore_index) {
  return {detail::row_count(logits), static_cast<int>(detail::row_length(logits)), logits.device_data<T>(),
          targets.device_data<int32_t>(), ignore_index};
}

template <class Team, class T>
__global__ void __launch_bounds__(long_row_threads)
    losses_kernel(const Rows<T> of, Computed<T>* log_sum_exp, Computed<T>* losses) {
  using C = Computed<T>;
  constexpr int N = 16 / sizeof(T);
  const int64_t row = first_row<Team>();
  if (row >= of.rows) return;
  const int32_t target = of.targets[row];
  const T* const logits = of.logits + row * of.n;
  C total = 0, loss = 0;
  if (target != of.ignore_index) {
    ExponentialSum<C> sum;
    walk_row<Team, N>(logits, of.n, converted<T>(Maximum::of_nothing<C>()),
                      [&](const Pack<T, N>& x, int) { sum.add(x); });
    sum.template reduce<Team>();
    total = sum.largest + std::log(sum.sum);
    const bool known = target >= 0 && target < of.n;
    if (!known) total = std::numeric_limits<C>::quiet_NaN();
    loss = known ? total - read(logits[target]) : total;
  }
  if (Team::rank() != 0) return;
  log_sum_exp[row] = total;
  losses[row] = loss;
}

template <class Team, int N, class T, class Out>
__global__ void __launch_bounds__(long_row_threads)
    pullback_kernel(const Rows<T> of, const Computed<T>* log_sum_exp, const Computed<T>* share,
                    const Computed<T>* d_y, Out* d_logits, bool add) {
  using C = Computed<T>;
  const int64_t row = first_row<Team>();
  if (row >= of.rows) return;
  const int n = of.n;
  const int32_t target = of.targets[row];
  const T* const logits = of.logits + row * n;
  Out* const d = d_logits + row * n;
  if (target == of.ignore_index) {
    for (int i = Team::rank(); !add && i < n; i += Team::size()) d[i] = Out{};
    return;
  }
  const C factor = *d_y * *share, subtracted = log_sum_exp[row];
  walk_row<Team, N>(logits, n, T{}, [&](const Pack<T, N>& x, int column) {
    Pack<Out, N> result{};
    if (add) result = load_within<N>(d, column, n, Out{});
#pragma unroll
    for (int i = 0; i < N; ++i) {
      C value = detail::ScalarExp{}(read(x.values[i]) - subtracted);
      if (column + i == target) value -= 1;
      result.values[i] = converted<Out>(read(result.values[i]) + factor * value);
    }
    store_within<N>(d, column, n, result);
  });
}

/// Calls f(team, grid): a warp for rows that a block would be done with at once.
template <class F>
void with_team(int64_t rows, int64_t n, F&& f) {
  constexpr int64_t longest_of_warp = 2048;
  if (n <= longest_of_warp) {
    f(WarpPerRow{}, Grid(warps_grid.blocks(rows), warps_grid.threads));
  } else {
    f(BlockPerRow{}, Grid(rows, long_row_threads));
  }
}

void forward(const Tensor& logits, const Tensor& targets, int64_t ignore_index, Tensor& log_sum_exp,
             Tensor& losses, Tensor& mean, Tensor& share) {
  const Device device = logits.device();
  detail::dispatch_real("cross_entropy", logits.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    const Rows<T> of = rows_of<T>(logits, targets, ignore_index);
    with_team(of.rows, of.n, [&]<class Team>(Team, const Grid& grid) {
      launch(device, losses_kernel<Team, T>, grid, of, log_sum_exp.device_data<C>(), losses.device_data<C>());
    });
    mean_of_rows<C>(device, of.rows, of.targets, ignore_index, losses.device_data<C>(), mean.device_data<C>(),
                    share.device_data<C>());
  });
}

void pullback(const Tensor& logits, const Tensor& targets, int64_t ignore_index, const Tensor& log_sum_exp,
              const Tensor& share, const Tensor& d_y, const GradientTarget& d_logits) {
  detail::dispatch_real("cross_entropy", logits.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    const Rows<T> of = rows_of<T>(logits, targets, ignore_index);
    detail::write_to<T>(d_logits, [&]<class Out>(Out* d, bool add) {
      with_team(of.rows, of.n, [&]<class Team>(Team, const Grid& grid) {
        auto* const kernel = equally_aligned<T>(of.logits, d) ? pullback_kernel<Team, 16 / sizeof(T), T, Out>
                                                              : pullback_kernel<Team, 1, T, Out>;
        launch(logits.device(), kernel, grid, of, log_sum_exp.device_data<C>(), share.device_data<C>(),
               d_y.device_data<C>(), d, add);
      });
    });
  });
}

const detail::DeviceFunctionCode forward_code(detail::cross_entropy_on_device, forward);
const detail::DeviceFunctionCode pullback_code(detail::cross_entropy_pullback_on_device, pullback);

}  // namespace
}  // namespace cladtorch::cuda
