// What a workspace records and replays.
#pragma once

#include <vector>

#include "cladtorch/tensor/workspace.h"
#include "tensor/arena.h"

namespace cladtorch {

namespace detail {
/// The workspace whose step is open on this thread, or null.
Workspace* current_workspace();
}  // namespace detail

struct Workspace::Implementation {
  void begin();
  void end();
  void reset();
  /// Gives `storage` its data: the planned place while the step follows the plan, else any free one.
  void allocate(detail::Storage& storage, Workspace* owner);
  /// Records the release; the caller frees heap data.
  void release(detail::Storage& storage);

  /// One event of a step: bytes of an allocation (>= 0), or -1 - sequence number of a release.
  using Event = int64_t;

  bool open = false;
  WorkspaceStatistics statistics;

 private:
  /// Whether `event` is what the plan has next; if not, the rest of the step is placed and recorded as it
  /// comes.
  bool follow(Event event);
  void stop_following();
  /// Offset in the arena, or Arena::no_place.
  size_t place_of(Event event, size_t sequence);
  void move_out_survivors();
  void make_plan();

  bool following_ = false;
  size_t position_ = 0;                 // next event of the plan
  std::vector<Event> recorded_;         // this step's events, when not following
  std::vector<Event> planned_;          // the plan's events
  std::vector<size_t> offsets_;         // per allocation of the plan; no_place: outlived its step, so heap
  std::vector<detail::Storage*> live_;  // per allocation of this step; null once released
  detail::Arena arena_;
};

}  // namespace cladtorch
