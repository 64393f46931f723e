// Shuffled mini-batches of tensors that are in memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cladtorch/data/data_loader.h"

namespace cladtorch::data {

/// The usual DataLoader of tensors for training: shuffled, all batches full, no workers. Nothing is allocated
/// after construction.
///
///     data::TensorLoader loader({points, labels}, 32, seed);
///     const std::vector<Tensor>& batch = loader.next();   // x = batch[0], y = batch[1]
class TensorLoader : public DataLoader<TensorDataset> {
 public:
  /// `tensors` as for TensorDataset. Throws Error if they have fewer rows than `batch`.
  TensorLoader(std::vector<Tensor> tensors, int64_t batch, uint64_t seed)
      : DataLoader(TensorDataset(std::move(tensors)),
                   {.batch_size = batch, .shuffle = true, .drop_last = true}, seed) {}
};

}  // namespace cladtorch::data
