// The arithmetic peak of this machine, measured now, on these threads.
#pragma once

namespace cladtorch::train {

/// float32 operations per second that `threads` threads reach together in a loop of independent fused
/// multiply-adds (each counts two), with the widest vectors this processor has. Takes about 50 ms. Virtual
/// machines share cores and change clocks, so a percentage means little without the peak of the same run.
double measure_peak_flops(int threads);

}  // namespace cladtorch::train
