// Which of cuBLASLt's algorithms computes a product: the one that was fastest when it was first needed.
#pragma once

#include "cuda/gemm_plan.h"

namespace cladtorch::cuda {

/// Sets plan.algorithm; false if there is none. Known ones come from a file (gemm_algorithm_file.h). Else
/// those that cuBLASLt recommends run a few times each, on the operands themselves. If the stream captures,
/// or where the environment has CLADTORCH_CUDA_TUNING=off, nothing is timed: the first that it recommends is
/// used, and not written to the file.
bool choose_algorithm(Device device, GemmPlan& plan, const GemmOperands& operands);

}  // namespace cladtorch::cuda
