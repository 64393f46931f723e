// Work that was given to a device once, to be given again as a whole.
#pragma once

#include <memory>

#include "cladtorch/tensor/dtype.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch::detail {

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  /// After all that was given to the device before; does not wait.
  virtual void launch() = 0;
};

/// Calls `work` and records what it gives to the device, which does not run. It must neither wait for the
/// device nor copy to or from the host. Every launch uses the memory and the numbers of this call.
std::unique_ptr<DeviceGraph> capture(Device device, ThreadBody work);

}  // namespace cladtorch::detail
