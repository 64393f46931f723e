// Implementations of attention that are faster than ours, wrong or broken, for tests of the choice.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <fstream>

#include "cladtorch/ops/ops.h"
#include "cuda/choice_file.h"
#include "cuda/stream.h"
#include "ops/causal_attention/attention_choice.h"
#include "ops/causal_attention/attention_implementation.h"
#include "tensor/device_memory.h"
#include "tests/cuda/compare.h"

namespace cladtorch::cuda::testing {

/// slightly_wrong, incomplete and log2 are of the forward pass; stores, where it should add, of the pullback.
enum class Fault {
  none,
  wrong,
  slightly_wrong,
  not_finite,
  incomplete,
  stores,
  log2,
  failing,
  refusing,
  absent
};

inline AttentionImplementation& own() {
  for (AttentionImplementation* one : attention_implementations())
    if (one->name() == "own") return *one;
  throw Error("own is not registered");
}

/// Our own kernels once, and then copies of what they found: fast, and right as long as the operands are.
class Fake final : public AttentionImplementation {
 public:
  explicit Fake(std::string name) : name_(std::move(name)), registration_(*this) {}

  std::string name() const override { return name_; }
  std::string version() const override { return version_text; }
  std::string unavailable() const override { return fault == Fault::absent ? "nobody is here" : ""; }
  bool supports(const AttentionProblem& problem) const override {
    return problem.past == 0 && problem.dtype == DType::bfloat16;
  }
  size_t scratch_bytes(const AttentionProblem& problem) override {
    ++questions;
    if (has(Fault::refusing, problem)) throw Error("not this one");
    return extra_bytes + own().scratch_bytes(problem);
  }

  void forward(const AttentionProblem& problem, const detail::AttentionOperands& in, Tensor& y,
               Tensor& log_sum_exp, void* scratch) override {
    begin(problem, scratch);
    if (copies) {
      if (!y_.defined() || (log_sum_exp.defined() && !log_sum_exp_.defined())) {
        y_ = Tensor::empty(y.shape(), y.dtype(), cladtorch::testing::gpu);
        if (log_sum_exp.defined())
          log_sum_exp_ = Tensor::empty(log_sum_exp.shape(), log_sum_exp.dtype(), cladtorch::testing::gpu);
        own().forward(altered(problem), in, y_, log_sum_exp_, scratch);
      }
      detail::copy_on(cladtorch::testing::gpu, data(y), data(y_),
                      y.nbytes() / (has(Fault::incomplete, problem) ? 2 : 1));
      if (log_sum_exp.defined())
        detail::copy_on(cladtorch::testing::gpu, data(log_sum_exp), data(log_sum_exp_), log_sum_exp.nbytes());
    } else {
      own().forward(altered(problem), in, y, log_sum_exp, scratch);
    }
    if (has(Fault::slightly_wrong, problem))
      detail::copy_on(cladtorch::testing::gpu, data(y), data(in.q), y.nbytes() / 32);
    if (has(Fault::not_finite, problem)) spoil(data(y));
    if (has(Fault::log2, problem) && log_sum_exp.defined()) log_sum_exp.copy_from(log_sum_exp * 1.442695);
  }

  void pullback(const AttentionProblem& problem, const detail::AttentionOperands& in, const Tensor& y,
                const Tensor& log_sum_exp, const Tensor& d_y,
                const std::array<detail::AttentionGradientPlace, 3>& to, void* scratch) override {
    begin(problem, scratch);
    auto places = to;
    if (has(Fault::stores, problem))
      for (auto& place : places) place.add = false;
    own().pullback(altered(problem), in, y, log_sum_exp, d_y, places, scratch);
    if (has(Fault::not_finite, problem))
      for (const auto& place : to)
        if (place.data != nullptr) return spoil(place.data);
  }

  Fault fault = Fault::none;
  AttentionPass pass = AttentionPass::forward;  ///< that has the fault
  bool copies = false;                          ///< only forward, and only for the operands of the first call
  size_t extra_bytes = 0;
  int calls = 0, questions = 0;
  std::string version_text;

 private:
  bool has(Fault one, const AttentionProblem& problem) const { return fault == one && problem.pass == pass; }
  static void* data(const Tensor& x) {
    return const_cast<void*>(x.dtype() == DType::bfloat16
                                 ? static_cast<const void*>(x.device_data<bfloat16>())
                                 : static_cast<const void*>(x.device_data<float>()));
  }
  static void spoil(void* to) {
    cudaMemsetAsync(to, 0xFF, sizeof(bfloat16), compute_stream(cladtorch::testing::gpu));
  }

  AttentionProblem altered(AttentionProblem problem) const {
    if (has(Fault::wrong, problem)) problem.layout.window = 2;
    return problem;
  }

  void begin(const AttentionProblem& problem, void* scratch) {
    ++calls;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch) % 256, 0u);
    const size_t bytes = scratch_bytes(problem);
    EXPECT_EQ(scratch == nullptr, bytes == 0);
    if (bytes > 0)
      cudaMemsetAsync(scratch, 0xFF, bytes, compute_stream(cladtorch::testing::gpu));  // all of it is there
    if (has(Fault::failing, problem)) throw Error("it does not work");
  }

  std::string name_;
  Tensor y_, log_sum_exp_;
  AttentionRegistration registration_;  // last: everything is there by then
};

/// Restores what the environment says.
class Variable {
 public:
  Variable(const char* name, const char* value)
      : name_(name), before_(std::getenv(name) ? std::getenv(name) : "") {
    setenv(name, value, 1);
  }
  ~Variable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

inline std::string choices_on_disk() {
  std::ifstream in(choice_path());
  return {std::istreambuf_iterator<char>(in), {}};
}
inline bool disk_says(const std::string& candidates, const std::string& choice) {
  return choices_on_disk().find(", " + candidates + '\t' + choice + '\n') != std::string::npos;
}

/// What the tests call, and what comes of it by our own kernels.
inline constexpr int64_t heads = 2;
inline const Tensor& qkv() {
  static const Tensor x = cladtorch::testing::normals({{2, 40, 3 * heads * 16}})[0]
                              .to(DType::bfloat16)
                              .to(cladtorch::testing::gpu);
  return x;
}
inline Tensor attend() { return causal_attention(qkv(), heads); }
inline Tensor expected() {
  const ForcedAttention forced("own");
  return attend();
}
inline Tensor gradient(Tensor d_qkv = {}) {
  clad::pullback_state<AttentionState> state;
  const Tensor y = clad::custom_derivatives::cladtorch::causal_attention_reverse_forw(qkv(), heads, state);
  clad::custom_derivatives::cladtorch::causal_attention_pullback(qkv(), heads, y, &d_qkv, state);
  return d_qkv;
}
inline Tensor expected_gradient(const Tensor& d_qkv = {}) {
  const ForcedAttention forced("own");
  return gradient(d_qkv.defined() ? d_qkv.clone() : d_qkv);
}

/// With what was written to stderr meanwhile.
template <class F>
auto watched(F f, std::string& lines) {
  ::testing::internal::CaptureStderr();
  auto result = f();
  lines = ::testing::internal::GetCapturedStderr();
  return result;
}

}  // namespace cladtorch::cuda::testing
