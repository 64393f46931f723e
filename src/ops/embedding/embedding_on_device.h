// Table look-up on CUDA devices. An index outside the table gives a row of NaN, or of zeros if elements are
// integers, and has no gradient: the host does not know what is on the device.
#pragma once

#include "cladtorch/tensor/gradient_target.h"
#include "tensor/device_function.h"

namespace cladtorch::detail {

/// y [..., C] of dense indices [...] and table [V, C].
inline constinit DeviceFunction<void(const Tensor& indices, const Tensor& table, Tensor& y)>
    embedding_on_device{"embedding"};

/// The memory that positions are sorted in by their indices (sorted_positions.cuh).
struct SortMemory {
  Tensor pairs;   ///< int32 [4, count]
  Tensor counts;  ///< int32, at least sort_counts(count)
};
inline constexpr int64_t sort_tile = 1024, sort_digits = 256;
constexpr int64_t sort_tiles(int64_t count) { return (count + sort_tile - 1) / sort_tile; }
constexpr int64_t sort_counts(int64_t count) { return sort_digits * (sort_tiles(count) + 1); }

/// Positions, in the order of their indices, of which one block adds the rows. Rows with more positions are
/// added from the sums of several blocks.
inline constexpr int64_t embedding_chunk = 32;

struct EmbeddingPullbackOnDevice {
  Tensor indices, d_y;  ///< dense
  int64_t rows;         ///< of the table
  SortMemory sorting;
  Tensor sums;  ///< [chunks, 2, C] in the dtype that d_y is computed in
  GradientTarget d_table;
};

inline constinit DeviceFunction<void(const EmbeddingPullbackOnDevice& pullback)> embedding_pullback_on_device{
    "embedding"};

}  // namespace cladtorch::detail
