// An imitation of the CUDA runtime that runs kernels on the host, so that tests
// need no GPU. A .cu file that is compiled as plain C++ finds this header in place
// of CUDA's. What it checks and what it leaves out: tests/cuda_host/README.md.
#pragma once

// By this a file knows that it is compiled for the imitation.
#define CUDA_HOST 1

#include "cuda_host/async_copy.h"
#include "cuda_host/atomics.h"
#include "cuda_host/device_math.h"
#include "cuda_host/graphs.h"
#include "cuda_host/keywords.h"
#include "cuda_host/launch.h"
#include "cuda_host/memory.h"
#include "cuda_host/runtime_api.h"
#include "cuda_host/statistics.h"
#include "cuda_host/threads.h"
#include "cuda_host/vector_types.h"
#include "cuda_host/warp.h"
