// Marks functions that kernels for CUDA devices call too.
#pragma once

#ifdef __CUDACC__
#define CLADTORCH_HOST_DEVICE __host__ __device__
#else
#define CLADTORCH_HOST_DEVICE
#endif
