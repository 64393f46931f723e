// Runs the threads of one block as fibers. A warp that can run is taken at
// random and its lanes run in a shuffled order, each until it waits or returns.
// A thread gets a stack of its own only when one before it is waiting.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda_host/threads.h"
#include "device/async_copies.h"
#include "device/fiber.h"
#include "device/launch.h"
#include "device/random.h"
#include "device/shared_memory.h"
#include "device/warpgroups.h"

namespace cuda_host::detail {

using Compute = void (*)(void** lanes);

struct Lane {
  enum class State : uint8_t { fresh, ready, at_barrier, at_collective, returned };

  uint3 index{};
  unsigned warp = 0;
  unsigned number = 0;  // in its warp
  State state = State::fresh;
  Fiber* fiber = nullptr;

  // What it waits for.
  Barrier barrier = Barrier::plain;
  bool predicate = false;
  unsigned mask = 0;
  Compute compute = nullptr;
  void* mine = nullptr;
  const char* collective = nullptr;
};

class Block {
 public:
  Block() : random_(seed()) {}

  // Before the first block of a launch.
  void prepare(const Launch& launch);

  // Runs one block and returns why it failed, or an empty string.
  std::string run(uint3 index);

  // What a kernel calls.
  int synchronize(Barrier kind, bool predicate);
  void collective(unsigned mask, void* mine, Compute compute, const char* name);
  [[noreturn]] void fail_thread(const std::string& reason);
  void* dynamic_memory() { return memory_.data(); }
  AsyncCopies& async_copies() { return copies_[position(*lane_)]; }
  Warpgroups& warpgroups();
  const Lane& lane() const { return *lane_; }
  // The kernel, the block and the thread that runs, for messages.
  std::string place() const;

  Random& random() { return random_; }

 private:
  struct Warp {
    unsigned ready = 0;  // lanes that can run, by bit
    unsigned at_collective = 0;
    bool queued = false;
  };

  // Scheduling.
  void reset();
  Lane* next();
  void start(Lane& lane);
  void switch_to(Lane& lane);
  void run_lanes(Fiber& fiber);
  void run_lane(Lane& lane);
  void make_ready(unsigned warp, unsigned lanes);
  void wait();
  Fiber* idle_fiber();

  // Waiting.
  bool has_arrived(const Lane& caller, unsigned lane) const;
  void release_barrier();
  void note_failure(std::string reason);
  void abandon();
  std::string describe_memory() const;
  std::string describe_deadlock() const;
  std::string describe_missing(const Lane& waiting, unsigned lane) const;

  size_t position(const Lane& lane) const { return lane.warp * 32 + lane.number; }

  Random random_;
  const Launch* launch_ = nullptr;
  uint3 index_{};
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::vector<AsyncCopies> copies_;
  SharedMemory memory_;
  Warpgroups warpgroups_;

  Lane* lane_ = nullptr;         // that runs
  Lane* chosen_ = nullptr;       // to run next, if it is known already
  std::vector<unsigned> queue_;  // warps that can run
  unsigned warp_ = 0;  // whose lanes are run now: `left_` of them, in the order that the next two give
  unsigned left_ = 0;
  unsigned offset_ = 0;
  unsigned stride_ = 1;

  size_t returned_ = 0;
  size_t at_barrier_ = 0;
  int barrier_result_ = 0;
  std::string failure_;

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_fibers_;
};

std::string text(uint3 v);

// The block that runs on this thread of the host; null outside kernels.
Block*& current_block();

// That block; a call outside kernels is a mistake of the caller, which ends the process.
Block& block_of(const char* function);

}  // namespace cuda_host::detail
