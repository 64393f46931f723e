#include "cladtorch/data/token_span.h"

#include <algorithm>
#include <cassert>

namespace cladtorch::data {

TokenSpan TokenSpan::subspan(size_t first, size_t count) const {
  assert(first <= size_ && count <= size_ - first && "subspan lies inside the span");
  if (width_ == TokenWidth::u16) return std::span(static_cast<const uint16_t*>(data_) + first, count);
  return std::span(static_cast<const uint32_t*>(data_) + first, count);
}

void TokenSpan::copy(size_t first, std::span<int32_t> out) const {
  assert(first <= size_ && out.size() <= size_ - first && "copied range lies inside the span");
  if (width_ == TokenWidth::u16) {
    std::copy_n(static_cast<const uint16_t*>(data_) + first, out.size(), out.begin());
  } else {
    std::copy_n(static_cast<const uint32_t*>(data_) + first, out.size(), out.begin());
  }
}

}  // namespace cladtorch::data
