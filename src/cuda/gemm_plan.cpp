// cuBLASLt's matrices have dense columns, ours dense rows: a matrix of ours is the transpose of one of its,
// and c = a b is computed as c^T = b^T a^T. So its left operand is our b, its rows are our n.
#include "cuda/gemm_plan.h"

#include <algorithm>
#include <sstream>

#include "cladtorch/cuda.h"
#include "cladtorch/error.h"

namespace cladtorch::cuda {
namespace {

int alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return static_cast<int>(address == 0 ? 16 : std::min<uintptr_t>(16, address & -address));
}

cublasComputeType_t compute_type(const GemmKey& key) {
  if (key.problem.a_in == DType::float64) return CUBLAS_COMPUTE_64F;
  return key.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cudaDataType_t scale_type(const GemmProblem& x) { return x.a_in == DType::float64 ? CUDA_R_64F : CUDA_R_32F; }

cublasOperation_t transpose(const MatrixLayout& x) { return x.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

Layout layout(DType dtype, int64_t rows, int64_t columns, const MatrixLayout& x, int64_t batch) {
  if (x.transposed) std::swap(rows, columns);
  Layout made(dtype, columns, rows, x.stride);
  if (batch > 1) made.set_batch(batch, x.batch);
  return made;
}

cublasLtEpilogue_t epilogue_of(const GemmKey& key) {
  const bool keeps = key.extra_alignment != 0;
  switch (key.problem.epilogue) {
    case Epilogue::none:
      break;
    case Epilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::gelu:
      return keeps ? CUBLASLT_EPILOGUE_GELU_AUX : CUBLASLT_EPILOGUE_GELU;
    case Epilogue::bias_gelu:
      return keeps ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS;
    case Epilogue::gelu_pullback:
      return CUBLASLT_EPILOGUE_DGELU;
    case Epilogue::row_sums:
      return CUBLASLT_EPILOGUE_BGRADB;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

/// Whether `extra` is a matrix beside c.
bool has_auxiliary(const GemmKey& key) {
  const Epilogue epilogue = key.problem.epilogue;
  return key.extra_alignment != 0 && (epilogue == Epilogue::gelu || epilogue == Epilogue::bias_gelu ||
                                      epilogue == Epilogue::gelu_pullback);
}

}  // namespace

GemmKey::GemmKey(const GemmProblem& gemm, const GemmOperands& operands)
    : problem(gemm),
      tf32(gemm.a_in == DType::float32 && tf32_allowed()),
      a_alignment(alignment_of(operands.a)),
      b_alignment(alignment_of(operands.b)),
      c_alignment(alignment_of(operands.c)),
      bias_alignment(alignment_of(operands.bias)),
      extra_alignment(operands.extra == nullptr ? 0 : alignment_of(operands.extra)),
      workspace_bytes(operands.workspace_bytes) {}

std::string GemmKey::text() const {
  std::ostringstream out;
  const GemmProblem& x = problem;
  const auto matrix = [&](const MatrixLayout& layout, int alignment) {
    out << ' ' << layout.stride << (layout.transposed ? "t" : "n") << layout.batch << '@' << alignment;
  };
  out << x.a_in << ' ' << x.b_in << (tf32 ? " tf32 " : " ") << x.out << ' ' << x.m << ' ' << x.n << ' ' << x.k
      << ' ' << x.batch;
  matrix(x.a, a_alignment);
  matrix(x.b, b_alignment);
  matrix(x.c, c_alignment);
  out << ' ' << static_cast<int>(x.epilogue) << '@' << bias_alignment << '@' << extra_alignment << ' '
      << (x.add ? "add" : "store") << (x.fast_accumulation ? " fast " : " ") << workspace_bytes;
  return out.str();
}

GemmPlan::GemmPlan(const GemmKey& key)
    : key_(key),
      operation_(compute_type(key), scale_type(key.problem)),
      left_(layout(key.problem.b_in, key.problem.k, key.problem.n, key.problem.b, key.problem.batch)),
      right_(layout(key.problem.a_in, key.problem.m, key.problem.k, key.problem.a, key.problem.batch)),
      result_(layout(key.problem.out, key.problem.m, key.problem.n, key.problem.c, key.problem.batch)) {
  const GemmProblem& x = key.problem;
  operation_.set(CUBLASLT_MATMUL_DESC_TRANSA, transpose(x.b));
  operation_.set(CUBLASLT_MATMUL_DESC_TRANSB, transpose(x.a));
  operation_.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(key));
  if (x.epilogue == Epilogue::bias || x.epilogue == Epilogue::bias_gelu)
    operation_.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cublas_type(is_float8(x.a_in) ? x.out : x.a_in));
  if (x.epilogue == Epilogue::row_sums)
    operation_.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, cublas_type(x.out));
  if (has_auxiliary(key)) operation_.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, x.n);
  if (x.fast_accumulation) operation_.set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1});
}

void GemmPlan::set_pointers(const GemmOperands& operands) {
  if (is_float8(key_.problem.a_in)) {
    operation_.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.b_scale);
    operation_.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.a_scale);
  }
  const Epilogue epilogue = key_.problem.epilogue;
  if (epilogue == Epilogue::none) return;
  operation_.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                 epilogue == Epilogue::row_sums ? operands.extra : operands.bias);
  if (has_auxiliary(key_)) operation_.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.extra);
}

std::vector<cublasLtMatmulAlgo_t> GemmPlan::candidates(cublasLtHandle_t handle, const GemmOperands& operands,
                                                       int most) {
  set_pointers(operands);
  Preference preference;
  preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{operands.workspace_bytes});
  const auto align = [&](cublasLtMatmulPreferenceAttributes_t attribute, int bytes) {
    preference.set(attribute, static_cast<uint32_t>(bytes));
  };
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key_.b_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key_.a_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key_.c_alignment);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key_.c_alignment);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<size_t>(most));
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, operation_.get(), left_.get(), right_.get(), result_.get(),
                                     result_.get(), preference.get(), most, results.data(), &count);
  // With an epilogue it answers either where it cannot do the product.
  const bool unsupported = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
  if (!unsupported) check(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; !unsupported && i < count; ++i) {
    const auto& result = results[static_cast<size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= operands.workspace_bytes)
      algorithms.push_back(result.algo);
  }
  return algorithms;
}

bool GemmPlan::accepts(cublasLtHandle_t handle, const GemmOperands& operands,
                       const cublasLtMatmulAlgo_t& known) const {
  cublasLtMatmulHeuristicResult_t result{};
  return cublasLtMatmulAlgoCheck(handle, operation_.get(), left_.get(), right_.get(), result_.get(),
                                 result_.get(), &known, &result) == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize <= operands.workspace_bytes;
}

cublasStatus_t GemmPlan::launch(cublasLtHandle_t handle, const GemmOperands& operands,
                                const cublasLtMatmulAlgo_t& chosen, cudaStream_t stream) {
  set_pointers(operands);
  const GemmProblem& x = key_.problem;
  const double one = 1, zero = 0;
  const float one_float = 1, zero_float = 0;
  const bool wide = x.a_in == DType::float64;
  const void* const alpha = wide ? static_cast<const void*>(&one) : &one_float;
  const void* const beta = x.add ? alpha : wide ? static_cast<const void*>(&zero) : &zero_float;
  return cublasLtMatmul(handle, operation_.get(), alpha, operands.b, left_.get(), operands.a, right_.get(),
                        beta, operands.c, result_.get(), operands.c, result_.get(), &chosen,
                        operands.workspace, operands.workspace_bytes, stream);
}

}  // namespace cladtorch::cuda
