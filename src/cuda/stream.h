// The two streams of a device: one computes, one copies beside it.
#pragma once

#include <cuda_runtime.h>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

/// The stream of all kernels and of the copies they wait for; the device is the thread's current one from
/// then on. Throws Error if there is no such device.
cudaStream_t compute_stream(Device device);

/// For copies that run beside kernels; ordered with them by events alone.
cudaStream_t copy_stream(Device device);

/// Waits for everything that was given to the compute stream. Throws Error if a kernel failed.
void synchronize(Device device);

/// Devices that the driver shows; 0 without a driver.
int device_count();

}  // namespace cladtorch::cuda
