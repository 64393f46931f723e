// Which of cuBLASLt's algorithms computes a product: the one that was fastest when it was first needed.
#pragma once

#include <optional>
#include <string>

#include "cuda/gemm_plan.h"

namespace cladtorch::cuda {

/// Sets plan.algorithm; false if there is none. Known ones come from a file (choice_file.h). Else
/// those that cuBLASLt recommends run a few times each, on the operands themselves. If the stream captures,
/// or where the environment has CLADTORCH_CUDA_TUNING=off, nothing is timed: the first that it recommends is
/// used, and not written to the file.
bool choose_algorithm(Device device, GemmPlan& plan, const GemmOperands& operands);

/// What stands for the product in that file, with the library that numbers the algorithms; and an algorithm,
/// in hexadecimal digits.
std::string gemm_choice_key(const GemmKey& key);
std::string text_of(const cublasLtMatmulAlgo_t& algorithm);
std::optional<cublasLtMatmulAlgo_t> algorithm_of(const std::string& text);

}  // namespace cladtorch::cuda
