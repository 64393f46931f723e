#include "tensor/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tensor/allocation.h"

namespace cladtorch::detail {
namespace {

constexpr size_t smallest_reservation = size_t{64} << 20;

size_t rounded(size_t bytes, size_t step) { return (std::max<size_t>(bytes, 1) + step - 1) / step * step; }

size_t physical_memory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Arena::~Arena() { release(); }

void Arena::reserve() {
  if (base_) return;
  for (size_t bytes = rounded(physical_memory(), huge_page); bytes >= smallest_reservation; bytes /= 2) {
    void* address = ::mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) continue;
    mapped_ = address;
    reserved_ = bytes;
    size_t room = bytes + huge_page;
    base_ = static_cast<std::byte*>(std::align(huge_page, bytes, address, room));
    ::madvise(base_, bytes,
              MADV_HUGEPAGE);  // fewer page faults and TLB misses; a kernel without them declines
    return;
  }
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
  if (reserved_ < needed || best > reserved_ - needed) return no_place;
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
  if (from < touched_) ::madvise(base_ + from, touched_ - from, MADV_DONTNEED);
  touched_ = bytes;
}

void Arena::release() {
  if (mapped_) ::munmap(mapped_, reserved_ + huge_page);
  mapped_ = nullptr;
  base_ = nullptr;
  reserved_ = touched_ = 0;
  placed_.clear();
}

}  // namespace cladtorch::detail
