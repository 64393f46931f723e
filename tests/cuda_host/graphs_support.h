// What the tests of graphs share: streams, events and the frame of a capture.
#pragma once

#include "support.h"

namespace cuda_host::testing {

__global__ inline void set_value(int* address, int value) { *address = value; }

class Graphs : public ::testing::Test {
 protected:
  void SetUp() override {
    for (cudaStream_t& stream : streams_)
      expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (cudaEvent_t& event : events_)
      expect_success(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    expect_success(cudaMallocHost(&pinned_, 64 * sizeof(int)));
    for (int i = 0; i < 64; ++i) pinned_[i] = 0;
  }
  void TearDown() override {
    for (cudaStream_t stream : streams_) expect_success(cudaStreamDestroy(stream));
    for (cudaEvent_t event : events_) expect_success(cudaEventDestroy(event));
    expect_success(cudaFreeHost(pinned_));
    cudaGetLastError();
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    expect_success(cudaStreamBeginCapture(streams_[0], mode));
  }
  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    expect_success(cudaStreamEndCapture(streams_[0], &graph));
    return graph;
  }
  // Ends a capture that a forbidden call has spoiled.
  void expect_invalidated() {
    cudaStreamCaptureStatus status{};
    expect_success(cudaStreamIsCapturing(streams_[0], &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 1),
              cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(streams_[0], &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    expect_success(cudaStreamIsCapturing(streams_[0], &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  }
  cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t executable = nullptr;
    expect_success(cudaGraphInstantiate(&executable, graph, 0));
    expect_success(cudaGraphDestroy(graph));
    return executable;
  }

  cudaStream_t streams_[3] = {};
  cudaEvent_t events_[2] = {};
  int* pinned_ = nullptr;
};

}  // namespace cuda_host::testing
