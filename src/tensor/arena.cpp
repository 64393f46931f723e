#include "tensor/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cladtorch/tensor/dry_run.h"
#include "tensor/allocation.h"
#include "tensor/device_memory.h"

namespace cladtorch::detail {
namespace {

constexpr size_t smallest_reservation = size_t{64} << 20;
constexpr size_t device_reservation = size_t{1} << 40;  // more than any device has

size_t rounded(size_t bytes, size_t step) { return (std::max<size_t>(bytes, 1) + step - 1) / step * step; }

size_t physical_memory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Arena::~Arena() { release(); }

void Arena::reserve() {
  if (base_) return;
  const bool on_cpu = device_.type == DeviceType::cpu;
  const size_t most = on_cpu ? rounded(physical_memory(), huge_page) : device_reservation;
  for (size_t bytes = most; bytes >= smallest_reservation; bytes /= 2) {
    void* address = ::mmap(nullptr, bytes + huge_page, on_cpu ? PROT_READ | PROT_WRITE : PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) continue;
    mapped_ = address;
    reserved_ = bytes;
    size_t room = bytes + huge_page;
    base_ = addresses_ = static_cast<std::byte*>(std::align(huge_page, bytes, address, room));
    // Fewer page faults and TLB misses; a kernel without huge pages declines.
    if (on_cpu) ::madvise(base_, bytes, MADV_HUGEPAGE);
    return;
  }
}

void Arena::back(size_t bytes) {
  if (device_.type == DeviceType::cpu || DryRun::active() || bytes <= backed_) return;
  if (backed_ > 0) free_on(device_, base_);
  backed_ = 0;
  base_ = addresses_;
  base_ = allocate_on(device_, bytes);
  backed_ = bytes;
  ++moves_;
}

size_t Arena::limit() const {
  return device_.type == DeviceType::cpu || DryRun::active() ? reserved_ : backed_;
}

size_t Arena::place(size_t bytes) {
  const size_t needed = rounded(bytes, data_alignment);
  size_t low = 0, best = no_place, best_gap = no_place;
  for (const Block& block : placed_) {
    const size_t gap = block.offset - low;
    if (gap >= needed && gap < best_gap) {
      best = low;
      best_gap = gap;
    }
    low = block.offset + block.bytes;
  }
  if (best == no_place) best = low;
  if (limit() < needed || best > limit() - needed) return no_place;
  assume(best, needed);
  return best;
}

void Arena::assume(size_t offset, size_t bytes) {
  const Block block{offset, rounded(bytes, data_alignment)};
  const auto by_offset = [](const Block& a, const Block& b) { return a.offset < b.offset; };
  placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), block, by_offset), block);
  touched_ = std::max(touched_, block.offset + block.bytes);
}

void Arena::remove(size_t offset) {
  placed_.erase(
      std::find_if(placed_.begin(), placed_.end(), [=](const Block& b) { return b.offset == offset; }));
}

void Arena::resize(size_t bytes) {
  const size_t from = rounded(bytes, huge_page);
  if (device_.type == DeviceType::cpu && from < touched_)
    ::madvise(base_ + from, touched_ - from, MADV_DONTNEED);
  touched_ = bytes;
}

void Arena::release() {
  if (backed_ > 0) free_on(device_, base_);
  if (mapped_) ::munmap(mapped_, reserved_ + huge_page);
  backed_ = 0;
  mapped_ = nullptr;
  base_ = addresses_ = nullptr;
  reserved_ = touched_ = 0;
  placed_.clear();
}

}  // namespace cladtorch::detail
