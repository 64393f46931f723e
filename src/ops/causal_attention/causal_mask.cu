// Triangles of matrices. Packs of which no element is seen are not read: 3 bytes an element of bfloat16.
#include "cuda/pointwise.cuh"
#include "ops/causal_attention/causal_mask_on_device.h"

namespace cladtorch::cuda {
namespace {

template <class T>
struct Tril {
  int64_t elements, length, all;  ///< of matrices [length, all]
  const T* x;
  Computed<T> rest;
};

template <int N, Write write, class T, class Out>
__global__ void __launch_bounds__(pointwise_threads) tril_kernel(const Tril<T> tril, Out* y) {
  const int64_t first = (int64_t{blockIdx.x} * pointwise_threads + threadIdx.x) * N;
  if (first >= tril.elements) return;
  const int count = static_cast<int>(min(tril.elements - first, int64_t{N}));
  const int64_t row = quotient(first, tril.all), matrix = quotient(row, tril.length);
  int64_t column = first - row * tril.all;
  int64_t seen = detail::causally_seen(row - matrix * tril.length, tril.length, tril.all);
  bool kept[N], any = false;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    kept[i] = i < count && column < seen;
    any = any || kept[i];
    if (++column == tril.all) {
      column = 0;
      seen = seen == tril.all ? tril.all - tril.length + 1 : seen + 1;
    }
  }
  Pack<T, N> x{};
  Pack<Out, N> result{};
  if (count == N) {
    if (any) x = *reinterpret_cast<const Pack<T, N>*>(tril.x + first);
    if constexpr (write == Write::add) result = *reinterpret_cast<const Pack<Out, N>*>(y + first);
  } else {
    for (int i = 0; i < count; ++i) {
      x.values[i] = tril.x[first + i];
      if constexpr (write == Write::add) result.values[i] = y[first + i];
    }
  }
#pragma unroll
  for (int i = 0; i < N; ++i) put<write>(result.values[i], kept[i] ? read(x.values[i]) : tril.rest);
  if (count == N) {
    *reinterpret_cast<Pack<Out, N>*>(y + first) = result;
  } else {
    for (int i = 0; i < count; ++i) y[first + i] = result.values[i];
  }
}

void run(const Tensor& x, double rest, const GradientTarget& y) {
  detail::dispatch_real("tril", x.dtype(), [&]<class T>(T) {
    const Tril<T> tril{x.numel(), x.size(-2), x.size(-1), x.device_data<T>(), static_cast<Computed<T>>(rest)};
    detail::write_to<T>(y, [&]<class Out>(Out* to, bool add) {
      constexpr int N = pack_size<T, Out>;
      const bool packed = is_aligned<N>(tril.x) && is_aligned<N>(to);
      const auto grid = [&](int64_t pack) {
        return Grid(ceil_div(tril.elements, pointwise_threads * pack), pointwise_threads);
      };
      with_write(add, [&](auto write) {
        constexpr Write how = decltype(write)::value;
        if (packed) {
          launch(x.device(), tril_kernel<N, how, T, Out>, grid(N), tril, to);
        } else {
          launch(x.device(), tril_kernel<1, how, T, Out>, grid(1), tril, to);
        }
      });
    });
  });
}

const detail::DeviceFunctionCode code(detail::tril_on_device, run);

}  // namespace
}  // namespace cladtorch::cuda
