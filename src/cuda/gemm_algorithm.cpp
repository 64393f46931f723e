#include "cuda/gemm_algorithm.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <type_traits>

#include "cladtorch/error.h"
#include "cuda/choice_file.h"
#include "cuda/fastest.h"
#include "cuda/stream.h"
#include "cuda/tuning.h"
#include "tensor/device_memory.h"

namespace cladtorch::cuda {
namespace {

constexpr int most_candidates = 12;
constexpr size_t words = std::extent_v<decltype(cublasLtMatmulAlgo_t::data)>;
constexpr size_t digits = 16;  // of a word

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

struct Timed {
  cublasLtMatmulAlgo_t algorithm;
  float milliseconds;
};

Timed fastest_of(Device device, GemmPlan& plan, GemmOperands operands,
                 const std::vector<cublasLtMatmulAlgo_t>& candidates) {
  const GemmProblem& x = plan.key().problem;
  std::optional<Discarded> discarded;
  if (x.add) {  // timing must not add
    const int64_t elements = (x.batch - 1) * x.c.batch + (x.m - 1) * x.c.stride + x.n;
    operands.c = discarded.emplace(device, elements, x.out).data();
  }
  const cublasLtHandle_t handle = cublas_lt(device);
  const cudaStream_t stream = compute_stream(device);
  const Fastest best = fastest(device, candidates.size(), [&](size_t i) {
    return plan.launch(handle, operands, candidates[i], stream) == CUBLAS_STATUS_SUCCESS;
  });
  return {candidates[best.candidate], best.milliseconds};
}

/// Whether sums that come with the product are worth what they cost: less than reading the operand once more.
/// cuBLASLt has fewer algorithms that make them, and not its fastest.
bool sums_pay(Device device, const GemmKey& key, const GemmOperands& operands, float with_sums) {
  GemmProblem without = key.problem;
  without.epilogue = Epilogue::none;
  GemmPlan plan(GemmKey(without, operands));
  const auto candidates = plan.candidates(cublas_lt(device), operands, most_candidates);
  if (candidates.empty()) return true;
  const float product = fastest_of(device, plan, operands, candidates).milliseconds;
  // A copy reads and writes as much as sums read in twice its time; that leaves them their second kernel.
  const Discarded copied(device, key.problem.m * key.problem.k, key.problem.a_in);
  const cudaStream_t stream = compute_stream(device);
  const float copy = time_of(device, [&] {
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

std::string gemm_choice_key(const GemmKey& key) {
  return "product, cublasLt " + std::to_string(cublasLtGetVersion()) + ", " + key.text();
}

std::string text_of(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (const uint64_t word : algorithm.data)
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::optional<cublasLtMatmulAlgo_t> algorithm_of(const std::string& text) {
  if (text.size() != words * digits) return std::nullopt;
  cublasLtMatmulAlgo_t algorithm{};
  for (size_t i = 0; i < words; ++i) {
    const char *const begin = text.data() + i * digits, *const end = begin + digits;
    const auto [stopped, error] = std::from_chars(begin, end, algorithm.data[i], 16);
    if (error != std::errc() || stopped != end) return std::nullopt;
  }
  return algorithm;
}

bool choose_algorithm(Device device, GemmPlan& plan, const GemmOperands& operands) {
  const cublasLtHandle_t handle = cublas_lt(device);
  ChoiceFile& file = choice_file(device);
  const std::string name = gemm_choice_key(plan.key());
  if (const auto known = file.find(name)) plan.algorithm = algorithm_of(*known);
  const bool refused = plan.algorithm && is_refusal(plan.key().problem, *plan.algorithm);
  if (!refused && plan.algorithm && plan.accepts(handle, operands, *plan.algorithm)) return true;
  plan.algorithm.reset();
  if (refused) return false;
  const std::vector<cublasLtMatmulAlgo_t> candidates = plan.candidates(handle, operands, most_candidates);
  if (candidates.empty()) return false;
  plan.algorithm = candidates.front();
  if (!tuning_is_on() || is_capturing(device)) return true;
  try {
    const Timed best = fastest_of(device, plan, operands, candidates);
    plan.algorithm = best.algorithm;
    if (plan.key().problem.epilogue == Epilogue::row_sums &&
        !sums_pay(device, plan.key(), operands, best.milliseconds))
      plan.algorithm.reset();
  } catch (const Error&) {  // no memory to time it
    return true;
  }
  file.add(name, text_of(plan.algorithm.value_or(cublasLtMatmulAlgo_t{})));
  return plan.algorithm.has_value();
}

}  // namespace cladtorch::cuda
