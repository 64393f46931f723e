// Products by cuBLASLt: layouts, dtypes, epilogues, and the choice of an algorithm.
#include "cuda/gemm.h"

#include <cuda_runtime.h>

#include <fstream>

#include "cladtorch/cuda.h"
#include "cladtorch/ops/functions/slope.h"
#include "cuda/choice_file.h"
#include "cuda/gemm_algorithm.h"
#include "cuda/gemm_plan.h"
#include "cuda/stream.h"
#include "ops/matmul/gemm.h"
#include "tests/cuda/compare.h"

namespace cladtorch::cuda {
namespace {

using testing::gpu;
using testing::normals;
using testing::relative_difference;

/// A product on the device beside the same in double on the CPU.
struct Case {
  GemmProblem problem;
  size_t workspace_bytes = 1 << 16;
  bool keeps = true;  ///< what GELU is taken of

  Tensor a{}, b{}, c{}, bias{}, extra{};  // on the CPU, in float64

  void make() {
    const GemmProblem& x = problem;
    const testing::Tensors made =
        normals({{x.batch * x.m * x.k}, {x.batch * x.k * x.n}, {x.batch * x.m * x.c.stride}, {x.n}});
    const auto rounded = [](const Tensor& t, DType dtype) { return t.to(dtype).to(DType::float64); };
    a = rounded(made[0], x.a_in);
    b = rounded(made[1], x.b_in);
    c = rounded(made[2], x.out);
    bias = rounded(made[3], x.a_in);
    if (x.epilogue == Epilogue::gelu_pullback) {
      extra = rounded(normals({{x.m * x.n}}, 5)[0], x.out);
    } else {
      extra = full({x.epilogue == Epilogue::row_sums ? x.m : x.m * x.n}, NAN, DType::float64);
    }
  }

  void run_on_cpu() {
    const GemmProblem& x = problem;
    const bool biased = x.epilogue == Epilogue::bias || x.epilogue == Epilogue::bias_gelu;
    const auto view = [](const double* data, const MatrixLayout& l) {
      return l.transposed ? detail::MatrixView<double>{data, 1, l.stride}
                          : detail::MatrixView<double>{data, l.stride, 1};
    };
    for (int64_t i = 0; i < x.batch; ++i)
      detail::gemm_reference<double>(x.m, x.n, x.k, view(a.data<double>() + i * x.a.batch, x.a),
                                     view(b.data<double>() + i * x.b.batch, x.b),
                                     c.data<double>() + i * x.c.batch, x.c.stride, x.add,
                                     biased ? bias.data<double>() : nullptr);
    if (x.epilogue == Epilogue::gelu || x.epilogue == Epilogue::bias_gelu) {
      for (int64_t i = 0; i < x.m * x.n; ++i) {
        double& at = c.data<double>()[i / x.n * x.c.stride + i % x.n];
        extra.data<double>()[i] = at;
        at = functions::GeluTanh{}(at);
      }
    }
    if (x.epilogue == Epilogue::gelu_pullback) {
      for (int64_t i = 0; i < x.m * x.n; ++i) {
        double& at = c.data<double>()[i / x.n * x.c.stride + i % x.n];
        at *= functions::slope(functions::GeluTanh{}, extra.data<double>()[i]);
      }
    }
    if (x.epilogue == Epilogue::row_sums) {
      extra.fill_(0);
      for (int64_t i = 0; i < x.m * x.k; ++i)
        extra.data<double>()[x.a.transposed ? i % x.m : i / x.k] += a.data<double>()[i];
    }
  }

