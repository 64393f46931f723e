// One element of each row is read or written, and the rest of a gradient that is stored is cleared.
#include "cuda/pointwise.cuh"
#include "ops/common/rows.h"
#include "ops/cross_entropy/losses_on_device.h"
#include "ops/cross_entropy/mean_of_rows.cuh"
#include "tensor/device_memory.h"

namespace cladtorch::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(pointwise_threads)
    losses_kernel(int64_t rows, int64_t n, const T* x, const int32_t* targets, int64_t ignore_index,
                  Computed<T>* losses) {
  using C = Computed<T>;
  const int64_t row = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  if (row >= rows) return;
  const int32_t target = targets[row];
  C loss = 0;
  if (target != ignore_index) {
    const bool known = target >= 0 && target < n;
    loss = known ? -read(x[row * n + target]) : std::numeric_limits<C>::quiet_NaN();
  }
  losses[row] = loss;
}

template <class C, class Out>
__global__ void __launch_bounds__(pointwise_threads)
    pullback_kernel(int64_t rows, int64_t n, const int32_t* targets, int64_t ignore_index, const C* share,
                    const C* d_y, Out* d_x) {
  const int64_t row = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  if (row >= rows || targets[row] == ignore_index) return;
  const int32_t target = targets[row];
  if (target >= 0 && target < n) {
    put<Write::add>(d_x[row * n + target], -*d_y * *share);
  } else {
    for (int64_t i = 0; i < n; ++i)
      d_x[row * n + i] = converted<Out>(std::numeric_limits<Computed<Out>>::quiet_NaN());
  }
}

void forward(const Tensor& x, const Tensor& targets, int64_t ignore_index, Tensor& losses, Tensor& mean,
             Tensor& share) {
  const int64_t rows = detail::row_count(x), n = detail::row_length(x);
  const auto* const target = targets.device_data<int32_t>();
  detail::dispatch_real("nll_loss", x.dtype(), [&]<class T>(T) {
    using C = Computed<T>;
    launch(x.device(), losses_kernel<T>, Grid(ceil_div(rows, pointwise_threads), pointwise_threads), rows, n,
           x.device_data<T>(), target, ignore_index, losses.device_data<C>());
    mean_of_rows<C>(x.device(), rows, target, ignore_index, losses.device_data<C>(), mean.device_data<C>(),
                    share.device_data<C>());
  });
}

void pullback(DType dtype, int64_t n, const Tensor& targets, int64_t ignore_index, const Tensor& d_y,
              Tensor& share, const GradientTarget& d_x) {
  const Device device = targets.device();
  const int64_t rows = targets.numel();
  const auto* const target = targets.device_data<int32_t>();
  detail::dispatch_real("nll_loss", dtype, [&]<class T>(T) {
    using C = Computed<T>;
    mean_of_rows<C>(device, rows, target, ignore_index, nullptr, nullptr, share.device_data<C>());
    detail::write_to<T>(d_x, [&]<class Out>(Out* d, bool add) {
      if (!add) detail::clear_on(device, d, static_cast<size_t>(rows * n) * sizeof(Out));
      launch(device, pullback_kernel<C, Out>, Grid(ceil_div(rows, pointwise_threads), pointwise_threads),
             rows, n, target, ignore_index, share.device_data<C>(), d_y.device_data<C>(), d);
    });
  });
}

const detail::DeviceFunctionCode forward_code(detail::nll_loss_on_device, forward);
const detail::DeviceFunctionCode pullback_code(detail::nll_loss_pullback_on_device, pullback);

}  // namespace
}  // namespace cladtorch::cuda
