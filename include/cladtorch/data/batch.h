// Batches as tensors. This is only a header, so that the data layer itself does not depend on tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cladtorch/data/loader.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

/// Two int32 tensors [B, T].
struct Batch {
  Tensor tokens, targets;

  explicit Batch(BatchShape shape)
      : tokens(Tensor::empty({shape.batch, shape.time}, DType::int32)),
        targets(Tensor::empty({shape.batch, shape.time}, DType::int32)) {}
};

/// Overwrites `batch`, which must have the shape of the source; allocates nothing.
inline void next(Loader& loader, Batch& batch) {
  const auto size = static_cast<size_t>(batch.tokens.numel());
  loader.next({batch.tokens.data<int32_t>(), size}, {batch.targets.data<int32_t>(), size});
}

/// The same for batch `index` of an evaluation; returns how many targets are scored.
inline int64_t get(const EvalBatches& batches, int64_t index, Batch& batch) {
  const auto size = static_cast<size_t>(batch.tokens.numel());
  return batches.get(index, {batch.tokens.data<int32_t>(), size}, {batch.targets.data<int32_t>(), size});
}

}  // namespace cladtorch::data
