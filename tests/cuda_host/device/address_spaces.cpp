#include "device/address_spaces.h"

#include <cstdint>

#include "device/block.h"
#include "fmt/format.h"
#include "runtime/runtime.h"

namespace cuda_host::detail {

bool is_global(const void* address) { return runtime().memory.owns(address); }

// Shared variables lie where all variables of the host do.
void require_shared(const void* address, const char* instruction) {
  if (reinterpret_cast<uintptr_t>(address) % 16 != 0) {
    block_of(instruction)
        .fail_thread(fmt::format("calls {} with a shared address that is not a multiple of 16", instruction));
  }
  if (is_global(address)) {
    block_of(instruction)
        .fail_thread(fmt::format("calls {} with global memory as shared memory", instruction));
  }
}

}  // namespace cuda_host::detail
