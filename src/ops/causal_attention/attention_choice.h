// Which implementation of causal attention runs: the fastest of those that agree with our own kernels, for
// each problem and direction. It is measured on the operands when a problem comes for the first time, and
// known to later processes from a file (cuda/choice_file.h).
#pragma once

#include <cstddef>
#include <string>

namespace cladtorch::cuda {

/// The environment's CLADTORCH_CUDA_ATTENTION is `auto`, the default, or the name of an implementation. While
/// one of these lives, it says so for this thread instead.
///
/// `auto`: our own while a graph is captured, unless the choice is known, and with CLADTORCH_CUDA_TUNING=off.
/// A name: that implementation wherever it supports the problem, unmeasured, else our own; Error if there is
/// no such one, if it is not available or if it cannot do what it supports.
class ForcedAttention {
 public:
  explicit ForcedAttention(std::string name);
  ~ForcedAttention();
  ForcedAttention(const ForcedAttention&) = delete;
  ForcedAttention& operator=(const ForcedAttention&) = delete;

 private:
  std::string outer_;
};

/// Implementations that want more memory to work in are not candidates. A DryRun, which cannot measure, plans
/// for the candidate that wants most; from the first step on the plan has what the chosen one wants.
inline constexpr size_t most_attention_scratch = size_t{512} << 20;

/// How far a candidate's result may be from ours, relative to it: bfloat16 has 8 bits. Log-sum-exps are
/// float, and other pullbacks read them: their convention must be ours.
inline constexpr double attention_tolerance = 2e-2, log_sum_exp_tolerance = 1e-3;

/// Forgets what this process has chosen. The file stays.
void forget_attention_choices();

}  // namespace cladtorch::cuda
