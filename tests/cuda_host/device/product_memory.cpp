#include <cstring>

#include "device/block.h"
#include "device/warpgroups.h"
#include "fmt/format.h"

namespace cuda_host::detail {
namespace {
[[noreturn]] void fail(const std::string& reason) { block_of("wgmma").fail_thread(reason); }

// Fields of a descriptor hold addresses and distances without their low four bits.
uint32_t field(uint64_t descriptor, int first) {
  return static_cast<uint32_t>(descriptor >> first & 0x3FFF) << 4;
}
}  // namespace

void ProductMemory::reset(const unsigned char* memory, size_t bytes) {
  memory_ = memory;
  bytes_ = bytes;
  seen_.assign(bytes, 0xFF);  // as SharedMemory::poison leaves it
}

uint32_t ProductMemory::address(const void* pointer) const {
  const auto offset = static_cast<const unsigned char*>(pointer) - memory_;
  if (offset < 0 || static_cast<size_t>(offset) > bytes_)
    fail("asks for the shared address of what is not in dynamic shared memory");
  return first_address + static_cast<uint32_t>(offset);
}

// Rows of 128 bytes, 8 of them behind each other; their pieces of 16 bytes are permuted by the address.
std::vector<uint16_t> ProductMemory::read(uint64_t descriptor, bool transposed, int rows) const {
  const uint32_t start = field(descriptor, 0), leading = field(descriptor, 16),
                 stride = field(descriptor, 32);
  if (descriptor >> 62 != 1) fail("multiplies by wgmma with a swizzle of other than 128 bytes");
  if ((descriptor >> 49 & 7) != 0) fail("multiplies by wgmma with a base offset, which is not imitated");
  if (start % 1024 >= 128 || (transposed && start % 128 != 0) || start % 128 > 96)
    fail(fmt::format("multiplies by wgmma with a tile at {}, which is not at a multiple of 1024", start));
  const bool leads = transposed && rows > 64;
  if (stride % 1024 != 0 || stride == 0 || (leads && (leading % 1024 != 0 || leading == 0)))
    fail("multiplies by wgmma with a distance that is not a multiple of 1024");
  std::vector<uint16_t> elements(static_cast<size_t>(rows) * 16);
  for (uint32_t row = 0; row < static_cast<uint32_t>(rows); ++row) {
    for (uint32_t k = 0; k < 16; ++k) {
      uint32_t at = start;
      at += transposed ? row / 64 * leading + k / 8 * stride + k % 8 * 128 + row % 64 * 2
                       : row / 8 * stride + row % 8 * 128 + k * 2;
      at ^= (at >> 7 & 7) << 4;
      if (at < first_address || at + 2 > first_address + bytes_)
        fail(fmt::format("multiplies by wgmma what is outside dynamic shared memory: address {}", at));
      at -= first_address;
      if (std::memcmp(memory_ + at, seen_.data() + at, 2) != 0)
        fail(
            fmt::format("multiplies by wgmma what was written to dynamic shared memory at {} and no "
                        "fence.proxy.async has made visible",
                        at));
      std::memcpy(&elements[row * 16 + k], memory_ + at, 2);
    }
  }
  return elements;
}

}  // namespace cuda_host::detail
