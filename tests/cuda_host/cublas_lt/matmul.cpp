// The product: checked when it is asked for, computed when its turn comes in the stream.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cublas_lt/descriptions.h"
#include "runtime/runtime.h"

namespace cuda_host::cublas_lt {
namespace {

double read_float8(uint8_t bits, cudaDataType_t type) {
  const int mantissa_bits = type == CUDA_R_8F_E4M3 ? 3 : 2, bias = type == CUDA_R_8F_E4M3 ? 7 : 15;
  const int exponent = (bits & 0x7f) >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
  const bool last = exponent == (type == CUDA_R_8F_E4M3 ? 15 : 31);
  double value = std::ldexp(exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits),
                            std::max(exponent, 1) - bias - mantissa_bits);
  if (last && type == CUDA_R_8F_E5M2) value = mantissa == 0 ? INFINITY : NAN;
  if (last && type == CUDA_R_8F_E4M3 && mantissa == 7) value = NAN;
  return bits & 0x80 ? -value : value;
}

double read(const void* data, cudaDataType_t type, int64_t element) {
  if (type == CUDA_R_64F) return static_cast<const double*>(data)[element];
  if (type == CUDA_R_32F) return static_cast<double>(static_cast<const float*>(data)[element]);
  if (is_float8(type)) return read_float8(static_cast<const uint8_t*>(data)[element], type);
  return static_cast<double>(
      std::bit_cast<float>(uint32_t{static_cast<const uint16_t*>(data)[element]} << 16));
}

void write(void* data, cudaDataType_t type, int64_t element, double value) {
  if (type == CUDA_R_64F) {
    static_cast<double*>(data)[element] = value;
  } else if (type == CUDA_R_32F) {
    static_cast<float*>(data)[element] = static_cast<float>(value);
  } else {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    const uint32_t rounded = std::isnan(value) ? bits | 1u << 22 : bits + 0x7fff + (bits >> 16 & 1);
    static_cast<uint16_t*>(data)[element] = static_cast<uint16_t>(rounded >> 16);
  }
}

double to_tf32(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return static_cast<double>(std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu));
}

double gelu(double x) { return x / 2 * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))); }
double gelu_derivative(double x) {
  const double t = std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
}

// A call of cublasLtMatmul.
struct Product {
  Problem problem;
  double alpha, beta;
  const void *a, *b, *c;
  void* d;
  void* workspace;
  size_t workspace_bytes;

  double element(const void* data, const cublasLtMatrixLayoutOpaque_t& layout, bool transposed,
                 int64_t in_batch, int64_t i, int64_t j) const {
    const double value =
        read(data, layout.type, layout.element(in_batch, transposed ? j : i, transposed ? i : j));
    return problem.operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? to_tf32(value) : value;
  }
  double left(int64_t in_batch, int64_t i, int64_t p) const {
    return element(a, problem.a, problem.operation.transpose_a == CUBLAS_OP_T, in_batch, i, p);
  }
  double right(int64_t in_batch, int64_t p, int64_t j) const {
    return element(b, problem.b, problem.operation.transpose_b == CUBLAS_OP_T, in_batch, p, j);
  }

  void compute(int64_t in_batch, int64_t i, int64_t j) const {
    const cublasLtMatmulDescOpaque_t& o = problem.operation;
    double value = 0;
    for (int64_t p = 0; p < problem.depth(); ++p) value += left(in_batch, i, p) * right(in_batch, p, j);
    value *= alpha;
    if (is_float8(problem.a.type)) value *= static_cast<double>(*o.a_scale) * static_cast<double>(*o.b_scale);
    if (beta != 0) value += beta * read(c, problem.c.type, problem.c.element(in_batch, i, j));
    if (o.has_bias()) value += read(o.bias, o.bias_type.value_or(problem.d.type), i);
    const int64_t beside = i + j * o.auxiliary_stride;
    if (o.has_gelu() && o.has_auxiliary()) write(o.auxiliary, problem.d.type, beside, value);
    if (o.has_gelu()) value = gelu(value);
    if (o.has_gelu_gradient()) value *= gelu_derivative(read(o.auxiliary, problem.d.type, beside));
    write(d, problem.d.type, problem.d.element(in_batch, i, j), value);
  }

