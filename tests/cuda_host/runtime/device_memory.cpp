#include "runtime/device_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "fmt/format.h"
#include "runtime/pages.h"

namespace cuda_host::detail {
namespace {
constexpr size_t unit = 256;

// Whether an allocation lies in huge pages: not if it would waste most of one, nor if it is so large that it
// may be a reserve which is never used up.
bool wants_huge_pages(size_t bytes) { return bytes >= huge_page_bytes / 4 && bytes <= size_t{512} << 20; }

size_t capacity_asked_for() {
  const char* text = std::getenv("CLADTORCH_CUDA_HOST_MEMORY");
  return text == nullptr ? size_t{4} << 30 : std::strtoull(text, nullptr, 10);
}
}  // namespace

// Far more addresses than memory, so that those of freed memory are not used again soon.
DeviceMemory::DeviceMemory()
    : capacity_(capacity_asked_for()), reserved_(round_up(capacity_, page_bytes) * 4 + (size_t{64} << 30)) {
  reservation_ = reserve_pages(reserved_);
  cursor_ = reservation_ + page_bytes;
}

size_t DeviceMemory::used(int device) const {
  size_t bytes = 0;
  for (const auto& [start, allocation] : live_) {
    if (allocation.device == device) bytes += allocation.rounded;
  }
  return bytes;
}

void* DeviceMemory::allocate(size_t bytes, int device) {
  const size_t left = capacity_ - used(device);
  if (bytes > left || round_up(bytes, unit) > left) return nullptr;
  Allocation made;
  made.bytes = bytes;
  made.rounded = round_up(bytes, unit);
  const bool huge = wants_huge_pages(made.rounded);
  const size_t page = huge ? huge_page_bytes : page_bytes;
  made.page_bytes = round_up(made.rounded, page);
  made.pages = find_place(made.page_bytes, page);
  if (made.pages == nullptr) return nullptr;
  made.start = made.pages + made.page_bytes - made.rounded;
  made.device = device;
  (huge ? map_poisoned_huge_pages : map_poisoned_pages)(made.pages, made.page_bytes);
  if (open_ > 0) open_pages(made.pages, made.page_bytes);
  live_.emplace(reinterpret_cast<uintptr_t>(made.start), made);
  size_t& most = most_used_[device];
  most = std::max(most, used(device));
  return made.start;
}

size_t DeviceMemory::most_used(int device) const {
  const auto found = most_used_.find(device);
  return found == most_used_.end() ? 0 : found->second;
}

// From the cursor on, else from the beginning; with a page between it and what comes next.
char* DeviceMemory::find_place(size_t bytes, size_t alignment) {
  const auto align = [&](char* place) {
    const auto address = reinterpret_cast<uintptr_t>(place);
    return place + (round_up(address, alignment) - address);
  };
  for (char* first : {cursor_, reservation_ + page_bytes}) {
    char* place = align(first);
    for (auto next = live_.lower_bound(reinterpret_cast<uintptr_t>(first)); next != live_.end(); ++next) {
      const Allocation& other = next->second;
      if (place + bytes + page_bytes <= other.pages) break;
      place = align(other.pages + other.page_bytes + page_bytes);
    }
    if (place + bytes + page_bytes <= reservation_ + reserved_) {
      cursor_ = place + bytes + page_bytes;
      return place;
    }
  }
  return nullptr;
}

void DeviceMemory::release(const Allocation& allocation) {
  unmap_pages(allocation.pages, allocation.page_bytes);
}

bool DeviceMemory::free(void* pointer) {
  const auto found = live_.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == live_.end()) return false;
  release(found->second);
  live_.erase(found);
  return true;
}

void DeviceMemory::free_all(int device) {
  for (auto it = live_.begin(); it != live_.end();) {
    if (it->second.device != device) {
      ++it;
      continue;
    }
    release(it->second);
    it = live_.erase(it);
  }
}

const DeviceMemory::Allocation* DeviceMemory::find(const void* pointer, size_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  const auto& [start, allocation] = *std::prev(after);
  const size_t offset = address - start;
  return offset <= allocation.bytes && bytes <= allocation.bytes - offset ? &allocation : nullptr;
}

bool DeviceMemory::owns(const void* pointer) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto start = reinterpret_cast<uintptr_t>(reservation_);
  return address >= start && address < start + reserved_;
}

const DeviceMemory::Allocation* DeviceMemory::find_overwritten() const {
  for (const auto& [start, allocation] : live_) {
    char* end = allocation.start + allocation.bytes;
    const size_t rest = allocation.rounded - allocation.bytes;
    if (std::count(end, end + rest, '\xFF') == static_cast<ptrdiff_t>(rest)) continue;
    std::memset(end, 0xFF, rest);
    return &allocation;
  }
  return nullptr;
}

std::string DeviceMemory::describe(const void* pointer) const {
  if (!owns(pointer)) return "an address that is not the device's";
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto after = live_.upper_bound(address);
  if (after != live_.begin()) {
    const auto& [start, allocation] = *std::prev(after);
    const size_t offset = address - start;
    if (offset < allocation.rounded) return "device memory that is closed to the host";
    if (offset < allocation.rounded + page_bytes) {
      return fmt::format("{} bytes past the end of {} bytes of device memory", offset - allocation.bytes,
                         allocation.bytes);
    }
  }
  if (after != live_.end() && address + page_bytes >= reinterpret_cast<uintptr_t>(after->second.pages)) {
    return fmt::format("{} bytes before the start of {} bytes of device memory", after->first - address,
                       after->second.bytes);
  }
  return "device memory that is not allocated";
}

DeviceMemory::Access::Access(DeviceMemory& memory) : memory_(memory) {
  if (memory_.open_++ > 0) return;
  for (const auto& [start, allocation] : memory_.live_) open_pages(allocation.pages, allocation.page_bytes);
}

DeviceMemory::Access::~Access() {
  if (--memory_.open_ > 0) return;
  for (const auto& [start, allocation] : memory_.live_) close_pages(allocation.pages, allocation.page_bytes);
}

}  // namespace cuda_host::detail
