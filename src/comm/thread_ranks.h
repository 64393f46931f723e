// Ranks that are threads of one process, to try what ranks do without a launcher.
#pragma once

#include <cstdint>
#include <functional>

#include "cladtorch/comm/communicator.h"

namespace cladtorch::comm {

/// Calls body(communicator) on `size` threads, one for each rank, and returns when all have returned.
/// Messages arrive after delays that `seed` decides, so that they pass each other as on a network. The first
/// exception of a rank is thrown here; the other ranks then get an Error at their next wait.
void run_ranks(int size, uint64_t seed, const std::function<void(Communicator&)>& body);

}  // namespace cladtorch::comm
