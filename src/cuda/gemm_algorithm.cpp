#include "cuda/gemm_algorithm.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "cladtorch/error.h"
#include "cuda/check.h"
#include "cuda/gemm_algorithm_file.h"
#include "cuda/stream.h"
#include "tensor/device_memory.h"

namespace cladtorch::cuda {
namespace {

constexpr int most_candidates = 12;
constexpr int repetitions = 5;  // in one measurement
constexpr int measurements = 3;

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CLADTORCH_CUDA_CALL(cudaStreamIsCapturing, stream, &status);
  return status != cudaStreamCaptureStatusNone;
}

bool tuning_is_on() {
  const char* const setting = std::getenv("CLADTORCH_CUDA_TUNING");
  return setting == nullptr || std::string_view(setting) != "off";
}

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

/// Memory for a result that is thrown away.
class Discarded {
 public:
  Discarded(Device device, int64_t elements, DType dtype)
      : device_(device), bytes_(static_cast<size_t>(elements) * size_of(dtype)) {
    data_ = detail::allocate_on(device, bytes_);
  }
  ~Discarded() { detail::free_on(device_, data_); }
  Discarded(const Discarded&) = delete;
  Discarded& operator=(const Discarded&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Device device_;
  size_t bytes_;
  std::byte* data_ = nullptr;
};

constexpr float never = std::numeric_limits<float>::infinity();

/// The least of several measurements of what `launch` puts into the stream; infinite if it fails.
template <class Launch>
float time_of(cudaStream_t stream, Launch launch) {
  if (!launch()) return never;  // warms up
  Event start, end;
  float best = never;
  for (int i = 0; i < measurements; ++i) {
    start.record(stream);
    for (int j = 0; j < repetitions; ++j) launch();
    end.record(stream);
    best = std::min(best, end.milliseconds_since(start) / repetitions);
  }
  return best;
}

struct Timed {
  cublasLtMatmulAlgo_t algorithm;
  float milliseconds;
};

Timed fastest(Device device, GemmPlan& plan, GemmOperands operands,
              const std::vector<cublasLtMatmulAlgo_t>& candidates) {
  const GemmProblem& x = plan.key().problem;
  std::optional<Discarded> discarded;
  if (x.add) {  // timing must not add
    const int64_t elements = (x.batch - 1) * x.c.batch + (x.m - 1) * x.c.stride + x.n;
    operands.c = discarded.emplace(device, elements, x.out).data();
  }
  const cublasLtHandle_t handle = cublas_lt(device);
  const cudaStream_t stream = compute_stream(device);
  Timed best{candidates.front(), never};
  for (const cublasLtMatmulAlgo_t& candidate : candidates) {
    const float time = time_of(
        stream, [&] { return plan.launch(handle, operands, candidate, stream) == CUBLAS_STATUS_SUCCESS; });
    if (time < best.milliseconds) best = {candidate, time};
  }
  return best;
}

/// Whether sums that come with the product are worth what they cost: less than reading the operand once more.
/// cuBLASLt has fewer algorithms that make them, and not its fastest.
bool sums_pay(Device device, const GemmKey& key, const GemmOperands& operands, float with_sums) {
  GemmProblem without = key.problem;
  without.epilogue = Epilogue::none;
  GemmPlan plan(GemmKey(without, operands));
  const auto candidates = plan.candidates(cublas_lt(device), operands, most_candidates);
  if (candidates.empty()) return true;
  const float product = fastest(device, plan, operands, candidates).milliseconds;
  // A copy reads and writes as much as sums read in twice its time; that leaves them their second kernel.
  const Discarded copied(device, key.problem.m * key.problem.k, key.problem.a_in);
  const cudaStream_t stream = compute_stream(device);
  const float copy = time_of(stream, [&] {
    return cudaMemcpyAsync(copied.data(), operands.a, copied.bytes(), cudaMemcpyDeviceToDevice, stream) ==
           cudaSuccess;
  });
  return with_sums <= product + copy;
}

/// In the file, that a product is not to be done in one go.
bool is_refusal(const GemmProblem& x, const cublasLtMatmulAlgo_t& algorithm) {
  return x.epilogue == Epilogue::row_sums && std::all_of(std::begin(algorithm.data), std::end(algorithm.data),
                                                         [](uint64_t word) { return word == 0; });
}

}  // namespace

bool choose_algorithm(Device device, GemmPlan& plan, const GemmOperands& operands) {
  const cublasLtHandle_t handle = cublas_lt(device);
  GemmAlgorithmFile& file = gemm_algorithm_file(device);
  const std::string name = plan.key().text();
  plan.algorithm = file.find(name);
  const bool refused = plan.algorithm && is_refusal(plan.key().problem, *plan.algorithm);
  if (!refused && plan.algorithm && plan.accepts(handle, operands, *plan.algorithm)) return true;
  plan.algorithm.reset();
  if (refused) return false;
  const std::vector<cublasLtMatmulAlgo_t> candidates = plan.candidates(handle, operands, most_candidates);
  if (candidates.empty()) return false;
  plan.algorithm = candidates.front();
  if (!tuning_is_on() || is_capturing(compute_stream(device))) return true;
  try {
    const Timed best = fastest(device, plan, operands, candidates);
    plan.algorithm = best.algorithm;
    if (plan.key().problem.epilogue == Epilogue::row_sums &&
        !sums_pay(device, plan.key(), operands, best.milliseconds))
      plan.algorithm.reset();
  } catch (const Error&) {  // no memory to time it
    return true;
  }
  file.add(name, plan.algorithm.value_or(cublasLtMatmulAlgo_t{}));
  return plan.algorithm.has_value();
}

}  // namespace cladtorch::cuda
