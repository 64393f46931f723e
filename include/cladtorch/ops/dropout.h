// Dropout with a counter-based mask, and the scope that switches it on.
#pragma once

#include <cstdint>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// While an object of this class lives, dropout on this thread is active. The masks are a function of (seed,
/// step, n-th dropout call in the scope, element), so a run that resumes at `step` draws the same ones.
/// Scopes nest.
class TrainingScope {
 public:
  TrainingScope(uint64_t seed, uint64_t step);
  /// The same for operations on a CUDA device, which read the step from device memory when they run: int32
  /// [2], the low word first. That memory must live as long as operations that were launched in the scope may
  /// run.
  TrainingScope(uint64_t seed, uint64_t step, const Tensor& step_on_device);
  ~TrainingScope();
  TrainingScope(const TrainingScope&) = delete;
  TrainingScope& operator=(const TrainingScope&) = delete;

  /// Whether a scope is alive on this thread.
  static bool is_active();
  /// Whether an operation that changes a buffer, such as a running mean, shall do so. Takes the next number
  /// of the thread's scope: false in a part of the forward pass that runs again (clad::checkpoint). True
  /// outside of any scope.
  static bool is_first_run();

 private:
  friend struct DropoutState;
  uint64_t seed_, step_;
  const int32_t* step_on_device_ = nullptr;
  uint32_t calls_ = 0, furthest_ = 0;
  uint32_t next_call();
  TrainingScope* outer_;
};

/// Which mask a dropout call drew.
struct DropoutState {
  bool active = false;
  uint64_t seed = 0, stream = 0;            ///< the stream is 2^24 times the step, plus the call
  const int32_t* step_on_device = nullptr;  ///< where the step lies, for a CUDA device; else null
  /// Takes the next stream of the thread's scope; inactive outside any scope.
  static DropoutState draw();
  /// The number of streams that the thread's scope has given; a call that runs again goes back to its start.
  static uint64_t drawn();
  static void rewind(uint64_t drawn);
};

/// Inside a TrainingScope, each element is 0 with `probability` and is otherwise divided by 1 - probability.
/// Outside, the result is x itself. Throws Error unless 0 <= probability < 1. Source: Srivastava et al.,
/// 2014.
Tensor dropout(const Tensor& x, double probability);

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::DropoutState;
using ::cladtorch::Tensor;

Tensor dropout_reverse_forw(const Tensor& x, double probability, pullback_state<DropoutState>& state);
/// Draws the mask again instead of keeping it. The mask is held fixed, so d_probability does not change: an
/// expectation over masks has no derivative along one draw.
void dropout_pullback(CLAD_UNUSED const Tensor& x, double probability, Tensor d_y, Tensor* d_x,
                      double* d_probability, pullback_state<DropoutState>& state);
}  // namespace clad::custom_derivatives::cladtorch
