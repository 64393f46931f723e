// Mini-batches of tensors that are in memory. Header only, so that the data layer itself does not depend on
// tensors.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "cladtorch/data/permutation.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch::data {

/// Gives the rows of some tensors in batches, the same rows of each, in another order every epoch: what
/// PyTorch's DataLoader(TensorDataset(x, y), batch_size, shuffle=True, drop_last=True) does.
///
///     data::TensorLoader loader({points, labels}, 32, seed);
///     const std::vector<Tensor>& batch = loader.next();   // x = batch[0], y = batch[1]
///
/// The batches depend on the seed and on how many were given before, and on nothing else. Nothing is
/// allocated after construction.
class TensorLoader {
 public:
  /// `tensors` have the same first extent, the number of rows, of at least `batch`; any dtype, on the CPU.
  /// Throws Error otherwise.
  TensorLoader(std::vector<Tensor> tensors, int64_t batch, uint64_t seed)
      : batch_(batch), seed_(seed), order_(0, seed, 0) {
    require(!tensors.empty(), "TensorLoader: expected at least one tensor");
    for (const Tensor& tensor : tensors) {
      require(tensor.dim() > 0 && tensor.size(0) == tensors[0].size(0),
              "TensorLoader: the tensors have different numbers of rows: ", tensors[0].shape(), " and ",
              tensor.shape());
      tensors_.push_back(tensor.contiguous());
      Shape shape = tensor.shape();
      shape[0] = batch;
      require(batch > 0 && batch <= tensor.size(0), "TensorLoader: batches of ", batch,
              " rows cannot be made of ", tensor.size(0));
      batches_.push_back(empty(shape, tensor.dtype()));
    }
    seek(0);
  }

  /// The next batch: tensors [batch, ...] that are overwritten by the call after this one.
  const std::vector<Tensor>& next() {
    seek(given_);
    const auto first = static_cast<uint64_t>(given_ % batches_per_epoch() * batch_);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const size_t bytes = tensors_[i].nbytes() / static_cast<size_t>(tensors_[i].size(0));
      const auto* from = static_cast<const char*>(std::as_const(tensors_[i]).data());
      auto* to = static_cast<char*>(batches_[i].data());
      for (uint64_t row = 0; row < static_cast<uint64_t>(batch_); ++row)
        std::memcpy(to + row * bytes, from + order_(first + row) * bytes, bytes);
    }
    ++given_;
    return batches_;
  }

  int64_t batches_per_epoch() const { return tensors_[0].size(0) / batch_; }
  /// Batches given so far: store it with a checkpoint, and seek() goes on from there.
  int64_t given() const { return given_; }
  void seek(int64_t given) {
    require(given >= 0, "TensorLoader: cannot go to batch ", given);
    const auto epoch = static_cast<uint64_t>(given / batches_per_epoch());
    if (order_.size() == 0 || epoch != epoch_)
      order_ = Permutation(static_cast<uint64_t>(tensors_[0].size(0)), seed_, epoch);
    epoch_ = epoch;
    given_ = given;
  }

 private:
  std::vector<Tensor> tensors_, batches_;
  int64_t batch_, given_ = 0;
  uint64_t seed_, epoch_ = 0;
  Permutation order_;  // of this epoch's rows
};

}  // namespace cladtorch::data
