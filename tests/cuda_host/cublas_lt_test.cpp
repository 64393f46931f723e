// The imitated cuBLASLt by itself: what it computes of a small product, and what it refuses.
#include "cublasLt.h"

#include "support.h"

namespace {
using cuda_host::testing::Buffer;
using cuda_host::testing::expect_success;

// d [2, 2] = a [2, 3] b [3, 2] in columns.
class CublasLt : public ::testing::Test {
 protected:
  CublasLt() {
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&a_layout, CUDA_R_32F, 2, 3, 2);
    cublasLtMatrixLayoutCreate(&b_layout, CUDA_R_32F, 3, 2, 3);
    cublasLtMatrixLayoutCreate(&d_layout, CUDA_R_32F, 2, 2, 2);
    cublasLtMatmulPreferenceCreate(&preference);
  }
  ~CublasLt() override {
    cublasLtMatmulPreferenceDestroy(preference);
    for (cublasLtMatrixLayout_t layout : {a_layout, b_layout, d_layout}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(product);
    cublasLtDestroy(handle);
  }

  cublasStatus_t find(size_t workspace_bytes) {
    const uint64_t bytes = workspace_bytes;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                         sizeof(bytes));
    return cublasLtMatmulAlgoGetHeuristic(handle, product, a_layout, b_layout, d_layout, d_layout, preference,
                                          8, algorithms, &count);
  }
  cublasStatus_t multiply(const cublasLtMatmulAlgo_t& algorithm, const float* left, size_t workspace_bytes) {
    return cublasLtMatmul(handle, product, &one, left, a_layout, b.get(), b_layout, &zero, d.get(), d_layout,
                          d.get(), d_layout, &algorithm, workspace.get(), workspace_bytes, nullptr);
  }
  void set_epilogue(cublasLtEpilogue_t epilogue, const void* bias) {
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue));
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
  }

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a_layout = nullptr, b_layout = nullptr, d_layout = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t algorithms[8];
  int count = 0;
  const float one = 1, zero = 0;
  Buffer<float> a{std::vector<float>{1, 2, 3, 4, 5, 6, 7}}, b{std::vector<float>{1, 0, 1, 0, 1, 10}},
      d{std::vector<float>(4, -1)}, workspace{64};
};

TEST_F(CublasLt, MultipliesColumnsWithEveryAlgorithm) {
  ASSERT_EQ(find(256), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 3);
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(multiply(algorithms[i].algo, a.get(), 256), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(d.values(), (std::vector<float>{6, 8, 53, 64}));
  }
  set_epilogue(CUBLASLT_EPILOGUE_BIAS, a.get());
  ASSERT_EQ(multiply(algorithms[0].algo, a.get(), 256), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d.values(), (std::vector<float>{7, 10, 54, 66}));
}

TEST_F(CublasLt, RefusesTooSmallAWorkspaceAndAddressesThatAreNotAligned) {
  ASSERT_EQ(find(256), CUBLAS_STATUS_SUCCESS);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    if (algorithms[i].workspaceSize > 0) {
      EXPECT_EQ(multiply(algorithms[i].algo, a.get(), 8), CUBLAS_STATUS_INVALID_VALUE);
      ++refused;
    }
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(multiply(algorithms[0].algo, a.get() + 1, 256), CUBLAS_STATUS_INVALID_VALUE);

  const uint32_t bytes = 4;
  cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &bytes,
                                       sizeof(bytes));
  ASSERT_EQ(find(0), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(count, 1);
  EXPECT_EQ(multiply(algorithms[0].algo, a.get() + 1, 0), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(d.values(), (std::vector<float>{8, 10, 64, 75}));
}

TEST_F(CublasLt, RefusesWhatDoesNotFitOrDoesNotExist) {
  std::swap(a_layout, b_layout);
  EXPECT_EQ(find(256), CUBLAS_STATUS_INVALID_VALUE);
  std::swap(a_layout, b_layout);
  set_epilogue(CUBLASLT_EPILOGUE_BIAS, nullptr);
  EXPECT_EQ(find(256), CUBLAS_STATUS_INVALID_VALUE);
  set_epilogue(CUBLASLT_EPILOGUE_BGRADB, a.get());
  EXPECT_EQ(find(256), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(multiply(cublasLtMatmulAlgo_t{}, a.get(), 256), CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(CublasLt, FailsWhereAnOperandIsNotAllocated) {
  ASSERT_EQ(find(0), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(multiply(algorithms[0].algo, a.get() + 4096, 0), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_STREQ(cuda_host::last_failure(),
               "cublasLtMatmul: an operand is outside the memory that is allocated");
  cudaDeviceReset();
}

}  // namespace
