// A training step of products, attention and the classifier's loss: planned, replayed, and captured as a
// graph.
#include <cuda_runtime.h>

#include <optional>

#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/dry_run.h"
#include "cladtorch/tensor/workspace.h"
#include "cuda/stream.h"
#include "tests/cuda/compare.h"

namespace cladtorch {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;
using testing::gpu;
using testing::normals;
using testing::same_bits;
using testing::Tensors;

/// x [6, 64] through two layers and attention with one head of 64 to scores of 40 classes.
struct Model {
  Tensors parameters, gradients;
  Tensor x, targets, loss;

  explicit Model(DType dtype) {
    for (const Tensor& one : normals({{24, 64}, {24}, {192, 24}, {192}, {40, 64}, {1, 6, 64}})) {
      Tensor scaled = one.clone();
      for (int64_t i = 0; i < one.numel(); ++i) scaled.data<double>()[i] *= 0.3;
      parameters.push_back(scaled.to(dtype).to(gpu).clone());
    }
    x = parameters.back();
    parameters.pop_back();
    for (const Tensor& parameter : parameters) gradients.push_back(gradient_buffer_like(parameter));
    targets = Tensor::empty({1, 6}, DType::int32);
    for (int32_t i = 0; i < 6; ++i) targets.data<int32_t>()[i] = 7 * i % 40;
    targets = targets.to(gpu);
    loss = full({}, 0, dtype == DType::bfloat16 ? DType::float32 : dtype, gpu);
  }

  void step() {
    for (Tensor& gradient : gradients) gradient.mark_zero();
    clad::pullback_state<LinearGeluState> gelu;
    clad::pullback_state<AttentionState> attention;
    clad::pullback_state<LinearCrossEntropyState> classifier;
    const Tensor h = pullbacks::linear_gelu_tanh_reverse_forw(x, parameters[0], parameters[1], gelu);
    const Tensor qkv = linear(h, parameters[2], parameters[3]);
    const Tensor y = pullbacks::causal_attention_reverse_forw(qkv, 1, attention);
    loss.copy_from(pullbacks::linear_cross_entropy_reverse_forw(y, parameters[4], targets, -100, classifier));
    Tensor d_y, d_qkv, d_h;
    pullbacks::linear_cross_entropy_pullback(y, parameters[4], targets, -100, full({}, 1, loss.dtype(), gpu),
                                             &d_y, &gradients[4], nullptr, classifier);
    pullbacks::causal_attention_pullback(qkv, 1, d_y, &d_qkv, attention);
    pullbacks::linear_pullback(h, parameters[2], parameters[3], d_qkv, &d_h, &gradients[2], &gradients[3]);
    pullbacks::linear_gelu_tanh_pullback(x, parameters[0], parameters[1], d_h, nullptr, &gradients[0],
                                         &gradients[1], gelu);
  }

  Tensors results() const {
    Tensors all{loss.to(Device{})};
    for (const Tensor& gradient : gradients) all.push_back(gradient.to(Device{}));
    return all;
  }
};

void expect_same(const Tensors& got, const Tensors& expected) {
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(same_bits(got[i], expected[i])) << i;
}

/// Memory that a step allocates does not depend on whether it runs.
TEST(CudaStep, IsPlannedByADryRunAndReplayed) {
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    Model model(dtype);
    model.step();
    const Tensors expected = model.results();
    Workspace workspace;
    for (int i = 0; i < 3; ++i) {
      std::optional<DryRun> dry;
      if (i == 0) dry.emplace();
      const Workspace::Step step(workspace);
      model.step();
    }
    EXPECT_EQ(workspace.statistics(gpu).plans, 1) << dtype;
    EXPECT_EQ(workspace.statistics(gpu).unplanned_allocations, 0) << dtype;
    expect_same(model.results(), expected);
  }
}

/// Nothing waits for the device, and nothing is allocated beside the plan.
TEST(CudaStep, IsCapturedAsAGraph) {
  for (DType dtype : {DType::float32, DType::bfloat16}) {
    Model model(dtype);
    Workspace workspace;
    for (int i = 0; i < 2; ++i) {
      const Workspace::Step step(workspace);
      model.step();
    }
    const Tensors expected = model.results();
    const cudaStream_t stream = cuda::compute_stream(gpu);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    {
      const Workspace::Step step(workspace);
      model.step();
    }
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    for (Tensor& gradient : model.gradients) gradient.fill_(NAN);
    model.loss.fill_(NAN);
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    expect_same(model.results(), expected);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
}

}  // namespace
}  // namespace cladtorch
