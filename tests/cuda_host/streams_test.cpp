// Streams and events: work runs late, in the order that streams and events ask for and in no other.
#include <set>
#include <thread>

#include "support.h"

namespace {
using namespace cuda_host::testing;

class CudaHostStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    cudaGetLastError();  // of a test before, in one process
    for (cudaStream_t& stream : streams_)
      expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    expect_success(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    expect_success(cudaMallocHost(&pinned_, 64 * sizeof(int)));
  }
  void TearDown() override {
    for (cudaStream_t stream : streams_) expect_success(cudaStreamDestroy(stream));
    expect_success(cudaEventDestroy(event_));
    expect_success(cudaFreeHost(pinned_));
    expect_success(cudaGetLastError());
  }

  cudaStream_t streams_[2] = {};
  cudaEvent_t event_ = nullptr;
  int* pinned_ = nullptr;
};

__global__ void set_value(int* address, int value) { *address = value; }
__global__ void copy_value(int* target, const int* source) { *target = *source; }
__global__ void double_value(int* address) { *address *= 2; }

TEST_F(CudaHostStreams, WorkRunsWhenTheHostWaitsAndNotBefore) {
  pinned_[0] = 1;
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 2));
  EXPECT_EQ(pinned_[0], 1);
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[0], 2);
}

TEST_F(CudaHostStreams, WorkOfAStreamKeepsItsOrder) {
  pinned_[0] = 1;
  for (int i = 0; i < 10; ++i)
    expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, double_value, pinned_));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, copy_value, pinned_ + 1, pinned_));
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[1], 1024);
}

TEST_F(CudaHostStreams, ALongQueueStartsToRun) {
  pinned_[0] = 0;
  for (int i = 1; i <= 65; ++i)
    expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, i));
  EXPECT_EQ(pinned_[0], 33);
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[0], 65);
}

TEST_F(CudaHostStreams, AnEventOrdersTwoStreams) {
  for (int i = 0; i < 50; ++i) {
    pinned_[0] = pinned_[1] = 0;
    expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, i));
    expect_success(cudaEventRecord(event_, streams_[0]));
    expect_success(cudaStreamWaitEvent(streams_[1], event_));
    expect_success(launch({dim3(1), dim3(1), 0, streams_[1]}, copy_value, pinned_ + 1, pinned_));
    expect_success(cudaStreamSynchronize(streams_[1]));
    ASSERT_EQ(pinned_[1], i);
  }
}

TEST_F(CudaHostStreams, AMissingEventShowsInSomeOfTheRuns) {
  std::set<int> results;
  for (int i = 0; i < 50; ++i) {
    pinned_[0] = pinned_[1] = 0;
    expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 1));
    expect_success(launch({dim3(1), dim3(1), 0, streams_[1]}, copy_value, pinned_ + 1, pinned_));
    expect_success(cudaStreamSynchronize(streams_[1]));
    expect_success(cudaStreamSynchronize(streams_[0]));
    results.insert(pinned_[1]);
  }
  EXPECT_EQ(results, (std::set<int>{0, 1}));
}

TEST_F(CudaHostStreams, AnEventStandsForWhatWasQueuedWhenItWasRecorded) {
  pinned_[0] = 0;
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 1));
  expect_success(cudaEventRecord(event_, streams_[0]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 2));
  expect_success(cudaEventSynchronize(event_));
  EXPECT_EQ(pinned_[0], 1);
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[0], 2);
}

TEST_F(CudaHostStreams, AQueryMakesProgress) {
  for (int i = 0; i < 5; ++i)
    expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, i));
  expect_success(cudaEventRecord(event_, streams_[0]));
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(streams_[0]), cudaErrorNotReady);
  int queries = 0;
  while (cudaEventQuery(event_) == cudaErrorNotReady) ASSERT_LT(++queries, 10);
  EXPECT_EQ(pinned_[0], 4);
  expect_success(cudaStreamQuery(streams_[0]));
}

TEST_F(CudaHostStreams, AnEventThatWasNeverRecordedIsDone) {
  expect_success(cudaEventQuery(event_));
  expect_success(cudaEventSynchronize(event_));
  expect_success(cudaStreamWaitEvent(streams_[0], event_));
}

TEST_F(CudaHostStreams, TimeBetweenEvents) {
  cudaEvent_t start = nullptr, end = nullptr;
  expect_success(cudaEventCreate(&start));
  expect_success(cudaEventCreate(&end));
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  expect_success(cudaEventRecord(start, streams_[0]));
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 1));
  expect_success(cudaEventRecord(end, streams_[0]));
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  expect_success(cudaEventSynchronize(end));
  expect_success(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_GT(milliseconds, 0.0f);
  expect_success(cudaEventRecord(event_, streams_[0]));
  expect_success(cudaEventSynchronize(event_));
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, event_), cudaErrorInvalidResourceHandle);
  expect_success(cudaEventDestroy(start));
  expect_success(cudaEventDestroy(end));
  cudaGetLastError();
}

