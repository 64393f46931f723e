#include "device/launch.h"

#include <numeric>

#include "device/block.h"
#include "device/fault_report.h"
#include "device/symbol_name.h"
#include "fmt/format.h"

namespace cuda_host::detail {
namespace {
// Fibers and stacks are kept from one launch to the next.
Block& block_of_this_thread() {
  thread_local Block block;
  return block;
}
}  // namespace

std::optional<std::string> run(const Launch& launch) {
  report_faults();
  Block& block = block_of_this_thread();
  block.prepare(launch);
  current_block() = &block;
  const dim3 grid = launch.grid;
  const size_t blocks = size_t{grid.x} * grid.y * grid.z;

  // Steps of a width that has no divisor in common with the number of blocks come to each block once.
  size_t width = 1 + block.random().below(blocks);
  while (std::gcd(width, blocks) != 1) ++width;
  size_t position = block.random().below(blocks);

  std::string failure;
  for (size_t i = 0; i < blocks && failure.empty(); ++i) {
    position = (position + width) % blocks;
    const size_t x = position % grid.x, y = position / grid.x % grid.y, z = position / grid.x / grid.y;
    failure = block.run({static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)});
  }
  current_block() = nullptr;
  if (failure.empty()) return std::nullopt;
  return fmt::format("kernel {}, {}", symbol_name(launch.call.function), failure);
}

bool in_kernel() { return current_block() != nullptr; }

}  // namespace cuda_host::detail
