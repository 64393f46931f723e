// What both kinds of batches check about their windows.
#pragma once

#include <span>

#include "cladtorch/data/loader.h"
#include "cladtorch/error.h"

namespace cladtorch::data {

/// Throws Error unless the shape is positive.
inline void check_shape(const char* who, BatchShape shape) {
  require(shape.batch > 0 && shape.time > 0, who, ": batch and sequence length must be at least 1, got ",
          shape.batch, " and ", shape.time);
}

/// Throws Error unless `tokens` hold at least one window of T + 1.
inline void check_windows(const char* who, const TokenSequence& tokens, BatchShape shape) {
  require(tokens.size() > static_cast<uint64_t>(shape.time), who, ": the text is too short: ", tokens.size(),
          " tokens, but sequences of ", shape.time, " need at least ", shape.time + 1,
          "; use a longer text or a shorter sequence");
}

inline void check_buffers(const char* who, BatchShape shape, std::span<const int32_t> tokens,
                          std::span<const int32_t> targets) {
  const auto size = static_cast<size_t>(shape.size());
  require(tokens.size() == size && targets.size() == size, who, ": buffers hold ", tokens.size(),
          " tokens and ", targets.size(), " targets, expected ", size, " each");
}

}  // namespace cladtorch::data
