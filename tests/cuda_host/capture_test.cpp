// What is forbidden while a stream captures, and where a capture ends.
#include <thread>

#include "graphs_support.h"

namespace {
using namespace cuda_host::testing;

using CudaHostCapture = Graphs;

TEST_F(CudaHostCapture, WaitingForAStreamThatCapturesIsForbidden) {
  begin();
  EXPECT_EQ(cudaStreamSynchronize(streams_[0]), cudaErrorStreamCaptureUnsupported);
  expect_invalidated();
  begin();
  EXPECT_EQ(cudaStreamQuery(streams_[0]), cudaErrorStreamCaptureUnsupported);
  expect_invalidated();
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  expect_invalidated();
}

TEST_F(CudaHostCapture, UnsafeCallsAreForbiddenUnlessTheModeIsRelaxed) {
  Buffer<int> buffer(4);
  int host[4] = {};
  void* pointer = nullptr;
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    begin(mode);
    EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorStreamCaptureUnsupported);
    expect_invalidated();
    begin(mode);
    EXPECT_EQ(cudaMemcpy(buffer.get(), host, 16, cudaMemcpyHostToDevice), cudaErrorStreamCaptureUnsupported);
    expect_invalidated();
    begin(mode);
    EXPECT_EQ(cudaEventSynchronize(events_[0]), cudaErrorStreamCaptureUnsupported);
    expect_invalidated();
  }
  begin(cudaStreamCaptureModeRelaxed);
  expect_success(cudaMalloc(&pointer, 16));
  expect_success(cudaFree(pointer));
  expect_success(cudaGraphDestroy(end()));
}

TEST_F(CudaHostCapture, AThreadCanRelaxItsOwnMode) {
  begin();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  expect_success(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  void* pointer = nullptr;
  expect_success(cudaMalloc(&pointer, 16));
  expect_success(cudaFree(pointer));
  expect_success(cudaThreadExchangeStreamCaptureMode(&mode));
  expect_success(cudaGraphDestroy(end()));
}

TEST_F(CudaHostCapture, OtherThreadsAreForbiddenUnsafeCallsInGlobalModeAlone) {
  const auto allocate_elsewhere = [] {
    cudaError_t error = cudaSuccess;
    std::thread([&] {
      void* pointer = nullptr;
      error = cudaMalloc(&pointer, 16);
      if (error == cudaSuccess) error = cudaFree(pointer);
    }).join();
    return error;
  };
  begin(cudaStreamCaptureModeThreadLocal);
  expect_success(allocate_elsewhere());
  expect_success(cudaGraphDestroy(end()));
  begin(cudaStreamCaptureModeGlobal);
  EXPECT_EQ(allocate_elsewhere(), cudaErrorStreamCaptureUnsupported);
  expect_invalidated();
}

TEST_F(CudaHostCapture, TheDefaultStreamCannotBeUsedWhileABlockingStreamCaptures) {
  cudaStream_t blocking = nullptr;
  expect_success(cudaStreamCreate(&blocking));
  expect_success(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
  EXPECT_EQ(launch({dim3(1), dim3(1)}, set_value, pinned_, 1), cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
  expect_success(cudaStreamDestroy(blocking));
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed), cudaErrorStreamCaptureUnsupported);
}

TEST_F(CudaHostCapture, EventsDoNotCrossTheBorderOfACapture) {
  expect_success(cudaEventRecord(events_[0], streams_[1]));
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(streams_[0], events_[0]), cudaErrorStreamCaptureIsolation);
  expect_invalidated();
  begin();
  expect_success(cudaEventRecord(events_[0], streams_[0]));
  EXPECT_EQ(cudaEventQuery(events_[0]), cudaErrorCapturedEvent);
  expect_invalidated();
  begin();
  expect_success(cudaEventRecord(events_[0], streams_[0]));
  expect_success(cudaStreamBeginCapture(streams_[1], cudaStreamCaptureModeThreadLocal));
  EXPECT_EQ(cudaStreamWaitEvent(streams_[1], events_[0]), cudaErrorStreamCaptureMerge);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(streams_[1], &graph), cudaErrorStreamCaptureInvalidated);
  expect_invalidated();
}

TEST_F(CudaHostCapture, ACaptureEndsWhereItBegan) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(streams_[0], &graph), cudaErrorIllegalState);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
  cudaError_t error = cudaSuccess;
  std::thread([&] { error = cudaStreamEndCapture(streams_[0], &graph); }).join();
  EXPECT_EQ(error, cudaErrorStreamCaptureWrongThread);
  expect_success(cudaEventRecord(events_[0], streams_[0]));
  expect_success(cudaStreamWaitEvent(streams_[1], events_[0]));
  EXPECT_EQ(cudaStreamEndCapture(streams_[1], &graph), cudaErrorStreamCaptureUnmatched);
  expect_invalidated();
}

}  // namespace
