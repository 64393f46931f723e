// Ways to compute causal attention on CUDA devices. attention_choice.h says which of them runs.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "ops/causal_attention/attention_on_device.h"

namespace cladtorch::cuda {

enum class AttentionPass { forward, pullback };

/// A call without its data: what an implementation is asked about and chosen for.
struct AttentionProblem {
  struct Operand {
    int64_t batch = 0, row = 0;  ///< elements from one sequence, and from one position, to the next
  };
  struct Gradient {
    bool wanted = false, add = false;
    int64_t row = 0;
  };

  AttentionPass pass = AttentionPass::forward;
  Device device;
  DType dtype = DType::float32;
  detail::AttentionLayout layout{};
  int64_t past = 0;              ///< positions of k and v before the first query
  bool statistics = false;       ///< whether the forward pass returns log-sum-exps
  int64_t alignment = 0;         ///< bytes that all addresses are multiples of; 16 at most
  std::array<Operand, 3> in{};   ///< q, k, v; y and d_y are dense
  std::array<Gradient, 3> to{};  ///< in a pullback

  static AttentionProblem forward(const detail::AttentionLayout& layout, const detail::AttentionOperands& in,
                                  int64_t past, const Tensor& y, const Tensor& log_sum_exp);
  static AttentionProblem pullback(const detail::AttentionLayout& layout, const detail::AttentionOperands& in,
                                   const Tensor& y, const Tensor& d_y,
                                   const std::array<detail::AttentionGradientPlace, 3>& to);

  /// Whether all tensors, and the sequences and positions of q, k and v, begin at multiples of 16 bytes.
  bool is_packed() const;

  /// Two problems are the same if these are.
  using Numbers = std::array<int64_t, 24>;
  Numbers numbers() const;
  /// Words and numbers that name it in a file, without the device.
  std::string text() const;
};

/// All throw Error where they fail. Results are the same bits in every run. Nothing is called in a DryRun but
/// what asks.
class AttentionImplementation {
 public:
  virtual ~AttentionImplementation() = default;

  /// A word; the one of this project's kernels is `own`.
  virtual std::string name() const = 0;
  /// Of the library it comes from, if any: a choice is good for one.
  virtual std::string version() const { return {}; }
  /// Why it cannot be used in this process; empty if it can.
  virtual std::string unavailable() const { return {}; }
  /// Whether problems of this kind are its business at all. Called before each call; cheap.
  virtual bool supports(const AttentionProblem& problem) const = 0;
  /// Memory to work in, which the caller brings. Throws Error if this problem cannot be done after all.
  virtual size_t scratch_bytes(const AttentionProblem& problem) = 0;

  /// As attention_on_device; `scratch` is at a multiple of 256 bytes, or null if it wants none.
  virtual void forward(const AttentionProblem& problem, const detail::AttentionOperands& in, Tensor& y,
                       Tensor& log_sum_exp, void* scratch) = 0;
  /// As attention_pullback_on_device.
  virtual void pullback(const AttentionProblem& problem, const detail::AttentionOperands& in, const Tensor& y,
                        const Tensor& log_sum_exp, const Tensor& d_y,
                        const std::array<detail::AttentionGradientPlace, 3>& to, void* scratch) = 0;
};

/// All that are registered.
std::vector<AttentionImplementation*> attention_implementations();

/// Makes an implementation known for as long as this lives: in its file as a constant, or in a test.
class AttentionRegistration {
 public:
  explicit AttentionRegistration(AttentionImplementation& implementation);
  ~AttentionRegistration();
  AttentionRegistration(const AttentionRegistration&) = delete;
  AttentionRegistration& operator=(const AttentionRegistration&) = delete;

 private:
  AttentionImplementation* implementation_;
};

}  // namespace cladtorch::cuda
