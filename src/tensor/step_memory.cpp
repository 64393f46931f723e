#include "tensor/step_memory.h"

#include <algorithm>
#include <cstring>

#include "tensor/allocation.h"
#include "tensor/device_memory.h"
#include "tensor/memory_plan.h"

namespace cladtorch::detail {
namespace {
constexpr size_t most_plans = 8;
}  // namespace

void StepMemory::reset() {
  arena_.release();
  recorded_.clear();
  plans_.clear();
  statistics_ = {};
}

void StepMemory::begin() {
  arena_.reserve();
  arena_.remove_all();
  following_ = !plans_.empty();
  if (following_) arena_.back(largest_plan());
  statistics_.moves = arena_.moves();
  position_ = shared_ = 0;
  recorded_.clear();
  live_.clear();
  statistics_.allocations = statistics_.unplanned_allocations = statistics_.heap_allocations = 0;
}

bool StepMemory::follow(Event event) {
  if (!following_) return false;
  const std::vector<Event>& events = plans_[plan_].events;
  if ((position_ < events.size() && events[position_] == event) || change_plan(event)) {
    ++position_;
    return true;
  }
  stop_following();
  return false;
}

bool StepMemory::change_plan(Event event) {
  const Plan& now = plans_[plan_];
  const auto position = static_cast<ptrdiff_t>(position_);
  const auto placed = static_cast<ptrdiff_t>(live_.size());
  for (size_t i = 0; i < plans_.size(); ++i) {
    const Plan& other = plans_[i];
    if (other.events.size() <= position_ || other.events[position_] != event) continue;
    if (!std::equal(now.events.begin(), now.events.begin() + position, other.events.begin())) continue;
    if (!std::equal(now.offsets.begin(), now.offsets.begin() + placed, other.offsets.begin())) continue;
    plan_ = i;
    return true;
  }
  return false;
}

void StepMemory::stop_following() {
  following_ = false;
  shared_ = live_.size();
  const std::vector<Event>& events = plans_[plan_].events;
  recorded_.assign(events.begin(), events.begin() + static_cast<ptrdiff_t>(position_));
  for (const Storage* storage : live_) {
    if (storage && storage->in_arena)
      arena_.assume(static_cast<size_t>(storage->data - arena_.at(0)), storage->bytes);
  }
}

size_t StepMemory::place_of(Event event, size_t sequence) {
  if (follow(event)) return plans_[plan_].offsets[sequence];
  recorded_.push_back(event);
  ++statistics_.unplanned_allocations;
  return arena_.place(static_cast<size_t>(event));
}

void StepMemory::allocate(Storage& storage, Workspace* owner) {
  const size_t sequence = live_.size();
  const size_t offset = place_of(static_cast<Event>(storage.bytes), sequence);
  storage.in_arena = offset != Arena::no_place;
  if (storage.in_arena) {
    storage.data = arena_.at(offset);
  } else {
    storage.data = allocate_heap(device_, storage.bytes);
    ++statistics_.heap_allocations;
  }
  storage.workspace = owner;
  storage.sequence = static_cast<int64_t>(sequence);
  live_.push_back(&storage);
  ++statistics_.allocations;
}

void StepMemory::release(Storage& storage) {
  const Event event = -1 - storage.sequence;
  if (!follow(event)) {
    recorded_.push_back(event);
    if (storage.in_arena) arena_.remove(static_cast<size_t>(storage.data - arena_.at(0)));
  }
  live_[static_cast<size_t>(storage.sequence)] = nullptr;
}

void StepMemory::end() {
  ++statistics_.steps;
  // A step that stops early has followed the plan too, if it leaves nothing behind.
  if (following_ && position_ < plans_[plan_].events.size() && any_survivor_in_arena()) stop_following();
  move_out_survivors();
  if (!following_) make_plan();
  use(plans_[plan_]);
}

bool StepMemory::any_survivor_in_arena() const {
  return std::any_of(live_.begin(), live_.end(),
                     [](const Storage* storage) { return storage && storage->in_arena; });
}

void StepMemory::copy_bytes(std::byte* to, const std::byte* from, size_t bytes) const {
  if (device_.type == DeviceType::cpu) {
    std::memcpy(to, from, bytes);
  } else {
    copy_on(device_, to, from, bytes);
  }
}

void StepMemory::move_out_survivors() {
  for (Storage* storage : live_) {
    if (!storage) continue;
    storage->workspace = nullptr;
    if (!storage->in_arena) continue;
    if (arena_.has_memory()) {
      std::byte* copy = allocate_heap(device_, storage->bytes);
      copy_bytes(copy, storage->data, storage->bytes);
      storage->data = copy;
      storage->in_arena = false;
    } else {
      storage->data = nullptr;  // of a dry run: there is nothing to keep
    }
  }
}

void StepMemory::make_plan() {
  Plan plan;
  plan.events.swap(recorded_);
  const auto end_of_step = static_cast<int64_t>(plan.events.size());
  std::vector<Lifetime> all;
  for (int64_t time = 0; time < end_of_step; ++time) {
    const Event event = plan.events[static_cast<size_t>(time)];
    if (event >= 0) {
      all.push_back({time, end_of_step, static_cast<size_t>(event)});
    } else {
      all[static_cast<size_t>(-1 - event)].end = time;
    }
  }

  plan.offsets.assign(all.size(), Arena::no_place);
  std::vector<Lifetime> blocks;
  std::vector<size_t> sequences;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool shared = i < shared_;
    if (shared) all[i].fixed_offset = plan.offsets[i] = plans_[plan_].offsets[i];
    if (shared ? plan.offsets[i] == Arena::no_place : all[i].end == end_of_step) continue;
    blocks.push_back(all[i]);
    sequences.push_back(i);
    plan.naive_bytes += all[i].bytes;
  }
  const MemoryPlan placed = plan_memory(blocks);
  const bool fits = placed.bytes <= arena_.reserved();
  for (size_t i = 0; fits && i < blocks.size(); ++i) plan.offsets[sequences[i]] = placed.offsets[i];
  plan.bytes = placed.bytes;
  plan.live_bytes = peak_live_bytes(blocks);

  const auto by_use = [](const Plan& a, const Plan& b) { return a.last_used < b.last_used; };
  if (plans_.size() == most_plans) plans_.erase(std::min_element(plans_.begin(), plans_.end(), by_use));
  plans_.push_back(std::move(plan));
  plan_ = plans_.size() - 1;
  if (const size_t largest = largest_plan(); largest <= arena_.reserved()) arena_.resize(largest);
  ++statistics_.plans;
  live_.reserve(all.size());
}

size_t StepMemory::largest_plan() const {
  size_t largest = 0;
  for (const Plan& kept : plans_) largest = std::max(largest, kept.bytes);
  return largest;
}

void StepMemory::use(Plan& plan) {
  plan.last_used = statistics_.steps;
  statistics_.planned_bytes = plan.bytes;
  statistics_.live_bytes = plan.live_bytes;
  statistics_.naive_bytes = plan.naive_bytes;
  statistics_.arena_bytes = arena_.touched();
}

}  // namespace cladtorch::detail
