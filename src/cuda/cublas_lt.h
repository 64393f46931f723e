// The handles and descriptions of cuBLASLt as C++ objects.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <type_traits>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

/// Throws Error that names the call and what cuBLASLt says, unless `status` is CUBLAS_STATUS_SUCCESS.
void check(cublasStatus_t status, const char* call);

/// Makes a call of cuBLASLt and checks it.
#define CLADTORCH_CUBLAS_CALL(function, ...) ::cladtorch::cuda::check(function(__VA_ARGS__), #function)

/// That of a device, which is the thread's current one from then on; made at first use.
cublasLtHandle_t cublas_lt(Device device);

cudaDataType_t cublas_type(DType dtype);

template <class Handle, auto destroy>
class Description {
 public:
  Handle get() const { return handle_.get(); }

 protected:
  void own(Handle handle) { handle_.reset(handle); }

 private:
  struct Destroy {
    void operator()(Handle handle) const { destroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<Handle>, Destroy> handle_;
};

/// What is computed: transposes and the epilogue.
class Operation : public Description<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> {
 public:
  Operation(cublasComputeType_t compute, cudaDataType_t scale) {
    cublasLtMatmulDesc_t made = nullptr;
    CLADTORCH_CUBLAS_CALL(cublasLtMatmulDescCreate, &made, compute, scale);
    own(made);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    CLADTORCH_CUBLAS_CALL(cublasLtMatmulDescSetAttribute, get(), attribute, &value, sizeof(value));
  }
};

/// A matrix whose columns are dense.
class Layout : public Description<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> {
 public:
  Layout(DType dtype, int64_t rows, int64_t columns, int64_t column_stride) {
    cublasLtMatrixLayout_t made = nullptr;
    CLADTORCH_CUBLAS_CALL(cublasLtMatrixLayoutCreate, &made, cublas_type(dtype), static_cast<uint64_t>(rows),
                          static_cast<uint64_t>(columns), column_stride);
    own(made);
  }
  void set_batch(int64_t count, int64_t stride) {
    const auto batch_count = static_cast<int32_t>(count);
    CLADTORCH_CUBLAS_CALL(cublasLtMatrixLayoutSetAttribute, get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                          &batch_count, sizeof(batch_count));
    CLADTORCH_CUBLAS_CALL(cublasLtMatrixLayoutSetAttribute, get(),
                          CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride));
  }
};

/// What an algorithm may use.
class Preference : public Description<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> {
 public:
  Preference() {
    cublasLtMatmulPreference_t made = nullptr;
    CLADTORCH_CUBLAS_CALL(cublasLtMatmulPreferenceCreate, &made);
    own(made);
  }
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const T& value) {
    CLADTORCH_CUBLAS_CALL(cublasLtMatmulPreferenceSetAttribute, get(), attribute, &value, sizeof(value));
  }
};

}  // namespace cladtorch::cuda
