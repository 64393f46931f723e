#include "cladtorch/kernels/layout.h"

#include <iomanip>
#include <sstream>

namespace cladtorch::kernels {

size_t Layout::add(std::string name, const Shape& shape) {
  constexpr int64_t alignment = 16;
  blocks_.push_back({std::move(name), shape, size_});
  size_ += (shape.numel() + alignment - 1) / alignment * alignment;
  return blocks_.size() - 1;
}

std::ostream& operator<<(std::ostream& out, const Layout& layout) {
  const auto row = [&out](const auto& offset, const auto& count, const auto& shape, const auto& name) {
    out << std::setw(14) << offset << std::setw(14) << count << "  " << std::left << std::setw(20) << shape
        << std::right << "  " << name << '\n';
  };
  row("offset", "elements", "shape", "name");
  for (const Block& block : layout.blocks()) {
    std::ostringstream shape;
    shape << block.shape;
    row(block.offset, block.count(), shape.str(), block.name);
  }
  row(layout.size(), "", "", "end");
  return out;
}

}  // namespace cladtorch::kernels
