// Devices by name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch {

/// "cpu", "cuda" for the first CUDA device, or "cuda:N". Throws Error for any other name. The device need not
/// exist.
Device device_from_string(std::string_view name);

/// The number of CUDA devices that this program can use: 0 in a build without CUDA code, or without a driver.
int cuda_device_count();

/// Throws Error unless the device can be used.
void require_available(Device device);

/// The name that its maker gave the device; "cpu" for the CPU.
std::string device_name(Device device);

/// Memory of a CUDA device, in bytes.
struct DeviceCapacity {
  size_t free = 0, total = 0;
};
DeviceCapacity device_capacity(Device device);

/// The most bytes that this process has held from a CUDA device's driver at one time, for tensors.
size_t most_device_memory(Device device);

/// Waits for all work that was given to the device. Throws Error if a kernel failed.
void synchronize(Device device);

}  // namespace cladtorch
