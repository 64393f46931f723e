// Tensors from and to other libraries of the same process, which share their memory by DLPack.
#pragma once

#include "cladtorch/tensor/tensor.h"

// Those of DLPack's own <dlpack/dlpack.h>, which may be included too.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace cladtorch {

/// A handle for another library on the memory of `x`, which lives until that library calls the handle's
/// deleter, on any thread. Writes through either are seen by both. Work on a CUDA device is waited for.
/// Python takes the handle as a PyCapsule named "dltensor", and the versioned one as "dltensor_versioned".
/// Throws Error if the tensor is undefined, of 8 bits of floating point, a gradient buffer, or made in a
/// Workspace::Step that is still open, whose end may move its memory.
DLManagedTensor* to_dlpack(const Tensor& x);

/// The same for libraries that know DLPack 1.0, with the mark that it is not to be written if it broadcasts.
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& x);

/// A tensor in the memory of another library's, on the CPU or a CUDA device. It takes the handle over and
/// calls its deleter, on the thread that drops the last tensor on this memory. Work that the other library
/// has queued on a CUDA device must be done. Throws Error, and leaves the handle to the caller, for what no
/// Tensor is: a dtype other than float32, float64, int32, int64, bool and bfloat16, vectors of lanes, another
/// device, more than eight dimensions, a negative stride, or elements that are not aligned.
Tensor from_dlpack(DLManagedTensor* handle);

/// The same. What is marked as not to be written is copied, and its handle is released at once. Throws Error
/// for a version of DLPack other than 1.
Tensor from_dlpack(DLManagedTensorVersioned* handle);

}  // namespace cladtorch
