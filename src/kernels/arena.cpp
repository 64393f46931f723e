#include "cladtorch/kernels/arena.h"

#include "cladtorch/tensor/dtype.h"
#include "kernels/gradient_blocks.h"

namespace cladtorch::kernels {

template <class T>
Arena<T>::Arena(Layout layout)
    : layout_(std::move(layout)),
      memory_(Tensor::empty({layout_.size()}, dtype_of<T>::value)),
      data_(memory_.data<T>()) {}

template <class T>
Tensor Arena<T>::tensor(size_t number) const {
  const Block& block = layout_.blocks()[number];
  return memory_.narrow(0, block.offset, block.count()).reshape(block.shape);
}

template <class T>
GradientArena<T>::GradientArena(Layout layout)
    : arena_(std::move(layout)),
      blocks_(std::make_unique<detail::GradientBlocks>(arena_.memory(), arena_.layout())) {}

template <class T>
GradientArena<T>::~GradientArena() = default;
template <class T>
GradientArena<T>::GradientArena(GradientArena&&) noexcept = default;
template <class T>
GradientArena<T>& GradientArena<T>::operator=(GradientArena&&) noexcept = default;

template <class T>
const Tensor& GradientArena<T>::tensor(size_t number) const {
  return blocks_->all()[number];
}

template <class T>
void GradientArena<T>::mark_zero() {
  for (Tensor& block : blocks_->all()) block.mark_zero();
}

template <class T>
void GradientArena<T>::write_zeros() {
  for (Tensor& block : blocks_->all()) block.data();
}

template class Arena<float>;
template class Arena<double>;
template class GradientArena<float>;
template class GradientArena<double>;

}  // namespace cladtorch::kernels
