// How the program and the module that speaks MPI find each other.
#pragma once

#include "cladtorch/comm/communicator.h"

namespace cladtorch::comm {

/// Starts MPI. Null if that fails, after which `error` is the reason; it never throws.
using StartMpi = Communicator* (*)(const char** error);
/// Ends MPI, and the communicator that was started.
using EndMpi = void (*)(Communicator*);

inline constexpr const char* start_symbol = "cladtorch_mpi_start";
inline constexpr const char* end_symbol = "cladtorch_mpi_end";

}  // namespace cladtorch::comm