  ::testing::AssertionResult run(double tolerance) {
    make();
    const GemmProblem& x = problem;
    const Tensor left = a.to(x.a_in).to(gpu), right = b.to(x.b_in).to(gpu), added = bias.to(x.a_in).to(gpu);
    Tensor result = c.to(x.out).to(gpu), more = extra.to(x.out).to(gpu);
    Tensor workspace = Tensor::empty({static_cast<int64_t>(workspace_bytes / 4)}, DType::float32, gpu);
    const auto pointer = [](const Tensor& t) {
      const void* data = nullptr;
      detail::dispatch_any(t.dtype(), [&]<class T>(T) { data = t.device_data<T>(); });
      return const_cast<void*>(data);
    };
    if (!gemm(gpu, x,
              {pointer(left), pointer(right), pointer(result), pointer(added),
               keeps ? pointer(more) : nullptr, pointer(workspace), workspace_bytes}))
      return ::testing::AssertionFailure() << "cannot be done";
    run_on_cpu();
    const double difference = relative_difference(result.to(Device{}), c);
    if (!(difference <= tolerance)) return ::testing::AssertionFailure() << "differs by " << difference;
    if (x.epilogue == Epilogue::none || x.epilogue == Epilogue::bias || !keeps)
      return ::testing::AssertionSuccess();
    const double other = relative_difference(more.to(Device{}), extra);
    if (!(other <= tolerance)) return ::testing::AssertionFailure() << "the other differs by " << other;
    return ::testing::AssertionSuccess();
  }
};

GemmProblem product_of(DType in, DType out, int64_t m, int64_t n, int64_t k, int flags = 0) {
  GemmProblem x;
  x.a_in = x.b_in = in;
  x.out = out;
  x.m = m;
  x.n = n;
  x.k = k;
  x.a = {(flags & 1) != 0 ? m : k, 0, (flags & 1) != 0};
  x.b = {(flags & 2) != 0 ? k : n, 0, (flags & 2) != 0};
  x.c = {n, 0, false};
  x.add = (flags & 4) != 0;
  return x;
}

double tolerance(DType out) { return out == DType::float64 ? 1e-13 : out == DType::float32 ? 1e-6 : 6e-3; }

struct Types {
  DType in, out;
};
constexpr Types all_types[] = {{DType::float32, DType::float32},
                               {DType::float64, DType::float64},
                               {DType::bfloat16, DType::float32},
                               {DType::bfloat16, DType::bfloat16}};

TEST(CudaGemm, MultipliesAllLayoutsAndTypes) {
  for (const Types& types : all_types) {
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {5, 7, 3}, {16, 8, 24}, {33, 1, 17}}) {
      for (int flags = 0; flags < 8; ++flags) {
        Case x{product_of(types.in, types.out, m, n, k, flags)};
        EXPECT_TRUE(x.run(tolerance(types.out)))
            << types.in << ' ' << types.out << ' ' << m << ' ' << n << ' ' << k << ' ' << flags;
      }
    }
  }
}

TEST(CudaGemm, MultipliesBatchesAndRowsWithGaps) {
  for (int flags = 0; flags < 8; ++flags) {
    Case x{product_of(DType::float32, DType::float32, 4, 6, 5, flags)};
    x.problem.batch = 3;
    x.problem.a.batch = 20;
    x.problem.b.batch = 0;  // one for all
    x.problem.c.stride = 9;
    x.problem.c.batch = 36;
    EXPECT_TRUE(x.run(1e-6)) << flags;
  }
}

TEST(CudaGemm, HasEpilogues) {
  for (const Types& types : {all_types[0], all_types[3]}) {
    for (Epilogue epilogue :
         {Epilogue::bias, Epilogue::gelu, Epilogue::bias_gelu, Epilogue::gelu_pullback, Epilogue::row_sums}) {
      for (int flags = 0; flags < 4; ++flags) {
        Case x{product_of(types.in, types.out, 7, 16, 8, flags)};
        x.problem.epilogue = epilogue;
        EXPECT_TRUE(x.run(tolerance(types.out))) << types.in << ' ' << static_cast<int>(epilogue);
        if (epilogue != Epilogue::gelu && epilogue != Epilogue::bias_gelu) continue;
        x.keeps = false;
        EXPECT_TRUE(x.run(tolerance(types.out))) << types.in << ' ' << static_cast<int>(epilogue);
      }
    }
  }
}

#ifndef CUDART_VERSION
/// What the imitation refuses, as cuBLASLt's documentation says.
TEST(CudaGemm, SaysThatAnEpilogueCannotBeDone) {
  Case x{product_of(DType::float64, DType::float64, 7, 16, 8)};
  x.problem.epilogue = Epilogue::bias;
  EXPECT_FALSE(x.run(0));
  Case y{product_of(DType::bfloat16, DType::bfloat16, 7, 15, 8)};
  y.problem.epilogue = Epilogue::gelu;
  EXPECT_FALSE(y.run(0));
}
#endif

TEST(CudaGemm, WorksWithoutWorkspace) {
  Case x{product_of(DType::float32, DType::float32, 8, 16, 8)};
  x.workspace_bytes = 0;
  EXPECT_TRUE(x.run(1e-6));
}

