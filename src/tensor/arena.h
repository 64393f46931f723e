// A reserved range of addresses that takes memory only where it is touched, or on a device other than the CPU
// only as much as it is asked to.
#pragma once

#include <cstddef>
#include <vector>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::detail {

/// Places blocks while nothing is known about those to come, in the smallest gap that holds each. Planned
/// blocks need no bookkeeping here: their places are simply used.
class Arena {
 public:
  static constexpr size_t no_place = static_cast<size_t>(-1);

  explicit Arena(Device device = {}) : device_(device) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Reserves addresses for as much as the machine has memory, at first; less where the system refuses. Costs
  /// nothing until touched. On other devices these are addresses alone, for dry runs.
  void reserve();
  size_t reserved() const { return reserved_; }
  /// On a device other than the CPU: takes memory for at least `bytes`, unless in a dry run, after which the
  /// arena lies elsewhere. Throws Error when there is not as much.
  void back(size_t bytes);
  /// How often it did.
  int64_t moves() const { return moves_; }
  /// Whether the addresses have memory.
  bool has_memory() const { return device_.type == DeviceType::cpu || backed_ > 0; }
  std::byte* at(size_t offset) const { return base_ + offset; }

  /// Where a block of `bytes` fits beside those placed, or no_place.
  size_t place(size_t bytes);
  /// Counts a block that already lies at `offset` as placed.
  void assume(size_t offset, size_t bytes);
  void remove(size_t offset);
  void remove_all() { placed_.clear(); }

  /// End of the highest block so far: the memory that may have been touched.
  size_t touched() const { return touched_; }
  /// Gives memory of the CPU past `bytes` back to the system, and counts what lies below as touched.
  void resize(size_t bytes);
  /// Gives memory and addresses back.
  void release();

 private:
  struct Block {
    size_t offset, bytes;
  };

  /// How far blocks may be placed.
  size_t limit() const;

  Device device_;
  int64_t moves_ = 0;
  size_t backed_ = 0;               // bytes of the device's memory at base_
  void* mapped_ = nullptr;          // the mapping; one huge page longer than what is reserved
  std::byte* addresses_ = nullptr;  // in it, at a huge page
  std::byte* base_ = nullptr;       // that, or the device's memory
  size_t reserved_ = 0, touched_ = 0;
  std::vector<Block> placed_;  // by offset
};

}  // namespace cladtorch::detail
