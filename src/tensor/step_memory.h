// What a workspace records and replays on one device.
#pragma once

#include <memory>
#include <vector>

#include "cladtorch/tensor/workspace.h"
#include "tensor/arena.h"

namespace cladtorch {
namespace detail {

/// The workspace whose step is open on this thread, or null.
Workspace* current_workspace();

class StepMemory {
 public:
  explicit StepMemory(Device device) : arena_(device), device_(device) {}

  void begin();
  void end();
  void reset();
  /// Gives `storage` its data: the planned place while the step follows the plan, else any free one.
  void allocate(Storage& storage, Workspace* owner);
  /// Records the release; the caller frees heap data.
  void release(Storage& storage);

  Device device() const { return device_; }
  const WorkspaceStatistics& statistics() const { return statistics_; }

 private:
  /// One event of a step: bytes of an allocation (>= 0), or -1 - sequence number of a release.
  using Event = int64_t;

  /// Where the allocations of one sequence of events lie. Plans whose sequences begin alike place what they
  /// share at the same offsets: a step may change from one to another where they part.
  struct Plan {
    std::vector<Event> events;
    std::vector<size_t> offsets;  // per allocation; Arena::no_place: it outlived its step, so heap
    size_t bytes = 0, live_bytes = 0, naive_bytes = 0;
    int64_t last_used = 0;
  };

  /// Whether `event` is what a plan has next; if not, the rest of the step is placed and recorded as it
  /// comes.
  bool follow(Event event);
  bool change_plan(Event event);
  void stop_following();
  /// Offset in the arena, or Arena::no_place.
  size_t place_of(Event event, size_t sequence);
  bool any_survivor_in_arena() const;
  void move_out_survivors();
  void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) const;
  void make_plan();
  void use(Plan& plan);
  /// What the largest of the plans needs.
  size_t largest_plan() const;

  bool following_ = false;
  size_t plan_ = 0;      // the one followed, or followed last
  size_t position_ = 0;  // next event of that plan
  size_t shared_ = 0;    // allocations of this step that were placed by that plan
  std::vector<Plan> plans_;
  std::vector<Event> recorded_;  // this step's events, when not following
  std::vector<Storage*> live_;   // per allocation of this step; null once released
  Arena arena_;
  Device device_;
  WorkspaceStatistics statistics_;
};

}  // namespace detail

struct Workspace::Implementation {
  /// That of `device`; made, and its step begun, when it is first asked for.
  detail::StepMemory& memory_of(Device device);
  const detail::StepMemory* find(Device device) const;

  bool open = false;
  std::vector<std::unique_ptr<detail::StepMemory>> memories;
};

}  // namespace cladtorch
