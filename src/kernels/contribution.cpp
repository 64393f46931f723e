#include "cladtorch/kernels/contribution.h"

#include <algorithm>

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "kernels/gradient_blocks.h"

namespace cladtorch::kernels {
namespace {

/// How the memory [d, d + count) lies to the blocks of its arena, if it has one.
struct Place {
  Tensor* whole = nullptr;      ///< the block that the memory is
  Tensor* container = nullptr;  ///< the block that holds all of the memory
};

template <class T>
Place place_of(detail::GradientBlocks* arena, const T* d, int64_t count) {
  Place place;
  const auto *const begin = reinterpret_cast<const std::byte*>(d), *const end = begin + count * sizeof(T);
  arena->for_each_in(begin, end, [&](Tensor& block, const std::byte* first) {
    const std::byte* const last = first + block.nbytes();
    if (first <= begin && end <= last) place.container = &block;
    if (first == begin && end == last) place.whole = &block;
  });
  return place;
}

/// Makes the zeros of marked blocks real, so that parts of them can be read and written.
template <class T>
void write_zeros(detail::GradientBlocks* arena, const T* d, int64_t count) {
  const auto* const begin = reinterpret_cast<const std::byte*>(d);
  arena->for_each_in(begin, begin + count * sizeof(T), [](Tensor& block, const std::byte*) { block.data(); });
}

}  // namespace

template <class T>
Contribution<T> contribute_to(T* d, int64_t count) {
  if (!d) return {nullptr, false};
  detail::GradientBlocks* const arena = detail::GradientBlocks::find(d);
  if (!arena) return {d, true};
  if (Tensor* block = place_of(arena, d, count).whole) {
    GradientTarget target = accumulate_into(block, block->shape(), block->dtype());
    return {d, target.add(), std::move(target).take_write()};
  }
  write_zeros(arena, d, count);
  return {d, true};
}

template <class T>
bool is_zero(T* d, int64_t count) {
  if (!d) return true;
  detail::GradientBlocks* const arena = detail::GradientBlocks::find(d);
  if (!arena) return false;
  const Tensor* const block = place_of(arena, d, count).container;
  if (block && block->is_marked_zero()) return true;
  write_zeros(arena, d, count);
  return false;
}

template <class T>
void clear_cotangent(T* d, int64_t count) {
  if (!d) return;
  if (detail::GradientBlocks* const arena = detail::GradientBlocks::find(d)) {
    if (Tensor* block = place_of(arena, d, count).whole) {
      block->mark_zero();
      return;
    }
    write_zeros(arena, d, count);
  }
  parallel_for(count, 1 << 14, [&](int64_t begin, int64_t end) { std::fill(d + begin, d + end, T(0)); });
}

template <class T>
void require_no_cotangent(const char* result, T* d, int64_t count) {
  if (is_zero(d, count)) return;
  require(std::all_of(d, d + count, [](T value) { return value == T(0); }), result,
          " has no derivative, but something was computed from it that has");
}

template Contribution<float> contribute_to(float*, int64_t);
template Contribution<double> contribute_to(double*, int64_t);
template bool is_zero(float*, int64_t);
template bool is_zero(double*, int64_t);
template void clear_cotangent(float*, int64_t);
template void clear_cotangent(double*, int64_t);
template void require_no_cotangent(const char*, float*, int64_t);
template void require_no_cotangent(const char*, double*, int64_t);

}  // namespace cladtorch::kernels
