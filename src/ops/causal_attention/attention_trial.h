// Running implementations of attention beside each other, with results in memory of their own.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "ops/causal_attention/attention_implementation.h"
#include "ops/causal_attention/row_difference.h"

namespace cladtorch::cuda {

/// Memory for an implementation to work in.
class AttentionScratch {
 public:
  AttentionScratch(Device device, size_t bytes);
  void* data() const { return data_; }

 private:
  Tensor memory_;
  void* data_ = nullptr;
};

struct AttentionCandidate {
  AttentionImplementation* implementation = nullptr;
  size_t scratch_bytes = 0;
};

struct AttentionTrial {
  struct Result {
    ComparedRows rows;
    double tolerance = 0;
  };
  struct Memory {
    Tensor tensor;
    bool add = false;  ///< whether calls add to it
  };

  std::vector<Memory> memory;
  std::vector<Result> results;  ///< in that memory
  std::function<void(AttentionImplementation&, void* scratch)> call;
};

AttentionTrial forward_trial(const AttentionProblem& problem, const detail::AttentionOperands& in);
AttentionTrial pullback_trial(const AttentionProblem& problem, const detail::AttentionOperands& in,
                              const Tensor& y, const Tensor& log_sum_exp, const Tensor& d_y,
                              const std::array<detail::AttentionGradientPlace, 3>& to);

/// The number of the fastest candidate whose results agree with those of the first, our own; one that fails
/// or does not agree is left out with a line on stderr. Nothing if there is no memory for it, with a line
/// too, or if the operands make our own results not finite.
std::optional<size_t> fastest_attention(const AttentionProblem& problem,
                                        std::span<const AttentionCandidate> candidates,
                                        const std::function<AttentionTrial()>& make);

/// The line.
void report_left_out(const AttentionProblem& problem, const AttentionImplementation& implementation,
                     const std::string& reason);

}  // namespace cladtorch::cuda