  void sum_bias_gradient() const {
    const bool of_a = problem.operation.epilogue == CUBLASLT_EPILOGUE_BGRADA;
    const int64_t count = of_a ? problem.d.rows : problem.d.columns;
    for (int64_t i = 0; i < count; ++i) {
      double sum = 0;
      for (int64_t p = 0; p < problem.depth(); ++p) sum += of_a ? left(0, i, p) : right(0, p, i);
      write(problem.operation.bias, problem.operation.bias_type.value_or(problem.d.type), i, sum);
    }
  }

  void run() const {
    if (workspace != nullptr) std::memset(workspace, 0xFF, workspace_bytes);
    if (problem.operation.has_bias_gradient()) sum_bias_gradient();
    for (int64_t batch = 0; batch < problem.d.batch; ++batch)
      for (int64_t j = 0; j < problem.d.columns; ++j)
        for (int64_t i = 0; i < problem.d.rows; ++i) compute(batch, i, j);
  }

  // Whether all operands lie in memory of the device that is allocated.
  bool lives(const detail::DeviceMemory& memory) const {
    const auto found = [&](const void* data, int64_t elements, cudaDataType_t type) {
      return memory.find(data, static_cast<size_t>(elements) * size_of(type)) != nullptr;
    };
    const cublasLtMatmulDescOpaque_t& o = problem.operation;
    const cudaDataType_t type = problem.d.type, bias_type = o.bias_type.value_or(type);
    bool fine = found(a, problem.a.elements(), problem.a.type) &&
                found(b, problem.b.elements(), problem.b.type) && found(d, problem.d.elements(), type);
    if (is_float8(problem.a.type))
      fine = fine && found(o.a_scale, 1, CUDA_R_32F) && found(o.b_scale, 1, CUDA_R_32F);
    if (beta != 0) fine = fine && found(c, problem.c.elements(), type);
    if (workspace_bytes > 0) fine = fine && memory.find(workspace, workspace_bytes) != nullptr;
    if (o.has_bias()) fine = fine && found(o.bias, problem.d.rows, bias_type);
    if (o.has_auxiliary())
      fine = fine && found(o.auxiliary, (problem.d.columns - 1) * o.auxiliary_stride + problem.d.rows, type);
    return fine;
  }
};

double scalar(const void* value, cudaDataType_t type) { return read(value, type, 0); }

}  // namespace
}  // namespace cuda_host::cublas_lt

using namespace cuda_host::cublas_lt;

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t workspace_bytes,
                              cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const Problem problem{*description, *a_layout, *b_layout, *c_layout, *d_layout};
  if (const cublasStatus_t status = problem.check(); status != CUBLAS_STATUS_SUCCESS) return status;
  const std::optional<Kind> kind = kind_of(*algorithm);
  if (!kind || workspace_of(problem, *kind) > workspace_bytes ||
      (workspace_bytes > 0 && reinterpret_cast<uintptr_t>(workspace) % 256 != 0)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const std::pair<const void*, cudaDataType_t> operands[] = {
      {a, a_layout->type}, {b, b_layout->type}, {c, c_layout->type}, {d, d_layout->type}};
  for (const auto& [data, type] : operands)
    if (reinterpret_cast<uintptr_t>(data) % alignment_of(*kind, type) != 0)
      return CUBLAS_STATUS_INVALID_VALUE;
  const Product product{
      problem, scalar(alpha, description->scale),          scalar(beta, description->scale), a, b, c,
      d,       *kind == Kind::split ? workspace : nullptr, workspace_of(problem, *kind)};
  const cudaError_t error =
      cuda_host::detail::call_on(stream, [&](cuda_host::detail::Runtime& state, CUstream_st& on) {
        return state.submit(on, cudaGraphNodeTypeKernel, [&state, product] {
          const bool lives = product.lives(state.memory);
          if (lives) {
            product.run();
          } else {
            state.note_failure("cublasLtMatmul: an operand is outside the memory that is allocated");
          }
          return lives;
        });
      });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
