// A product as cuBLASLt is told of it.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "cuda/cublas_lt.h"
#include "cuda/gemm.h"

namespace cladtorch::cuda {

/// What an algorithm is chosen for.
struct GemmKey {
  GemmProblem problem;
  bool tf32 = false;
  /// Bytes of which the addresses are multiples; 16 at most: no algorithm asks for more, and fewer keys mean
  /// fewer choices.
  int a_alignment = 0, b_alignment = 0, c_alignment = 0, bias_alignment = 0;
  int extra_alignment = 0;  ///< 0: there is none
  size_t workspace_bytes = 0;

  GemmKey(const GemmProblem& problem, const GemmOperands& operands);
  auto operator<=>(const GemmKey&) const = default;

  /// Words and numbers that name it in a file.
  std::string text() const;
};

class GemmPlan {
 public:
  explicit GemmPlan(const GemmKey& key);

  /// Algorithms for it, the most promising first; none if it cannot be done.
  std::vector<cublasLtMatmulAlgo_t> candidates(cublasLtHandle_t handle, const GemmOperands& operands,
                                               int most);
  /// Whether an algorithm that was found by another process can do it.
  bool accepts(cublasLtHandle_t handle, const GemmOperands& operands,
               const cublasLtMatmulAlgo_t& algorithm) const;
  cublasStatus_t launch(cublasLtHandle_t handle, const GemmOperands& operands,
                        const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream);

  const GemmKey& key() const { return key_; }
  std::optional<cublasLtMatmulAlgo_t> algorithm;  ///< the one chosen

 private:
  void set_pointers(const GemmOperands& operands);

  GemmKey key_;
  Operation operation_;
  Layout left_, right_, result_;
};

}  // namespace cladtorch::cuda
