#include "cladtorch/tensor/workspace.h"

#include <cassert>
#include <cstring>

#include "cladtorch/error.h"
#include "tensor/allocation.h"
#include "tensor/memory_plan.h"
#include "tensor/workspace_implementation.h"

namespace cladtorch {
namespace {
thread_local Workspace* current = nullptr;
using detail::Arena;
}  // namespace

Workspace* detail::current_workspace() { return current; }

Workspace::Workspace() : implementation_(std::make_unique<Implementation>()) {}
Workspace::~Workspace() { assert(!implementation_->open && "a workspace must outlive its steps"); }

WorkspaceStatistics Workspace::statistics() const { return implementation_->statistics; }

void Workspace::reset() {
  require(!implementation_->open, "Workspace::reset: a step is open; close it first");
  implementation_->reset();
}

Workspace::Step::Step(Workspace& workspace) : workspace_(workspace), outer_(current) {
  require(!workspace.implementation_->open,
          "Workspace::Step: the workspace already has an open step; use another");
  workspace.implementation_->begin();
  current = &workspace;
}

Workspace::Step::~Step() {
  current = nullptr;  // planning allocates nothing from a workspace
  workspace_.implementation_->end();
  current = outer_;
}

void Workspace::Implementation::reset() {
  arena_.release();
  recorded_.clear();
  planned_.clear();
  offsets_.clear();
  statistics = {};
}

void Workspace::Implementation::begin() {
  open = true;
  arena_.reserve();
  arena_.remove_all();
  following_ = !planned_.empty();
  position_ = 0;
  recorded_.clear();
  live_.clear();
  statistics.allocations = statistics.unplanned_allocations = statistics.heap_allocations = 0;
}

bool Workspace::Implementation::follow(Event event) {
  if (!following_) return false;
  if (position_ < planned_.size() && planned_[position_] == event) {
    ++position_;
    return true;
  }
  stop_following();
  return false;
}

void Workspace::Implementation::stop_following() {
  following_ = false;
  recorded_.assign(planned_.begin(), planned_.begin() + static_cast<std::ptrdiff_t>(position_));
  for (const detail::Storage* storage : live_) {
    if (storage && storage->in_arena)
      arena_.assume(static_cast<size_t>(storage->data - arena_.at(0)), storage->bytes);
  }
}

size_t Workspace::Implementation::place_of(Event event, size_t sequence) {
  if (follow(event)) return offsets_[sequence];
  recorded_.push_back(event);
  ++statistics.unplanned_allocations;
  return arena_.place(static_cast<size_t>(event));
}

void Workspace::Implementation::allocate(detail::Storage& storage, Workspace* owner) {
  const size_t sequence = live_.size();
  const size_t offset = place_of(static_cast<Event>(storage.bytes), sequence);
  storage.in_arena = offset != Arena::no_place;
  if (storage.in_arena) {
    storage.data = arena_.at(offset);
  } else {
    storage.data = detail::allocate_bytes(storage.bytes);
    ++statistics.heap_allocations;
  }
  storage.workspace = owner;
  storage.sequence = static_cast<int64_t>(sequence);
  live_.push_back(&storage);
  ++statistics.allocations;
}

void Workspace::Implementation::release(detail::Storage& storage) {
  const Event event = -1 - storage.sequence;
  if (!follow(event)) {
    recorded_.push_back(event);
    if (storage.in_arena) arena_.remove(static_cast<size_t>(storage.data - arena_.at(0)));
  }
  live_[static_cast<size_t>(storage.sequence)] = nullptr;
}

void Workspace::Implementation::end() {
  open = false;
  ++statistics.steps;
  const bool complete = following_ && position_ == planned_.size();
  if (following_ && !complete) stop_following();
  move_out_survivors();
  if (!complete) make_plan();
}

void Workspace::Implementation::move_out_survivors() {
  for (detail::Storage* storage : live_) {
    if (!storage) continue;
    if (storage->in_arena) {
      std::byte* copy = detail::allocate_bytes(storage->bytes);
      std::memcpy(copy, storage->data, storage->bytes);
      storage->data = copy;
      storage->in_arena = false;
    }
    storage->workspace = nullptr;
  }
}

void Workspace::Implementation::make_plan() {
  planned_.swap(recorded_);
  const auto end_of_step = static_cast<int64_t>(planned_.size());
  std::vector<detail::Lifetime> all;
  for (int64_t time = 0; time < end_of_step; ++time) {
    const Event event = planned_[static_cast<size_t>(time)];
    if (event >= 0) {
      all.push_back({time, end_of_step, static_cast<size_t>(event)});
    } else {
      all[static_cast<size_t>(-1 - event)].end = time;
    }
  }

  offsets_.assign(all.size(), Arena::no_place);
  std::vector<detail::Lifetime> blocks;
  std::vector<size_t> sequences;
  size_t naive = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].end == end_of_step) continue;
    blocks.push_back(all[i]);
    sequences.push_back(i);
    naive += all[i].bytes;
  }
  const detail::MemoryPlan plan = detail::plan_memory(blocks);
  const bool fits = plan.bytes <= arena_.reserved();
  for (size_t i = 0; fits && i < blocks.size(); ++i) offsets_[sequences[i]] = plan.offsets[i];
  if (fits) arena_.resize(plan.bytes);

  statistics.planned_bytes = plan.bytes;
  statistics.live_bytes = detail::peak_live_bytes(blocks);
  statistics.naive_bytes = naive;
  statistics.arena_bytes = arena_.touched();
  ++statistics.plans;
  live_.reserve(all.size());
}

}  // namespace cladtorch
