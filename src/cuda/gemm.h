// Products of matrices by cuBLASLt.
#pragma once

#include <compare>
#include <cstdint>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

/// Element (b, i, j) is data[b * batch + i * stride + j], or of one that is transposed
/// data[b * batch + i + j * stride].
struct MatrixLayout {
  int64_t stride = 0, batch = 0;
  bool transposed = false;

  auto operator<=>(const MatrixLayout&) const = default;
};

/// What is done beside the product.
enum class Epilogue {
  none,
  bias,       ///< adds bias [n] to each row
  gelu,       ///< c is the tanh form of GELU of the product, which itself goes to `extra` [m, n] if not null
  bias_gelu,  ///< the same of product plus bias
  gelu_pullback,  ///< c is the product times the derivative of GELU at `extra` [m, n], which is read
  row_sums        ///< `extra` [m], of the dtype of c, gets the sums of the rows of a
};

/// c [batch, m, n] = or += a [batch, m, k] b [batch, k, n]. No extent is 0. a and b are of one dtype, float32
/// or float64, and so is c; or a and b are bfloat16, or each of a float8, and c is bfloat16 or float32. Sums
/// are in float32, of float64 in float64. In float8, a is not transposed, b is, and extents, strides and
/// addresses are multiples of 16.
struct GemmProblem {
  DType a_in = DType::float32, b_in = DType::float32, out = DType::float32;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  MatrixLayout a, b, c;  ///< c is not transposed
  bool add = false;      ///< not with an epilogue other than row_sums
  Epilogue epilogue = Epilogue::none;
  bool fast_accumulation = false;  ///< of float8: sums keep fewer bits than float32's on the way

  auto operator<=>(const GemmProblem&) const = default;
};

struct GemmOperands {
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;  ///< of the dtype of a, in float8 of that of c
  void* extra = nullptr;       ///< for gelu of the dtype `out`
  void* workspace = nullptr;   ///< at a multiple of 256 bytes
  size_t workspace_bytes = 0;
  /// In float8, what elements of a and b are multiplied by; on the device.
  const float *a_scale = nullptr, *b_scale = nullptr;
};

/// Launches it; not in a DryRun. False, and nothing happens, if cuBLASLt cannot do it in one go, or
/// not as fast as in two; it can without an epilogue. Of several algorithms the fastest is used, see
/// gemm_algorithm.h.
[[nodiscard]] bool gemm(Device device, const GemmProblem& problem, const GemmOperands& operands);

}  // namespace cladtorch::cuda
