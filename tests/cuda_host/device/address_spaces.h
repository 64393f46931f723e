// Which of the device's memories an address belongs to, for instructions that work on one of them only.
#pragma once

namespace cuda_host::detail {

bool is_global(const void* address);

// Fails the kernel unless the address is a multiple of 16 in shared memory, as far as can be told.
void require_shared(const void* address, const char* instruction);

}  // namespace cuda_host::detail
