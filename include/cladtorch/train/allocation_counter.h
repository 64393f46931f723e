// Counts the heap allocations of this process.
#pragma once

#include <cstdint>

namespace cladtorch::train {

/// Calls of operator new so far, in any form. A program that uses this function gets counting replacements of
/// operator new and delete. It is always 0 under ThreadSanitizer, which has its own replacements.
int64_t heap_allocations();

}  // namespace cladtorch::train
