// Comparisons and logic, element by element, on the CPU. The results are bool, and derivatives pass by.
//
// Operands broadcast by PyTorch's rules. Those of two dtypes are compared as PyTorch does: in the floating
// one, or in the wider one. A number has the dtype of the tensor where that is floating.
#pragma once

#include <clad/opaque.h>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Equal, not equal, less, less or equal, greater, greater or equal. NaN is not equal to anything. Throws
/// Error naming both shapes if they do not fit.
CLAD_NONDIFFERENTIABLE Tensor eq(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor eq(const Tensor& a, double b);
CLAD_NONDIFFERENTIABLE Tensor ne(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor ne(const Tensor& a, double b);
CLAD_NONDIFFERENTIABLE Tensor lt(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor lt(const Tensor& a, double b);
CLAD_NONDIFFERENTIABLE Tensor le(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor le(const Tensor& a, double b);
CLAD_NONDIFFERENTIABLE Tensor gt(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor gt(const Tensor& a, double b);
CLAD_NONDIFFERENTIABLE Tensor ge(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor ge(const Tensor& a, double b);

// == and != are not here: they would not say whether two handles are the same.
CLAD_NONDIFFERENTIABLE inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
CLAD_NONDIFFERENTIABLE inline Tensor operator<(const Tensor& a, double b) { return lt(a, b); }
CLAD_NONDIFFERENTIABLE inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
CLAD_NONDIFFERENTIABLE inline Tensor operator<=(const Tensor& a, double b) { return le(a, b); }
CLAD_NONDIFFERENTIABLE inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
CLAD_NONDIFFERENTIABLE inline Tensor operator>(const Tensor& a, double b) { return gt(a, b); }
CLAD_NONDIFFERENTIABLE inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
CLAD_NONDIFFERENTIABLE inline Tensor operator>=(const Tensor& a, double b) { return ge(a, b); }

/// Of elements of any dtype, where what is not 0 is true.
CLAD_NONDIFFERENTIABLE Tensor logical_and(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor logical_or(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor logical_xor(const Tensor& a, const Tensor& b);
CLAD_NONDIFFERENTIABLE Tensor logical_not(const Tensor& x);

CLAD_NONDIFFERENTIABLE Tensor isnan(const Tensor& x);
CLAD_NONDIFFERENTIABLE Tensor isinf(const Tensor& x);
CLAD_NONDIFFERENTIABLE Tensor isfinite(const Tensor& x);

/// Whether |a - b| <= atol + rtol |b|, or both are the same infinity, or with `equal_nan` both NaN: of each
/// element, and of all. Of any dtypes; operands broadcast.
CLAD_NONDIFFERENTIABLE Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5,
                                      double atol = 1e-8, bool equal_nan = false);
CLAD_NONDIFFERENTIABLE bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
                                     bool equal_nan = false);

/// Whether one element is not 0, and whether all are: of all elements, or along `dim`, which stays with size
/// 1 if `keepdim`.
CLAD_NONDIFFERENTIABLE Tensor any(const Tensor& x);
CLAD_NONDIFFERENTIABLE Tensor any(const Tensor& x, int64_t dim, bool keepdim = false);
CLAD_NONDIFFERENTIABLE Tensor all(const Tensor& x);
CLAD_NONDIFFERENTIABLE Tensor all(const Tensor& x, int64_t dim, bool keepdim = false);

}  // namespace cladtorch
