// Runs a step without its work, to find how much memory it takes.
#pragma once

namespace cladtorch {

/// While an object of this class lives on this thread, nothing happens on devices other than the CPU: no
/// kernel runs, nothing is copied to or from them, and tensors that a Workspace::Step allocates there have
/// addresses but no memory. So a step can plan its memory before it takes any, even for sizes that would not
/// fit:
///
///     Workspace workspace;
///     {
///       const DryRun dry;
///       const Workspace::Step step(workspace);
///       loss_and_gradient(model, tokens, targets, &gradient);   // the returned number means nothing
///     }
///     workspace.statistics(device).planned_bytes;
///
/// Tensors that such a step leaves behind on a device cannot be used. On the CPU everything runs.
class DryRun {
 public:
  DryRun() : outer_(active_) { active_ = true; }
  ~DryRun() { active_ = outer_; }
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  static bool active() { return active_; }

 private:
  static inline thread_local bool active_ = false;
  bool outer_;
};

}  // namespace cladtorch
