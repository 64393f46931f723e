#include "device/block.h"

#include <utility>

#include "device/symbol_name.h"
#include "fmt/format.h"

namespace cuda_host::detail {
namespace {
// Takes a thread of a failed block off its stack.
struct Abandoned {};
}  // namespace

void Block::prepare(const Launch& launch) {
  launch_ = &launch;
  const dim3 size = launch.block;
  const size_t threads = size_t{size.x} * size.y * size.z;
  lanes_.assign(threads, Lane{});
  copies_.resize(threads);
  warps_.resize((threads + 31) / 32);
  memory_.resize(launch.dynamic_bytes);
  for (unsigned i = 0; i < threads; ++i) {
    lanes_[i].index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    lanes_[i].warp = i / 32;
    lanes_[i].number = i % 32;
  }
  blockDim = launch.block;
  gridDim = launch.grid;
}

void Block::reset() {
  failure_.clear();
  returned_ = at_barrier_ = 0;
  chosen_ = nullptr;
  left_ = 0;
  queue_.clear();
  for (Lane& lane : lanes_) lane.state = Lane::State::fresh;
  for (unsigned w = 0; w < warps_.size(); ++w) {
    warps_[w] = {};
    const size_t lanes = lanes_.size() - size_t{w} * 32;
    make_ready(w, lanes < 32 ? (1u << lanes) - 1 : 0xFFFFFFFFu);
  }
  memory_.poison();
  warpgroups_.reset();
}

std::string Block::run(uint3 index) {
  index_ = index;
  blockIdx = index;
  reset();
  while (failure_.empty()) {
    Lane* lane = std::exchange(chosen_, nullptr);
    if (lane == nullptr) lane = next();
    if (lane == nullptr) break;
    switch_to(*lane);
  }
  if (failure_.empty() && returned_ < lanes_.size()) note_failure(describe_deadlock());
  if (failure_.empty()) {
    if (std::string reason = warpgroups_.unfinished(); !reason.empty()) note_failure(std::move(reason));
  }
  if (memory_.wrote_past_end()) note_failure(fmt::format("wrote past the end {}", describe_memory()));
  if (memory_.wrote_before_start()) note_failure(fmt::format("wrote before the start {}", describe_memory()));
  if (!failure_.empty()) abandon();
  return std::exchange(failure_, {});
}

// The next lane of the warp that is being run, else the first of another.
Lane* Block::next() {
  for (;;) {
    Warp& warp = warps_[warp_];
    while (left_ > 0) {
      const unsigned number = (--left_ * stride_ + offset_) & 31;
      if ((warp.ready >> number & 1) == 0) continue;
      warp.ready &= ~(1u << number);
      return &lanes_[size_t{warp_} * 32 + number];
    }
    if (queue_.empty()) return nullptr;
    const uint64_t bits = random_();
    std::swap(queue_[(bits >> 32) % queue_.size()], queue_.back());
    warp_ = queue_.back();
    queue_.pop_back();
    warps_[warp_].queued = false;
    left_ = 32;
    offset_ = bits & 31;
    stride_ = (bits >> 5 & 31) | 1;  // odd: all 32 numbers come
  }
}

void Block::make_ready(unsigned warp, unsigned lanes) {
  warps_[warp].ready |= lanes;
  if (!warps_[warp].queued) {
    warps_[warp].queued = true;
    queue_.push_back(warp);
  }
}

void Block::start(Lane& lane) {
  lane_ = &lane;
  threadIdx = lane.index;
}

void Block::switch_to(Lane& lane) {
  start(lane);
  Fiber* fiber = lane.state == Lane::State::fresh ? idle_fiber() : lane.fiber;
  fiber->resume();
  if (fiber->idle()) idle_fibers_.push_back(fiber);
}

Fiber* Block::idle_fiber() {
  if (idle_fibers_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>([this](Fiber& fiber) { run_lanes(fiber); }));
    return fibers_.back().get();
  }
  Fiber* fiber = idle_fibers_.back();
  idle_fibers_.pop_back();
  return fiber;
}

// Threads that have not started run one after the other on the same stack, as long as none of them waits.
void Block::run_lanes(Fiber& fiber) {
  for (;;) {
    lane_->fiber = &fiber;
    run_lane(*lane_);
    if (!failure_.empty()) return;
    Lane* lane = next();
    if (lane == nullptr || lane->state != Lane::State::fresh) {
      chosen_ = lane;
      return;
    }
    start(*lane);
  }
}

void Block::run_lane(Lane& lane) {
  lane.state = Lane::State::ready;
  try {
    launch_->call.invoke(launch_->call.function, launch_->call.arguments.get());
  } catch (const Abandoned&) {
  } catch (...) {  // whatever it is: no exception may leave a fiber
    note_failure(fmt::format("thread {} threw an exception", text(lane.index)));
  }
  lane.state = Lane::State::returned;
  ++returned_;
  copies_[position(lane)].clear();
  if (at_barrier_ > 0 && at_barrier_ + returned_ == lanes_.size() && failure_.empty()) release_barrier();
}

void Block::wait() {
  lane_->fiber->suspend();
  if (!failure_.empty()) throw Abandoned{};
}

Warpgroups& Block::warpgroups() {
  warpgroups_.prepare(lanes_.size(), static_cast<const unsigned char*>(memory_.data()),
                      launch_->dynamic_bytes);
  return warpgroups_;
}

void Block::fail_thread(const std::string& reason) {
  note_failure(fmt::format("thread {} {}", text(lane_->index), reason));
  throw Abandoned{};
}

std::string Block::place() const {
  return fmt::format("kernel {}, block {}: thread {}", symbol_name(launch_->call.function), text(index_),
                     text(lane_->index));
}

std::string Block::describe_memory() const {
  return fmt::format("of its {} bytes of dynamic shared memory", launch_->dynamic_bytes);
}

// Threads that wait are resumed once more, and leave their kernel by an exception.
void Block::abandon() {
  for (Lane& lane : lanes_) {
    const bool waits = lane.state == Lane::State::at_barrier || lane.state == Lane::State::at_collective;
    const bool resumable = lane.state == Lane::State::ready;
    if (waits || resumable) switch_to(lane);
    copies_[position(lane)].clear();
  }
}

}  // namespace cuda_host::detail
