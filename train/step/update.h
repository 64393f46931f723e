// What the updates of all optimizers have in common: threads that share the pieces of a list of tensors.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/optimizer.h"

namespace cladtorch::train {

/// To be written by several threads. The tensor was told of it before, by data(), which only one thread may
/// call.
template <class T>
T* elements(const Tensor& tensor) {
  return const_cast<T*>(tensor.data<T>());
}
/// The bfloat16 copies behind a list, or null if its tensors are their own masters.
inline bfloat16* rounded_elements(const Tensor& parameter) {
  return parameter.dtype() == DType::bfloat16 ? elements<bfloat16>(parameter) : nullptr;
}

/// Calls f(tensor, begin, end), with the number of the tensor, for the pieces of a share.
template <class F>
void for_each_piece(const TensorList& list, std::span<const size_t> share, F&& f) {
  parallel_for(static_cast<int64_t>(share.size()), 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const auto& [tensor, begin, end] = list.pieces()[share[static_cast<size_t>(i)]];
      f(tensor, begin, end);
    }
  });
}

/// Says that all of these tensors are about to be written, and returns whether nobody wrote any before: then
/// they are zero and must not be read.
inline bool take_fresh(std::initializer_list<Tensor*> state) {
  const bool fresh = std::all_of(state.begin(), state.end(), [](Tensor* t) { return t->is_marked_zero(); });
  for (Tensor* tensor : state) {
    if (fresh) accumulate_into(tensor, tensor->shape(), tensor->dtype());
    tensor->data();
  }
  return fresh;
}

}  // namespace cladtorch::train
