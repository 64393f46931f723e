// Which of several ways to compute the same is fastest here.
#pragma once

#include <functional>
#include <limits>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

inline constexpr float never = std::numeric_limits<float>::infinity();

/// Milliseconds of what `launch` puts into the device's compute stream, once: the median of several
/// measurements, after a run that is not counted. `never` as soon as it returns false. Waits for the device.
float time_of(Device device, const std::function<bool()>& launch);

struct Fastest {
  size_t candidate = 0;
  float milliseconds = never;  ///< `never` if all failed
};

/// Of candidates 0 to count - 1; the first of equally fast ones.
Fastest fastest(Device device, size_t count, const std::function<bool(size_t)>& launch);

}  // namespace cladtorch::cuda
