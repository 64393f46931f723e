// Adding what blocks have summed, in an order that is the same in every run.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "cuda/pointwise.cuh"
#include "cuda/reduction.cuh"

namespace cladtorch::cuda {

inline constexpr int add_parts_warps = 8;

/// out[j] = or += the sum over p of parts[p][j], for j < n. A block has 32 columns; its warp w sums parts w,
/// w + 8, ...
template <class C, class Out>
__global__ void __launch_bounds__(add_parts_warps* warp_size)
    add_parts_kernel(int64_t count, int64_t n, const C* parts, Out* out, bool add) {
  __shared__ C sums[add_parts_warps][warp_size];
  const int lane = WarpPerRow::rank(), warp = WarpPerRow::number();
  const int64_t column = int64_t{blockIdx.x} * warp_size + lane;
  C sum = 0;
  if (column < n) {
#pragma unroll 8
    for (int64_t part = warp; part < count; part += add_parts_warps) sum += parts[part * n + column];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= n) return;
#pragma unroll
  for (int other = 1; other < add_parts_warps; ++other) sum += sums[other][lane];
  if (add) {
    put<Write::add>(out[column], sum);
  } else {
    put<Write::store>(out[column], sum);
  }
}

/// The rows of `parts` [count, n] added up to the gradient of a tensor of T.
template <class T>
void add_parts(Device device, int64_t count, int64_t n, const Computed<T>* parts, const GradientTarget& to) {
  detail::write_to<T>(to, [&]<class Out>(Out* out, bool add) {
    launch(device, add_parts_kernel<Computed<T>, Out>,
           Grid(ceil_div(n, warp_size), add_parts_warps * warp_size), count, n, parts, out, add);
  });
}

}  // namespace cladtorch::cuda
