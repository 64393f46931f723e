// The mean over the rows that count, which are counted on the device.
#pragma once

#include "cuda/reduction.cuh"

namespace cladtorch::cuda {

/// Of one block: a number for each of some ten thousand rows keeps one multiprocessor busy for microseconds.
inline constexpr int mean_threads = 1024;

/// share = 1 / targets that are not `ignore_index`, or 1 if all are; mean = share times the sum of `losses`,
/// which are zero for rows that do not count, unless both are null. Sums are double.
template <class C>
__global__ void __launch_bounds__(mean_threads)
    mean_of_rows_kernel(int64_t rows, const int32_t* targets, int64_t ignore_index, const C* losses, C* mean,
                        C* share) {
  double sums[2] = {};  // of losses, and the count
#pragma unroll 8
  for (int64_t row = BlockPerRow::rank(); row < rows; row += mean_threads) {
    sums[1] += targets[row] != ignore_index;
    if (losses) sums[0] += losses[row];
  }
  BlockPerRow::reduce<Sum>(sums);
  if (BlockPerRow::rank() != 0) return;
  const double counted = max(1.0, sums[1]);
  if (mean) *mean = static_cast<C>(sums[0] / counted);
  *share = static_cast<C>(1 / counted);
}

template <class C>
void mean_of_rows(Device device, int64_t rows, const int32_t* targets, int64_t ignore_index, const C* losses,
                  C* mean, C* share) {
  launch(device, mean_of_rows_kernel<C>, Grid(1, mean_threads), rows, targets, ignore_index, losses, mean,
         share);
}

}  // namespace cladtorch::cuda
