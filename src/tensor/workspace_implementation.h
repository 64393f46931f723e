// What a workspace records and replays.
#pragma once

#include <vector>

#include "cladtorch/tensor/workspace.h"

namespace cladtorch {

namespace detail {
/// The workspace whose step is open on this thread, or null.
Workspace* current_workspace();
}  // namespace detail

struct Workspace::Implementation {
  ~Implementation();

  void begin();
  void end();
  void reset();
  /// Gives `storage` its data: the planned place while the step follows the plan, else heap.
  void allocate(detail::Storage& storage, Workspace* owner);
  /// Records the release; the caller frees heap data.
  void release(detail::Storage& storage);

  /// One event of a step: bytes of an allocation (>= 0), or -1 - sequence number of a release.
  using Event = int64_t;

  bool open = false;
  WorkspaceStatistics statistics;

 private:
  /// Whether `event` is what the plan has next; if not, the rest of the step is recorded on the heap.
  bool follow(Event event);
  void stop_following();
  void move_out_survivors();
  void make_plan();
  void resize_arena(size_t bytes);

  bool following_ = false;
  size_t position_ = 0;                 // next event of the plan
  std::vector<Event> recorded_;         // this step's events, when not following
  std::vector<Event> planned_;          // the plan's events
  std::vector<int64_t> offsets_;        // per allocation of the plan; -1: outlived its step, so heap
  std::vector<detail::Storage*> live_;  // per allocation of this step; null once released
  std::byte* arena_ = nullptr;
};

}  // namespace cladtorch
