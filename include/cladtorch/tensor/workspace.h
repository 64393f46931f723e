// Memory that is planned once and replayed: from the second step on, tensors of a training step cost no heap
// allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cladtorch/tensor/storage.h"

namespace cladtorch {

struct WorkspaceStatistics {
  size_t planned_bytes = 0;           ///< memory that the last step's plan needs
  size_t live_bytes = 0;              ///< most bytes alive at once; no plan can be smaller
  size_t naive_bytes = 0;             ///< sum of all allocations of a step, which memory without reuse needs
  size_t arena_bytes = 0;             ///< memory held now
  int64_t steps = 0;                  ///< closed steps
  int64_t plans = 0;                  ///< how often a plan was made; 1 in steady state
  int64_t allocations = 0;            ///< tensor allocations of the last step
  int64_t unplanned_allocations = 0;  ///< allocations that the plan did not foresee
  int64_t heap_allocations = 0;       ///< allocations on the heap, for tensors that outlive their step
  int64_t moves = 0;                  ///< how often the arena moved to other memory; never on the CPU
};

/// Storage for the tensors made while a Step is open on this thread.
///
///     Workspace workspace;
///     for (...) {
///       Workspace::Step step(workspace);
///       ...                                  // tensors made and dropped here
///     }
///
/// The first step takes any free place of an arena and records the sequence of allocations and frees. At its
/// end offsets are planned from the lifetimes; later steps replay them by sequence number. If an
/// event differs from the plan (another shape, a tensor kept longer), the rest of the step takes free places
/// again, and its end makes another plan. The last eight plans are kept and found by their events, so that
/// steps of different shapes may alternate. The arena is a range of reserved addresses, of which only touched
/// pages take memory. A tensor that is still alive when its step closes stays valid, in its own storage.
/// Steps of different workspaces may nest; a workspace is used by one thread at a time.
///
/// Each device has its own arena and plans. The arena of a device other than the CPU is one allocation of the
/// size that the plan needs, made when a step begins to follow the plan. Until then, and after a step
/// deviates, tensors there are allocated one by one. A step in a DryRun plans without any memory.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  class Step {
   public:
    explicit Step(Workspace& workspace);
    ~Step();
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Workspace& workspace_;
    Workspace* outer_;
  };

  /// The statistics of the memory of one device.
  WorkspaceStatistics statistics(Device device = {}) const;
  /// Forgets the plan and returns the arena to the system. Do not call it while a step is open.
  void reset();

 private:
  friend detail::Storage* detail::allocate_storage(size_t bytes, Device device);
  friend void detail::free_storage(detail::Storage* storage) noexcept;
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cladtorch
