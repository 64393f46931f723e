#include "train/step/optimizer_on_device.h"

#include <algorithm>
#include <vector>

#include "tensor/device_memory.h"
#include "tensor/dispatch.h"

namespace cladtorch::train {
namespace {

/// 8 rounds of a block of 256 threads with packs of four.
constexpr int64_t piece_elements = 8192;

void* pointer(const Tensor& tensor) {
  Tensor handle = tensor;
  return detail::dispatch_any(tensor.dtype(), [&]<class T>(T) -> void* { return handle.device_data<T>(); });
}

template <class T>
Tensor on_device(const std::vector<T>& values, Device device) {
  static_assert(sizeof(T) % sizeof(int32_t) == 0);
  const size_t bytes = values.size() * sizeof(T);
  Tensor there = Tensor::empty({static_cast<int64_t>(bytes / sizeof(int32_t))}, DType::int32, device);
  detail::upload(device, there.device_data<int32_t>(), values.data(), bytes);
  return there;
}

std::vector<OptimizerPiece> pieces_of(const TensorList& list) {
  std::vector<OptimizerPiece> pieces;
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t n = list[i].tensor.numel();
    for (int64_t begin = 0; begin < n; begin += piece_elements)
      pieces.push_back({static_cast<int64_t>(i), begin, std::min(piece_elements, n - begin)});
  }
  return pieces;
}

}  // namespace

template <class Entry>
void OptimizerTables::point_to(const TensorList& list, Entry entry) {
  wanted_.clear();
  for (size_t i = 0; i < list.size(); ++i) wanted_.push_back(entry(i));
  if (wanted_ == listed_) return;
  const Device device = list[0].tensor.device();
  const std::vector<OptimizerPiece> parts = pieces_of(list);
  piece_count = static_cast<int64_t>(parts.size());
  dtype = list.dtype();
  pieces = on_device(parts, device);
  entries = on_device(wanted_, device);
  listed_ = wanted_;
}

void OptimizerTables::point_to(const TensorList& masters, const TensorList& parameters,
                               const TensorList& gradients, const TensorList& first,
                               const TensorList& second) {
  const bool copies = parameters.dtype() == DType::bfloat16;
  point_to(masters, [&](size_t i) -> OptimizerEntry {
    return {.master = pointer(masters[i].tensor),
            .gradient = pointer(gradients[i].tensor),
            .first = pointer(first[i].tensor),
            .second = pointer(second[i].tensor),
            .rounded = copies ? static_cast<bfloat16*>(pointer(parameters[i].tensor)) : nullptr,
            .decayed = masters[i].tensor.dim() >= 2};
  });
}

void OptimizerTables::point_to(const TensorList& gradients) {
  point_to(gradients, [&](size_t i) -> OptimizerEntry { return {.gradient = pointer(gradients[i].tensor)}; });
}

}  // namespace cladtorch::train
