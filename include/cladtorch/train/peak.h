// Measures the peak performance of this machine, now and on these threads. Virtual machines share cores and
// change clocks, so a percentage means little without the ceilings of the same run.
#pragma once

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::train {

/// float32 operations per second that `threads` threads reach together in a loop of independent fused
/// multiply-adds (each counts two), with the widest vectors this processor has. Takes about 50 ms.
double measure_peak_flops(int threads);

/// The same for the dot product of bfloat16 pairs that accumulates in float32 (a pair counts four
/// operations); 0 on a processor without that instruction.
double measure_peak_bf16_flops(int threads);

/// The peak of products of `dtype`. For bfloat16, which may be widened too, it is the larger of the two.
double measure_peak_flops(int threads, DType dtype);

/// The peak of products of `dtype` on a CUDA device through cuBLASLt, measured with large square matrices for
/// a fifth of a second.
double measure_peak_flops(Device device, DType dtype);

/// Bytes per second between the cores and memory, for arrays that no cache holds.
struct Bandwidth {
  double read = 0;   ///< sums an array
  double fill = 0;   ///< writes an array with stores that pass the caches by
  double mixed = 0;  ///< the traffic of AdamW, which reads four arrays and writes three of them
};

/// Takes about a second and 1 GiB of memory.
Bandwidth measure_bandwidth(int threads);

}  // namespace cladtorch::train
