// Which products there are, and what the algorithms ask for.
#include <algorithm>

#include "cublas_lt/descriptions.h"

namespace cuda_host::cublas_lt {
namespace {

constexpr uint64_t magic = 0x63756461686f7374;

bool dense_columns(const cublasLtMatrixLayoutOpaque_t& x) {
  return x.rows > 0 && x.columns > 0 && x.stride >= x.rows && x.batch > 0;
}

bool is_aligned(const void* pointer, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// Two of e5m2 do not go together. Operands are read along the depth, and all is at multiples of 16.
bool float8_fits(const Problem& x) {
  constexpr int64_t multiple = 16;
  const auto dense = [](const cublasLtMatrixLayoutOpaque_t& m) {
    return m.rows % multiple == 0 && m.columns % multiple == 0 && m.stride % multiple == 0 && m.batch == 1;
  };
  const cublasLtMatmulDescOpaque_t& o = x.operation;
  return is_float8(x.a.type) && is_float8(x.b.type) &&
         (x.a.type == CUDA_R_8F_E4M3 || x.b.type == CUDA_R_8F_E4M3) && o.compute == CUBLAS_COMPUTE_32F &&
         o.transpose_a == CUBLAS_OP_T && o.transpose_b == CUBLAS_OP_N && dense(x.a) && dense(x.b) &&
         dense(x.d) && o.a_scale != nullptr && o.b_scale != nullptr;
}

bool types_fit(const Problem& x) {
  const cudaDataType_t in = x.a.type, out = x.d.type;
  if (is_float8(in) || is_float8(x.b.type)) {
    const bool known = x.operation.scale == CUDA_R_32F && (out == CUDA_R_16BF || out == CUDA_R_32F);
    return known && x.c.type == out && float8_fits(x);
  }
  if (x.b.type != in || x.c.type != out || x.operation.fast_accumulation) return false;
  if (x.operation.compute == CUBLAS_COMPUTE_64F)
    return in == CUDA_R_64F && out == CUDA_R_64F && x.operation.scale == CUDA_R_64F;
  if (x.operation.scale != CUDA_R_32F) return false;
  if (in == CUDA_R_32F) return out == CUDA_R_32F;
  return in == CUDA_R_16BF && (out == CUDA_R_16BF || out == CUDA_R_32F);
}

cublasStatus_t check_epilogue(const Problem& x) {
  const cublasLtMatmulDescOpaque_t& o = x.operation;
  if (o.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return CUBLAS_STATUS_SUCCESS;
  if (o.compute == CUBLAS_COMPUTE_64F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if ((o.has_bias() || o.has_bias_gradient()) && o.bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const cudaDataType_t bias_type = o.bias_type.value_or(x.d.type);
  if (is_float8(x.a.type)) {
    const bool known = o.epilogue == CUBLASLT_EPILOGUE_BIAS && bias_type == CUDA_R_16BF;
    return known ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (bias_type != x.d.type && bias_type != x.a.type) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (o.has_bias_gradient() && (bias_type != x.d.type || x.d.batch > 1)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (o.has_auxiliary()) {
    if (o.auxiliary == nullptr || o.auxiliary_stride < x.d.rows) return CUBLAS_STATUS_INVALID_VALUE;
    if (o.auxiliary_stride % 8 != 0 || !is_aligned(o.auxiliary, 16) || x.d.batch > 1)
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // Which shapes it has bias gradients for is not documented; some it has not.
  if (o.has_bias_gradient() && x.depth() % 8 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

cublasLtMatmulHeuristicResult_t result_of(const Problem& problem, Kind kind) {
  cublasLtMatmulHeuristicResult_t result{};
  result.algo.data[0] = magic;
  result.algo.data[1] = static_cast<uint64_t>(kind);
  result.workspaceSize = workspace_of(problem, kind);
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  return result;
}

}  // namespace

bool is_float8(cudaDataType_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

size_t size_of(cudaDataType_t type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : type == CUDA_R_16BF ? 2 : 1;
}

cublasStatus_t Problem::check() const {
  const bool turned_a = operation.transpose_a == CUBLAS_OP_T, turned_b = operation.transpose_b == CUBLAS_OP_T;
  const int64_t m = turned_a ? a.columns : a.rows, n = turned_b ? b.rows : b.columns;
  const int64_t k = turned_b ? b.columns : b.rows;
  const bool fits = m == d.rows && n == d.columns && k == depth() && c.rows == d.rows &&
                    c.columns == d.columns && a.batch == d.batch && b.batch == d.batch && c.batch == d.batch;
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  for (const auto* x : {&a, &b, &c, &d})
    if (!dense_columns(*x)) return CUBLAS_STATUS_INVALID_VALUE;
  return types_fit(*this) ? check_epilogue(*this) : CUBLAS_STATUS_NOT_SUPPORTED;
}

size_t workspace_of(const Problem& problem, Kind kind) {
  if (kind != Kind::split) return 0;
  return static_cast<size_t>(problem.d.rows * problem.d.columns * problem.d.batch) * 4;
}

uint32_t alignment_of(Kind kind, cudaDataType_t type) {
  return kind == Kind::any && !is_float8(type) ? static_cast<uint32_t>(size_of(type)) : 16;
}

std::optional<Kind> kind_of(const cublasLtMatmulAlgo_t& algorithm) {
  const uint64_t kind = algorithm.data[1];
  if (algorithm.data[0] != magic || kind < 1 || kind > 3) return std::nullopt;
  return static_cast<Kind>(kind);
}

}  // namespace cuda_host::cublas_lt

using namespace cuda_host::cublas_lt;

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = 0;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (most < 1) return CUBLAS_STATUS_INVALID_VALUE;
  const Problem problem{*description, *a, *b, *c, *d};
  if (const cublasStatus_t status = problem.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  const cudaDataType_t types[] = {a->type, b->type, c->type, d->type};
  for (const Kind kind : {Kind::split, Kind::aligned, Kind::any}) {
    bool aligned = true;
    for (size_t i = 0; i < 4; ++i)
      aligned = aligned && preference->alignment[i] % alignment_of(kind, types[i]) == 0;
    if (!aligned || workspace_of(problem, kind) > preference->workspace_bytes || *count == most) continue;
    results[(*count)++] = result_of(problem, kind);
  }
  return *count > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const std::optional<Kind> kind = kind_of(*algorithm);
  if (!kind) return CUBLAS_STATUS_INVALID_VALUE;
  const Problem problem{*description, *a, *b, *c, *d};
  if (const cublasStatus_t status = problem.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  *result = result_of(problem, *kind);
  return CUBLAS_STATUS_SUCCESS;
}