TEST_F(CudaHostStreams, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  cudaStream_t blocking = nullptr;
  expect_success(cudaStreamCreate(&blocking));
  for (int i = 0; i < 30; ++i) {
    pinned_[0] = pinned_[1] = pinned_[2] = 0;
    expect_success(launch({dim3(1), dim3(1), 0, blocking}, set_value, pinned_, 7));
    expect_success(launch({dim3(1), dim3(1)}, copy_value, pinned_ + 1, pinned_));
    expect_success(launch({dim3(1), dim3(1), 0, blocking}, copy_value, pinned_ + 2, pinned_ + 1));
    expect_success(cudaStreamSynchronize(blocking));
    ASSERT_EQ(pinned_[2], 7);
  }
  expect_success(cudaStreamDestroy(blocking));
}

TEST_F(CudaHostStreams, TheDefaultStreamDoesNotWaitForANonBlockingOne) {
  pinned_[0] = 0;
  expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 7));
  Buffer<int> buffer(1);
  int zero = 0;
  std::set<int> seen;
  for (int i = 0; i < 20; ++i) {
    pinned_[0] = 0;
    expect_success(launch({dim3(1), dim3(1), 0, streams_[0]}, set_value, pinned_, 7));
    expect_success(cudaMemcpy(buffer.get(), &zero, sizeof(int), cudaMemcpyHostToDevice));
    seen.insert(pinned_[0]);
  }
  EXPECT_TRUE(seen.contains(0));
}

TEST_F(CudaHostStreams, ADestroyedStreamFinishesItsWork) {
  cudaStream_t stream = nullptr;
  expect_success(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
  int priority = 0;
  unsigned flags = 0;
  expect_success(cudaStreamGetPriority(stream, &priority));
  expect_success(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQ(priority, -1);
  EXPECT_EQ(flags, cudaStreamNonBlocking);
  expect_success(launch({dim3(1), dim3(1), 0, stream}, set_value, pinned_, 5));
  expect_success(cudaStreamDestroy(stream));
  EXPECT_EQ(pinned_[0], 5);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_F(CudaHostStreams, PageableMemoryIsReadBeforeTheCallReturns) {
  int source = 1, target = 0;
  Buffer<int> buffer(1);
  expect_success(cudaMemcpyAsync(buffer.get(), &source, sizeof(int), cudaMemcpyHostToDevice, streams_[0]));
  source = 2;
  expect_success(cudaMemcpyAsync(&target, buffer.get(), sizeof(int), cudaMemcpyDeviceToHost, streams_[0]));
  EXPECT_EQ(target, 1);
}

TEST_F(CudaHostStreams, PinnedMemoryIsReadAndWrittenLater) {
  Buffer<int> buffer(1);
  pinned_[0] = 1;
  pinned_[1] = 0;
  expect_success(cudaMemcpyAsync(buffer.get(), pinned_, sizeof(int), cudaMemcpyHostToDevice, streams_[0]));
  pinned_[0] = 2;
  expect_success(
      cudaMemcpyAsync(pinned_ + 1, buffer.get(), sizeof(int), cudaMemcpyDeviceToHost, streams_[0]));
  EXPECT_EQ(pinned_[1], 0);
  expect_success(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(pinned_[1], 2);
}

TEST_F(CudaHostStreams, CopiesWithinTheDeviceDoNotMakeTheHostWait) {
  Buffer<int> a(std::vector<int>{3}), b(1);
  const size_t waits = cuda_host::statistics().waits;
  expect_success(cudaMemcpy(b.get(), a.get(), sizeof(int), cudaMemcpyDeviceToDevice));
  EXPECT_EQ(cuda_host::statistics().waits, waits);
  EXPECT_EQ(b.values()[0], 3);
}

TEST_F(CudaHostStreams, WaitingForTheDeviceFinishesAllStreams) {
  for (int i = 0; i < 2; ++i)
    expect_success(launch({dim3(1), dim3(1), 0, streams_[i]}, set_value, pinned_ + i, 9));
  expect_success(launch({dim3(1), dim3(1)}, set_value, pinned_ + 2, 9));
  expect_success(cudaDeviceSynchronize());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pinned_[i], 9);
}

TEST_F(CudaHostStreams, ThreadsOfTheHostWorkSideBySide) {
  std::vector<std::thread> threads;
  std::vector<int> results(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&results, t] {
      cudaStream_t stream = nullptr;
      expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      Buffer<int> buffer(std::vector<int>{t + 1});
      for (int i = 0; i < 20; ++i)
        expect_success(launch({dim3(1), dim3(1), 0, stream}, double_value, buffer.get()));
      expect_success(cudaMemcpyAsync(&results[t], buffer.get(), sizeof(int), cudaMemcpyDeviceToHost, stream));
      expect_success(cudaStreamDestroy(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(results[t], (t + 1) << 20);
}

}  // namespace