/// 1 + 2^-12 needs more digits than TF32 has.
TEST(CudaGemm, RoundsToTf32OnlyIfAllowed) {
  const Tensor a = full({64, 64}, 1 + 0x1p-12, DType::float32, gpu);
  const auto value = [&] {
    Tensor c = Tensor::empty({64, 64}, DType::float32, gpu);
    GemmProblem x = product_of(DType::float32, DType::float32, 64, 64, 64);
    EXPECT_TRUE(gemm(gpu, x, {a.device_data<float>(), a.device_data<float>(), c.device_data<float>()}));
    return c.select(0, 3).select(0, 5).item();
  };
  EXPECT_NEAR(value(), 64 * (1 + 0x1p-11), 1e-4);
  allow_tf32(true);
  EXPECT_NEAR(value(), 64, 0.04);
  allow_tf32(false);
  EXPECT_NEAR(value(), 64 * (1 + 0x1p-11), 1e-4);
}

/// With addresses of the same alignment as those of run().
GemmOperands operands_anywhere(const Case& x) {
  auto* const address = reinterpret_cast<void*>(256);
  return {address, address, address, address, address, address, x.workspace_bytes};
}

std::string file_contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CudaGemm, RemembersTheFastestAlgorithm) {
  const auto path = choice_path();
  setenv("CLADTORCH_CUDA_TUNING", "on", 1);
  Case added{product_of(DType::float32, DType::float32, 8, 24, 16, 4)};
  EXPECT_TRUE(added.run(1e-6)) << "timing must not add";
  setenv("CLADTORCH_CUDA_TUNING", "off", 1);
  const std::string found = file_contents(path);
  EXPECT_NE(found.find("float32 float32 8 24 16 1"), std::string::npos) << found;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path.parent_path()),
                          std::filesystem::directory_iterator()),
            1)
      << "temporary files are left";
}

/// Sums may be refused where that is faster, and then again without timing.
TEST(CudaGemm, TimesWhetherSumsPay) {
  setenv("CLADTORCH_CUDA_TUNING", "on", 1);
  for (bool add : {false, true}) {
    Case x{product_of(DType::bfloat16, DType::float32, 16, 32, 64, add ? 4 : 0)};
    x.problem.epilogue = Epilogue::row_sums;
    const std::string name = "bfloat16 float32 16 32 64";
    const ::testing::AssertionResult result = x.run(1e-6);
    EXPECT_TRUE(result || std::string(result.message()) == "cannot be done") << result.message();
    EXPECT_NE(file_contents(choice_path()).find(name), std::string::npos);
  }
  setenv("CLADTORCH_CUDA_TUNING", "off", 1);

  Case refused{product_of(DType::bfloat16, DType::float32, 16, 40, 64)};
  refused.problem.epilogue = Epilogue::row_sums;
  choice_file(gpu).add(gemm_choice_key(GemmKey(refused.problem, operands_anywhere(refused))),
                       text_of(cublasLtMatmulAlgo_t{}));
  EXPECT_EQ(std::string(refused.run(0).message()), "cannot be done");
}

TEST(CudaGemm, WritesAnAlgorithmAsTextAndReadsNothingElse) {
  cublasLtMatmulAlgo_t algorithm{};
  algorithm.data[0] = 0xfedcba9876543210;
  algorithm.data[7] = 42;
  const auto found = algorithm_of(text_of(algorithm));
  ASSERT_TRUE(found);
  EXPECT_EQ(std::memcmp(&*found, &algorithm, sizeof(algorithm)), 0);
  EXPECT_FALSE(algorithm_of("12"));
  EXPECT_FALSE(algorithm_of(std::string(text_of(algorithm).size(), 'g')));
}

/// An algorithm that cuBLASLt does not accept any more is chosen again.
TEST(CudaGemm, DropsAnAlgorithmThatIsNotValid) {
  for (const std::string& text : {text_of(cublasLtMatmulAlgo_t{}), std::string("nonsense")}) {
    Case x{product_of(DType::float32, DType::float32, 8, text == "nonsense" ? 48 : 40, 16)};
    choice_file(gpu).add(gemm_choice_key(GemmKey(x.problem, operands_anywhere(x))), text);
    EXPECT_TRUE(x.run(1e-6));
  }
}

TEST(CudaGemm, IsCapturedWithoutTiming) {
  setenv("CLADTORCH_CUDA_TUNING", "on", 1);
  const Tensor a = full({8, 56}, 2, DType::float32, gpu);
  Tensor c = full({8, 8}, 0, DType::float32, gpu);
  GemmProblem x = product_of(DType::float32, DType::float32, 8, 8, 56, 2);
  x.add = true;
  const cudaStream_t stream = compute_stream(gpu);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_TRUE(gemm(gpu, x, {a.device_data<float>(), a.device_data<float>(), c.device_data<float>()}));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_EQ(c.select(0, 7).select(0, 0).item(), 2 * 56 * 4);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  setenv("CLADTORCH_CUDA_TUNING", "off", 1);
}

}  // namespace
}  // namespace cladtorch::cuda
