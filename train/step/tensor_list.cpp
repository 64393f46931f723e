#include "cladtorch/train/tensor_list.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/parallel.h"
#include "tensor/dispatch.h"
#include "train/step/loops.h"
#include "train/step/optimizer_on_device.h"

namespace cladtorch {
namespace {

/// As floats one huge page: the first step takes its memory without two threads asking for the same page. It
/// is also long enough for the processor's prefetching.
constexpr int64_t piece_elements = int64_t{1} << 19;

template <class T>
void piece_sums(const std::vector<NamedTensor>& tensors, const std::vector<TensorList::Piece>& pieces,
                std::span<const size_t> which, std::span<double> sums) {
  parallel_for(static_cast<int64_t>(which.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto& [tensor, begin, end] = pieces[which[static_cast<size_t>(i)]];
      const Tensor& values = tensors[tensor].tensor;
      const std::optional<double> known = values.squares();
      sums[static_cast<size_t>(i)] = !known ? train::sum_of_squares(values.data<T>() + begin, end - begin)
                                     : begin == 0 ? *known
                                                  : 0.0;
    }
  });
}

template <class T>
void scale_pieces(std::vector<NamedTensor>& tensors, const std::vector<TensorList::Piece>& pieces,
                  double factor) {
  parallel_for(static_cast<int64_t>(pieces.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto& [tensor, begin, end] = pieces[static_cast<size_t>(i)];
      if (tensors[tensor].tensor.is_marked_zero()) continue;
      T* values = tensors[tensor].tensor.data<T>();
      for (int64_t j = begin; j < end; ++j) values[j] *= static_cast<T>(factor);
    }
  });
}

}  // namespace

TensorList::TensorList(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)) {
  require(!tensors_.empty(), "TensorList: the model has no parameters");
  std::erase_if(tensors_, [](const NamedTensor& named) {
    return named.tensor.is_frozen() || named.tensor.is_gradient_sink();
  });
  require(!tensors_.empty(), "TensorList: every parameter is frozen");
  dtype_ = tensors_.front().tensor.dtype();
  require(is_floating(dtype_), "TensorList: '", tensors_.front().name, "' is ", dtype_,
          ", expected float32, float64 or bfloat16");
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto& [name, tensor] = tensors_[i];
    require(tensor.dtype() == dtype_, "TensorList: '", name, "' is ", tensor.dtype(), ", expected ", dtype_,
            " as the first parameter");
    require(tensor.is_contiguous(), "TensorList: '", name, "' is a strided view, expected dense storage");
    for (int64_t begin = 0; begin < tensor.numel(); begin += piece_elements) {
      pieces_.push_back({i, begin, std::min(begin + piece_elements, tensor.numel())});
    }
  }
  sums_.resize(pieces_.size());
  all_pieces_.resize(pieces_.size());
  std::iota(all_pieces_.begin(), all_pieces_.end(), size_t{0});
}

int64_t TensorList::numel() const {
  int64_t count = 0;
  for (const NamedTensor& named : tensors_) count += named.tensor.numel();
  return count;
}

void TensorList::prepare_norm() {
  for (NamedTensor& named : tensors_) named.tensor.want_squares(true);
}

double TensorList::norm() const {
  if (tensors_.front().tensor.is_cuda()) {
    train::OptimizerTables tables;
    tables.point_to(*this);
    Tensor sums = empty({tables.piece_count}, DType::float64, tensors_.front().tensor.device());
    train::squares_on_device(tables, sums);
    return std::sqrt(sum(sums).item());
  }
  double sum = 0;
  for (const double piece : squares(all_pieces_)) sum += piece;
  // What operations summed holds until somebody else writes, of which a list does not hear: it is used once.
  for (const NamedTensor& named : tensors_) {
    if (Tensor gradient = named.tensor; gradient.is_gradient_buffer()) gradient.want_squares(false);
  }
  return std::sqrt(sum);
}

std::span<const double> TensorList::squares(std::span<const size_t> pieces) const {
  const std::span<double> sums = std::span(sums_).first(pieces.size());
  detail::dispatch_real("norm", dtype_, [&]<class T>(T) { piece_sums<T>(tensors_, pieces_, pieces, sums); });
  return sums;
}

void TensorList::scale(double factor) {
  if (tensors_.front().tensor.is_cuda()) {
    for (NamedTensor& named : tensors_)
      if (!named.tensor.is_marked_zero()) named.tensor.copy_from(cladtorch::scale(named.tensor, factor));
    return;
  }
  detail::dispatch_floating("scale", dtype_, [&]<class T>(T) { scale_pieces<T>(tensors_, pieces_, factor); });
}

void TensorList::mark_zero() {
  for (NamedTensor& named : tensors_) named.tensor.mark_zero();
}

double clip_grad_norm(TensorList& gradients, double max_norm) {
  const double norm = gradients.norm();
  if (norm > max_norm) gradients.scale(max_norm / norm);
  return norm;
}

}  // namespace cladtorch
