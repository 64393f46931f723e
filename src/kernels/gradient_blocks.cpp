#include "kernels/gradient_blocks.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

namespace cladtorch::kernels::detail {
namespace {

/// Never destroyed: arenas of static lifetime may be released after any destructor of ours.
struct Registry {
  std::shared_mutex mutex;
  std::vector<GradientBlocks*> arenas;
};
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

}  // namespace

GradientBlocks::GradientBlocks(const Tensor& memory, const Layout& layout)
    : begin_(static_cast<const std::byte*>(memory.data())), end_(begin_ + memory.nbytes()) {
  for (const Block& block : layout.blocks()) {
    starts_.push_back(begin_ + static_cast<size_t>(block.offset) * size_of(memory.dtype()));
    blocks_.push_back(gradient_buffer_in(memory, block.offset, block.shape));
  }
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  all.arenas.push_back(this);
}

GradientBlocks::~GradientBlocks() {
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  std::erase(all.arenas, this);
}

GradientBlocks* GradientBlocks::find(const void* address) {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  const auto* const byte = static_cast<const std::byte*>(address);
  for (GradientBlocks* arena : all.arenas)
    if (arena->begin_ <= byte && byte < arena->end_) return arena;
  return nullptr;
}

}  // namespace cladtorch::kernels::detail
