// Capturing streams and launching what was captured.
#include "graphs_support.h"

namespace {
using namespace cuda_host::testing;

using CudaHostGraphs = Graphs;

__global__ void add(int* target, const int* source, int factor) { *target += *source * factor; }

TEST_F(CudaHostGraphs, WhatIsCapturedRunsWhenTheGraphIsLaunchedAndAsOftenAsThat) {
  begin();
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, add, pinned_, pinned_ + 1, 10));
  cudaStreamCaptureStatus status{};
  expect_success(cudaStreamIsCapturing(streams_[0], &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  const cudaGraphExec_t executable = instantiate(end());
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[0], 0);
  const auto before = cuda_host::statistics();
  for (int i = 1; i <= 3; ++i) {
    pinned_[1] = i;
    expect_success(cudaGraphLaunch(executable, streams_[1]));
    expect_success(cudaStreamSynchronize(streams_[1]));
  }
  EXPECT_EQ(pinned_[0], 60);
  EXPECT_EQ(cuda_host::statistics().graphs_launched, before.graphs_launched + 3);
  EXPECT_EQ(cuda_host::statistics().kernels_launched, before.kernels_launched + 3);
  expect_success(cudaGraphExecDestroy(executable));
}

TEST_F(CudaHostGraphs, AGraphKeepsArgumentsAndPlaceInItsStream) {
  int factor = 2;
  begin();
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, add, pinned_, pinned_ + 1, factor));
  factor = 100;
  const cudaGraphExec_t executable = instantiate(end());
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_ + 1, 4));
  expect_success(cudaGraphLaunch(executable, streams_[0]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, add, pinned_ + 2, pinned_, 1));
  expect_success(cudaGraphExecDestroy(executable));  // what is launched goes on
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[2], 8);
}

TEST_F(CudaHostGraphs, CopiesAndFillsAreCaptured) {
  Buffer<int> buffer(4);
  std::vector<int> pageable(4, 5), result(4, 0);
  begin();
  expect_success(cudaMemcpyAsync(buffer.get(), pageable.data(), 16, cudaMemcpyHostToDevice, streams_[0]));
  expect_success(cudaMemsetAsync(buffer.get(), 0, 4, streams_[0]));
  expect_success(cudaMemcpyAsync(result.data(), buffer.get(), 16, cudaMemcpyDeviceToHost, streams_[0]));
  const cudaGraph_t graph = end();
  EXPECT_EQ(result[1], 0);
  size_t count = 0;
  expect_success(cudaGraphGetNodes(graph, nullptr, &count));
  ASSERT_EQ(count, 3u);
  cudaGraphNode_t nodes[3] = {};
  expect_success(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphNodeType type{};
  expect_success(cudaGraphNodeGetType(nodes[1], &type));
  EXPECT_EQ(type, cudaGraphNodeTypeMemset);
  const cudaGraphExec_t executable = instantiate(graph);
  pageable.assign(4, 6);  // read at each launch
  const auto before = cuda_host::statistics();
  expect_success(cudaGraphLaunch(executable, streams_[0]));
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(result, (std::vector<int>{0, 6, 6, 6}));
  EXPECT_EQ(cuda_host::statistics().bytes_copied, before.bytes_copied + 32);
  expect_success(cudaGraphExecDestroy(executable));
}

TEST_F(CudaHostGraphs, StreamsThatAreJoinedByEventsAreCapturedToo) {
  begin();
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 3));
  expect_success(cudaEventRecord(events_[0], streams_[0]));
  expect_success(cudaStreamWaitEvent(streams_[1], events_[0]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[1]}, add, pinned_ + 1, pinned_, 2));
  expect_success(cudaEventRecord(events_[1], streams_[1]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, add, pinned_ + 2, pinned_, 5));
  expect_success(cudaStreamWaitEvent(streams_[0], events_[1]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, add, pinned_ + 1, pinned_ + 2, 1));
  const cudaGraph_t graph = end();
  cudaStreamCaptureStatus status{};
  expect_success(cudaStreamIsCapturing(streams_[1], &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  const cudaGraphExec_t executable = instantiate(graph);
  for (int i = 0; i < 20; ++i) {
    pinned_[1] = pinned_[2] = 0;
    expect_success(cudaGraphLaunch(executable, streams_[2]));
    expect_success(cudaStreamSynchronize(streams_[2]));
    ASSERT_EQ(pinned_[1], 21);
  }
  expect_success(cudaGraphExecDestroy(executable));
}

TEST_F(CudaHostGraphs, BranchesOfAGraphRunInAnyOrder) {
  begin();
  expect_success(cudaEventRecord(events_[0], streams_[0]));
  expect_success(cudaStreamWaitEvent(streams_[1], events_[0]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 1));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[1]}, set_value, pinned_, 2));
  expect_success(cudaEventRecord(events_[1], streams_[1]));
  expect_success(cudaStreamWaitEvent(streams_[0], events_[1]));
  const cudaGraphExec_t executable = instantiate(end());
  int sum = 0;
  for (int i = 0; i < 40; ++i) {
    expect_success(cudaGraphLaunch(executable, streams_[0]));
    expect_success(cudaStreamSynchronize(streams_[0]));
    sum += pinned_[0];
  }
  EXPECT_GT(sum, 40);
  EXPECT_LT(sum, 80);
  expect_success(cudaGraphExecDestroy(executable));
}

TEST_F(CudaHostGraphs, AStreamThatIsNotJoinedBackSpoilsTheCapture) {
  begin();
  expect_success(cudaEventRecord(events_[0], streams_[0]));
  expect_success(cudaStreamWaitEvent(streams_[1], events_[0]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[1]}, set_value, pinned_, 1));
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(streams_[0], &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(CudaHostGraphs, AnExecutableTakesNewArguments) {
  const auto capture = [&](int value, bool twice) {
    begin();
    expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, value));
    if (twice) expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_ + 1, value));
    return end();
  };
  const cudaGraphExec_t executable = instantiate(capture(1, false));
  expect_success(cudaGraphLaunch(executable, streams_[0]));
  cudaGraph_t graph = capture(2, false);
  cudaGraphExecUpdateResultInfo info{};
  expect_success(cudaGraphExecUpdate(executable, graph, &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  expect_success(cudaGraphDestroy(graph));
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[0], 1);  // launched before
  expect_success(cudaGraphLaunch(executable, streams_[0]));
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[0], 2);
  graph = capture(3, true);
  EXPECT_EQ(cudaGraphExecUpdate(executable, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  expect_success(cudaGraphDestroy(graph));
  begin();
  expect_success(cudaMemcpyAsync(pinned_ + 1, pinned_, 4, cudaMemcpyDefault, streams_[0]));
  graph = end();
  EXPECT_EQ(cudaGraphExecUpdate(executable, graph, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  expect_success(cudaGraphDestroy(graph));
  expect_success(cudaGraphExecDestroy(executable));
}

TEST_F(CudaHostGraphs, HandlesThatAreNoneAreRefused) {
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(nullptr, streams_[0]), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(nullptr), cudaErrorInvalidValue);
  begin();
  const cudaGraph_t graph = end();
  size_t count = 1;
  expect_success(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 0u);
  executable = instantiate(graph);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  expect_success(cudaGraphLaunch(executable, streams_[0]));
  expect_success(cudaGraphExecDestroy(executable));
}

}  // namespace
