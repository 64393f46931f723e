// One piece of memory for all blocks of a layout.
#pragma once

#include <memory>
#include <string>

#include "cladtorch/kernels/layout.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::kernels {

/// Memory whose contents are undefined at first. It is requested once, in huge pages if the system has them;
/// the system places each page near the thread that first writes it.
/// T is float or double.
template <class T>
class Arena {
 public:
  explicit Arena(Layout layout);

  const Layout& layout() const { return layout_; }
  T* data() const { return data_; }
  T* block(size_t number) const { return data_ + layout_.blocks()[number].offset; }
  /// A view of the block.
  Tensor tensor(size_t number) const;
  const Tensor& memory() const { return memory_; }
  /// Lets for_each_parameter(), TensorList and AdamW use the arena like a model.
  template <class Visitor>
  void visit_parameters(Visitor&& visitor, const std::string&) const {
    for (size_t i = 0; i < layout_.blocks().size(); ++i) {
      Tensor block = tensor(i);
      visitor(layout_.blocks()[i].name, block);
    }
  }

 private:
  Layout layout_;
  Tensor memory_;
  T* data_;
};

namespace detail {
class GradientBlocks;
}

/// Memory that pullbacks add to. A block that is marked zero, as all are at first, stands for zero although
/// nobody has written it, and the first contribution to it is stored instead of added, so that no pass over
/// memory clears it. The pullbacks of this folder find the blocks by their addresses, from any thread, while
/// the arena lives. Other code calls write_zeros() before it reads.
template <class T>
class GradientArena {
 public:
  explicit GradientArena(Layout layout);
  ~GradientArena();
  GradientArena(GradientArena&&) noexcept;
  GradientArena& operator=(GradientArena&&) noexcept;

  const Layout& layout() const { return arena_.layout(); }
  T* data() const { return arena_.data(); }
  T* block(size_t number) const { return arena_.block(number); }
  /// The block as a gradient buffer, with the same mark.
  const Tensor& tensor(size_t number) const;

  template <class Visitor>
  void visit_parameters(Visitor&& visitor, const std::string&) const {
    for (size_t i = 0; i < layout().blocks().size(); ++i) {
      Tensor block = tensor(i);
      visitor(layout().blocks()[i].name, block);
    }
  }

  /// Makes every block stand for zero. Writes nothing.
  void mark_zero();
  bool is_marked_zero(size_t number) const { return tensor(number).is_marked_zero(); }
  /// Writes the zeros of the blocks that are still marked.
  void write_zeros();

 private:
  Arena<T> arena_;
  std::unique_ptr<detail::GradientBlocks> blocks_;
};

}  // namespace cladtorch::kernels
