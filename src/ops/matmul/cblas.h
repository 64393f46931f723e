// Products by the CBLAS library that the build found, if it was asked for one (CLADTORCH_CBLAS).
#pragma once

#include <cstdint>

#include "ops/matmul/gemm.h"

namespace cladtorch::detail {

#if defined(CLADTORCH_CBLAS)
/// As gemm, for T float or double. False if the operands do not fit CBLAS (no dimension is dense) or if the
/// product is too small to be worth a call: then nothing is written.
template <class T>
bool gemm_by_cblas(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t c_row,
                   bool add, const T* bias);
#else
template <class T>
bool gemm_by_cblas(int64_t, int64_t, int64_t, MatrixView<T>, MatrixView<T>, T*, int64_t, bool, const T*) {
  return false;
}
#endif

}  // namespace cladtorch::detail
