// Products of tensors, as gemm.h is told of them.
#pragma once

#include "cuda/address.h"
#include "cuda/gemm.h"
#include "ops/matmul/matmul_on_device.h"

namespace cladtorch::cuda {

inline std::byte* at(const void* data, int64_t elements, DType dtype) {
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(data));
  return bytes + elements * static_cast<int64_t>(size_of(dtype));
}

/// Of a tensor that product_operand() made.
inline MatrixLayout layout_of(const Tensor& x) {
  const int64_t rows = x.size(-2), columns = x.size(-1);
  const int64_t row = x.strides()[x.dim() - 2], column = x.strides()[x.dim() - 1];
  MatrixLayout layout;
  layout.transposed = !detail::rows_are_dense(rows, columns, row, column, &layout.stride);
  if (layout.transposed) detail::rows_are_dense(columns, rows, column, row, &layout.stride);
  return layout;
}

/// One product without epilogue of matrices that lie where a, b and c point; c is dense.
struct TensorProduct {
  GemmProblem problem;
  GemmOperands operands;

  /// a [..., m, k], b [..., k, n]
  TensorProduct(const detail::ProductOperand& left, const detail::ProductOperand& right, DType out, void* c,
                Tensor& workspace) {
    const Tensor &a = left.matrix, &b = right.matrix;
    problem.a_in = a.dtype();
    problem.b_in = b.dtype();
    problem.out = out;
    problem.m = a.size(-2);
    problem.n = b.size(-1);
    problem.k = a.size(-1);
    problem.a = layout_of(a);
    problem.b = layout_of(b);
    problem.c.stride = problem.n;
    operands.a = address(a);
    operands.b = address(b);
    if (left.scale.defined()) operands.a_scale = left.scale.device_data<float>();
    if (right.scale.defined()) operands.b_scale = right.scale.device_data<float>();
    operands.c = c;
    auto* const memory = reinterpret_cast<std::byte*>(workspace.device_data<float>());
    const size_t offset = -reinterpret_cast<uintptr_t>(memory) % detail::product_workspace_alignment;
    operands.workspace = memory + offset;
    operands.workspace_bytes = workspace.nbytes() - detail::product_workspace_alignment;
  }

  [[nodiscard]] bool try_on(Device device) const { return gemm(device, problem, operands); }
  /// Without an epilogue it can be done, else gemm() throws.
  void run_on(Device device) const { [[maybe_unused]] const bool done = gemm(device, problem, operands); }
};

}  // namespace cladtorch::cuda
