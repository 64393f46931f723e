#include "device/shared_memory.h"

#include <cstring>
#include <new>
#include <vector>

#include "device/limits.h"

namespace cuda_host::detail {
namespace {
constexpr size_t red_zone_bytes = 1024;
constexpr unsigned char red = 0xA5;
constexpr std::align_val_t alignment{128};

// One call for all bytes: it is made for each block.
bool is_whole(const unsigned char* red_zone) {
  static const std::vector<unsigned char> whole(red_zone_bytes, red);
  return std::memcmp(red_zone, whole.data(), red_zone_bytes) == 0;
}
}  // namespace

SharedMemory::SharedMemory()
    : memory_(static_cast<unsigned char*>(
          ::operator new(red_zone_bytes + most_shared_bytes + red_zone_bytes, alignment))) {}

void SharedMemory::Release::operator()(unsigned char* memory) const { ::operator delete(memory, alignment); }

unsigned char* SharedMemory::start() const { return memory_.get() + red_zone_bytes; }

void SharedMemory::resize(size_t bytes) {
  bytes_ = bytes;
  std::memset(memory_.get(), red, red_zone_bytes);
  std::memset(start() + bytes_, red, red_zone_bytes);
}

void SharedMemory::poison() { std::memset(start(), 0xFF, bytes_); }

bool SharedMemory::wrote_before_start() const { return !is_whole(memory_.get()); }
bool SharedMemory::wrote_past_end() const { return !is_whole(start() + bytes_); }

}  // namespace cuda_host::detail
