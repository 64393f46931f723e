#include "cuda/fastest.h"

#include <algorithm>
#include <array>

#include "cuda/check.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {
namespace {

constexpr int repetitions = 3;  // in one measurement
constexpr size_t measurements = 5;

class Event {
 public:
  Event() { CLADTORCH_CUDA_CALL(cudaEventCreate, &event_); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { CLADTORCH_CUDA_CALL(cudaEventRecord, event_, stream); }
  float milliseconds_since(const Event& start) const {
    float time = 0;
    CLADTORCH_CUDA_CALL(cudaEventSynchronize, event_);
    CLADTORCH_CUDA_CALL(cudaEventElapsedTime, &time, start.event_, event_);
    return time;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

float time_of(Device device, const std::function<bool()>& launch) {
  const cudaStream_t stream = compute_stream(device);
  if (!launch()) return never;
  Event start, end;
  std::array<float, measurements> times{};
  for (float& time : times) {
    start.record(stream);
    for (int i = 0; i < repetitions; ++i)
      if (!launch()) return never;
    end.record(stream);
    time = end.milliseconds_since(start) / repetitions;
  }
  std::nth_element(times.begin(), times.begin() + measurements / 2, times.end());
  return times[measurements / 2];
}

Fastest fastest(Device device, size_t count, const std::function<bool(size_t)>& launch) {
  Fastest best;
  for (size_t i = 0; i < count; ++i) {
    const float time = time_of(device, [&] { return launch(i); });
    if (time < best.milliseconds) best = {i, time};
  }
  return best;
}

}  // namespace cladtorch::cuda
