// The part of Block that lets threads wait for each other, and finds out that some never come.
#include <bit>
#include <cstring>

#include "device/block.h"
#include "fmt/format.h"

namespace cuda_host::detail {
namespace {
const char* name(Barrier kind) {
  switch (kind) {
    case Barrier::plain:
      return "__syncthreads";
    case Barrier::count:
      return "__syncthreads_count";
    case Barrier::all:
      return "__syncthreads_and";
    case Barrier::any:
      return "__syncthreads_or";
  }
  return "";
}

// By name too: some primitives share what they compute.
bool waits_for_the_same(const Lane& a, const Lane& b) {
  return a.mask == b.mask && a.compute == b.compute && std::strcmp(a.collective, b.collective) == 0;
}
}  // namespace

std::string text(uint3 v) { return fmt::format("({}, {}, {})", v.x, v.y, v.z); }

int Block::synchronize(Barrier kind, bool predicate) {
  lane_->state = Lane::State::at_barrier;
  lane_->barrier = kind;
  lane_->predicate = predicate;
  if (++at_barrier_ + returned_ == lanes_.size()) release_barrier();
  wait();
  return barrier_result_;
}

void Block::release_barrier() {
  const Lane* first = nullptr;
  size_t count = 0;
  for (Lane& lane : lanes_) {
    if (lane.state != Lane::State::at_barrier) continue;
    if (first == nullptr) first = &lane;
    if (lane.barrier != first->barrier) {
      note_failure(fmt::format("thread {} waits at {} while thread {} waits at {}", text(first->index),
                               name(first->barrier), text(lane.index), name(lane.barrier)));
      return;
    }
    count += lane.predicate;
  }
  switch (first->barrier) {
    case Barrier::plain:
      barrier_result_ = 0;
      break;
    case Barrier::count:
      barrier_result_ = static_cast<int>(count);
      break;
    case Barrier::all:
      barrier_result_ = count == at_barrier_;
      break;
    case Barrier::any:
      barrier_result_ = count > 0;
      break;
  }
  at_barrier_ = 0;
  for (Lane& lane : lanes_) {
    if (lane.state != Lane::State::at_barrier) continue;
    lane.state = Lane::State::ready;
    make_ready(lane.warp, 1u << lane.number);
  }
}

void Block::collective(unsigned mask, void* mine, Compute compute, const char* name) {
  Lane& lane = *lane_;
  if ((mask >> lane.number & 1) == 0) {
    fail_thread(fmt::format("calls {} with mask {:#010x}, which does not name it", name, mask));
  }
  lane.state = Lane::State::at_collective;
  lane.mask = mask;
  lane.mine = mine;
  lane.compute = compute;
  lane.collective = name;
  Warp& warp = warps_[lane.warp];
  warp.at_collective |= 1u << lane.number;

  bool complete = (warp.at_collective & mask) == mask;
  for (unsigned rest = mask; complete && rest != 0; rest &= rest - 1) {
    complete = has_arrived(lane, static_cast<unsigned>(std::countr_zero(rest)));
  }
  if (complete) {
    void* operands[32] = {};
    Lane* lanes = &lanes_[size_t{lane.warp} * 32];
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      const int number = std::countr_zero(rest);
      operands[number] = lanes[number].mine;
      lanes[number].state = Lane::State::ready;
    }
    compute(operands);
    warp.at_collective &= ~mask;
    make_ready(lane.warp, mask);
  }
  wait();
}

bool Block::has_arrived(const Lane& caller, unsigned lane) const {
  const Lane& other = lanes_[size_t{caller.warp} * 32 + lane];
  return other.state == Lane::State::at_collective && waits_for_the_same(caller, other);
}

void Block::note_failure(std::string reason) {
  if (failure_.empty()) failure_ = fmt::format("block {}: {}", text(index_), reason);
}

// Barriers open when all threads that have not returned are
// there, so that a warp's collective is always part of it.
std::string Block::describe_deadlock() const {
  for (const Lane& lane : lanes_) {
    if (lane.state != Lane::State::at_collective) continue;
    for (unsigned number = 0; number < 32; ++number) {
      if ((lane.mask >> number & 1) == 0) continue;
      const std::string missing = describe_missing(lane, number);
      if (missing.empty()) continue;
      return fmt::format("thread {} waits forever at {} with mask {:#010x} for lane {}, {}", text(lane.index),
                         lane.collective, lane.mask, number, missing);
    }
  }
  return "its threads wait for each other";
}

std::string Block::describe_missing(const Lane& waiting, unsigned number) const {
  const size_t other = size_t{waiting.warp} * 32 + number;
  if (other >= lanes_.size()) return "which the block does not have";
  const Lane& lane = lanes_[other];
  switch (lane.state) {
    case Lane::State::returned:
      return "which has returned";
    case Lane::State::at_barrier:
      return fmt::format("which waits at {}", name(lane.barrier));
    case Lane::State::at_collective:
      if (waits_for_the_same(waiting, lane)) return "";
      return fmt::format("which waits at {} with mask {:#010x}", lane.collective, lane.mask);
    default:
      return "";
  }
}

}  // namespace cuda_host::detail
