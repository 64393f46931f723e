// Positions sorted by the index that lies there, equal ones in their order: what makes sums over equal
// indices the same in every run.
#pragma once

#include "ops/embedding/embedding_on_device.h"

namespace cladtorch::cuda {

struct SortedPositions {
  const int32_t *indices, *positions;
};

/// Of `count` indices. Those outside [0, rows) become `rows` and come last. Lies in `memory`.
SortedPositions sort_positions(Device device, int64_t count, const int32_t* indices, int64_t rows,
                               detail::SortMemory memory);

}  // namespace cladtorch::cuda
