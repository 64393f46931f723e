// A few numbers on their way from a device, for which nobody waits until they are needed.
#pragma once

#include <cstddef>
#include <memory>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::detail {

class Readback {
 public:
  virtual ~Readback() = default;
  /// Begins to copy `bytes` of device memory as they are after all that was given to the device before.
  virtual void start(const void* from) = 0;
  /// Waits for the copy that was begun last; valid until the next one begins. Throws Error if a kernel before
  /// it failed.
  virtual const void* wait() = 0;
};

/// For `bytes` of memory of the device, which must be there.
std::unique_ptr<Readback> make_readback(Device device, size_t bytes);

}  // namespace cladtorch::detail
