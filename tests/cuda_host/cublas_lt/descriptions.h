// What the handles of the imitated cuBLASLt stand for.
#pragma once

#include <optional>

#include "cublasLt.h"

struct cublasLtContext {};

struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  std::optional<cudaDataType_t> bias_type = std::nullopt;
  void* auxiliary = nullptr;
  int64_t auxiliary_stride = 0;
  const float *a_scale = nullptr, *b_scale = nullptr;  // of float8
  int8_t fast_accumulation = 0;

  bool has_bias() const { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
  bool has_gelu() const { return (epilogue & CUBLASLT_EPILOGUE_GELU) != 0; }
  bool has_gelu_gradient() const { return epilogue == CUBLASLT_EPILOGUE_DGELU; }
  bool has_auxiliary() const { return (epilogue & 128) != 0; }
  bool has_bias_gradient() const {
    return epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB;
  }
};

struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  int64_t rows, columns, stride;
  int32_t batch = 1;
  int64_t batch_stride = 0;

  int64_t element(int64_t in_batch, int64_t i, int64_t j) const {
    return in_batch * batch_stride + i + j * stride;
  }
  int64_t elements() const { return element(batch - 1, rows - 1, columns - 1) + 1; }
};

struct cublasLtMatmulPreferenceOpaque_t {
  uint64_t workspace_bytes = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of a, b, c and d
};

namespace cuda_host::cublas_lt {

size_t size_of(cudaDataType_t type);
bool is_float8(cudaDataType_t type);

// The operands of a product as one.
struct Problem {
  cublasLtMatmulDescOpaque_t operation;
  cublasLtMatrixLayoutOpaque_t a, b, c, d;

  int64_t depth() const { return operation.transpose_a == CUBLAS_OP_T ? a.rows : a.columns; }
  // CUBLAS_STATUS_INVALID_VALUE where extents do not fit, CUBLAS_STATUS_NOT_SUPPORTED where cuBLASLt has no
  // such product.
  cublasStatus_t check() const;
};

// The algorithms: each asks for something else.
enum class Kind : uint64_t { any = 1, aligned = 2, split = 3 };
size_t workspace_of(const Problem& problem, Kind kind);
uint32_t alignment_of(Kind kind, cudaDataType_t type);
std::optional<Kind> kind_of(const cublasLtMatmulAlgo_t& algorithm);

}  // namespace cuda_host::cublas_lt
