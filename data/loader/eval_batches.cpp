#include <algorithm>

#include "cladtorch/data/loader.h"
#include "cladtorch/error.h"
#include "data/loader/window.h"

namespace cladtorch::data {

EvalBatches::EvalBatches(TokenSpan tokens, BatchShape shape, EvalOptions options)
    : tokens_(tokens), shape_(shape), options_(options) {
  check_windows("evaluation", tokens, shape);
  require(options.context >= 0 && options.context < shape.time, "evaluation: context must be from 0 to ",
          shape.time - 1, " for sequences of ", shape.time, ", got ", options.context);
  require(options.max_batches >= 0, "evaluation: max_batches must not be negative, got ",
          options.max_batches);
  // Enough windows for every target after the first `context` ones, rounded up to whole batches.
  const auto scored = static_cast<int64_t>(tokens.size()) - 1 - options.context;
  const int64_t per_batch = shape.batch * (shape.time - options.context);
  count_ = (scored + per_batch - 1) / per_batch;
  if (options.max_batches > 0) count_ = std::min(count_, options.max_batches);
}

int64_t EvalBatches::scored_tokens() const {
  return count_ * shape_.batch * (shape_.time - options_.context);
}

void EvalBatches::get(int64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const {
  require(index >= 0 && index < count_, "evaluation: batch ", index, " of ", count_, " does not exist");
  check_buffers("evaluation", shape_, tokens, targets);
  const auto windows = static_cast<uint64_t>(count_ * shape_.batch);
  const auto time = static_cast<size_t>(shape_.time);
  const uint64_t last_start = tokens_.size() - time - 1;
  for (size_t row = 0; row < static_cast<size_t>(shape_.batch); ++row) {
    // Even spacing from the first token to the last: neighbours overlap by a little more than the context.
    const uint64_t window = static_cast<uint64_t>(index * shape_.batch) + row;
    const auto start = static_cast<size_t>(
        windows == 1 ? 0 : static_cast<unsigned __int128>(window) * last_start / (windows - 1));
    tokens_.copy(start, tokens.subspan(row * time, time));
    const std::span<int32_t> row_targets = targets.subspan(row * time, time);
    tokens_.copy(start + 1, row_targets);
    std::fill_n(row_targets.begin(), options_.context, ignored_target);
  }
}

}  // namespace cladtorch::data
