// How often this process has asked the heap for memory.
#pragma once

#include <cstdint>

namespace cladtorch::train {

/// Calls of operator new so far, in any form. A program that uses this function gets counting replacements of
/// operator new and delete. Always 0 under ThreadSanitizer, which has replacements of its own.
int64_t heap_allocations();

}  // namespace cladtorch::train
