// Whether anything may be timed now.
#pragma once

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

/// Not where the environment has CLADTORCH_CUDA_TUNING=off.
bool tuning_is_on();

/// Whether the device's compute stream captures a graph, in which nothing runs.
bool is_capturing(Device device);

}  // namespace cladtorch::cuda
