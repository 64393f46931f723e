// What kernels call of wgmma. All of it is by whole warps.
#include <atomic>

#include "cuda_host/warp.h"
#include "device/block.h"

namespace cuda_host {
namespace {
using namespace detail;
constexpr unsigned all_lanes = 0xFFFFFFFFu;
std::atomic<size_t> products{0};

Warpgroups& warpgroups() { return block_of("wgmma").warpgroups(); }
unsigned warp() { return block_of("wgmma").lane().warp; }

void multiply(void** operands) {
  const WarpgroupProduct* lanes[32];
  for (int lane = 0; lane < 32; ++lane) lanes[lane] = static_cast<const WarpgroupProduct*>(operands[lane]);
  warpgroups().multiply(warp(), lanes);
  ++products;
}
void fence(void**) { warpgroups().fence(warp()); }
void commit(void**) { warpgroups().commit(warp()); }
void wait(void** operands) { warpgroups().wait(warp(), *static_cast<const size_t*>(operands[0])); }
}  // namespace

void warpgroup_multiply(const WarpgroupProduct& product) {
  WarpgroupProduct mine = product;
  warp_collective(all_lanes, &mine, multiply, "wgmma.mma_async");
}
size_t warpgroup_products() { return products; }
void warpgroup_fence() {
  int nothing = 0;
  warp_collective(all_lanes, &nothing, fence, "wgmma.fence");
}
void warpgroup_commit() {
  int nothing = 0;
  warp_collective(all_lanes, &nothing, commit, "wgmma.commit_group");
}
void warpgroup_wait_groups(int groups) {
  auto mine = static_cast<size_t>(groups);
  warp_collective(all_lanes, &mine, wait, "wgmma.wait_group");
}

void fence_proxy_async() {
  const Lane& lane = block_of("fence.proxy.async").lane();
  warpgroups().show_memory(lane.warp, lane.number);
}
uint32_t shared_address(const void* pointer) { return warpgroups().memory().address(pointer); }

}  // namespace cuda_host
