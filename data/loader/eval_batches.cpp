#include <algorithm>

#include "cladtorch/data/loader.h"
#include "cladtorch/error.h"
#include "data/loader/document_windows.h"
#include "data/loader/window.h"

namespace cladtorch::data {

EvalBatches::EvalBatches(TokenSequence tokens, BatchShape shape, EvalOptions options)
    : tokens_(std::move(tokens)), shape_(shape), options_(options) {
  check_shape("evaluation", shape);
  require(options.context >= 0 && options.context < shape.time, "evaluation: context must be from 0 to ",
          shape.time - 1, " for sequences of ", shape.time, ", got ", options.context);
  require(options.max_batches >= 0, "evaluation: max_batches must not be negative, got ",
          options.max_batches);
  if (options.packing == Packing::documents) {
    documents_ = std::make_shared<const DocumentWindows>("evaluation", tokens_, shape.time);
    count_ = (static_cast<int64_t>(documents_->count()) + shape.batch - 1) / shape.batch;
  } else {
    check_windows("evaluation", tokens_, shape);
    // Enough windows for every target after the first `context` ones, rounded up to whole batches.
    const auto scored = static_cast<int64_t>(tokens_.size()) - 1 - options.context;
    const int64_t per_batch = shape.batch * (shape.time - options.context);
    count_ = (scored + per_batch - 1) / per_batch;
  }
  if (options.max_batches > 0) count_ = std::min(count_, options.max_batches);
}

int64_t EvalBatches::get(int64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const {
  require(index >= 0 && index < count_, "evaluation: batch ", index, " of ", count_, " does not exist");
  check_buffers("evaluation", shape_, tokens, targets);
  const auto time = static_cast<size_t>(shape_.time);
  for (size_t row = 0; row < static_cast<size_t>(shape_.batch); ++row) {
    const uint64_t window = static_cast<uint64_t>(index * shape_.batch) + row;
    const std::span<int32_t> row_tokens = tokens.subspan(row * time, time);
    const std::span<int32_t> row_targets = targets.subspan(row * time, time);
    if (documents_) {
      get_documents(window, row_tokens, row_targets);
    } else {
      get_window(window, row_tokens, row_targets);
    }
  }
  return static_cast<int64_t>(targets.size()) - std::count(targets.begin(), targets.end(), ignored_target);
}

void EvalBatches::get_window(uint64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const {
  const auto windows = static_cast<uint64_t>(count_ * shape_.batch);
  const uint64_t last_start = tokens_.size() - tokens.size() - 1;
  // Even spacing from the first token to the last: neighbours overlap by a little more than the context.
  const auto start = static_cast<size_t>(
      windows == 1 ? 0 : static_cast<unsigned __int128>(index) * last_start / (windows - 1));
  tokens_.copy(start, tokens);
  tokens_.copy_targets(start + 1, targets);
  std::fill_n(targets.begin(), options_.context, ignored_target);
}

void EvalBatches::get_documents(uint64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const {
  const auto places = static_cast<uint64_t>(count_ * shape_.batch);
  const uint64_t windows = documents_->count();
  // Each window once and then empty ones, or as many as there are places for.
  const auto window = places >= windows
                          ? index
                          : static_cast<uint64_t>(static_cast<unsigned __int128>(index) * windows / places);
  if (window < windows) {
    documents_->copy(window, tokens, targets);
  } else {
    std::fill(tokens.begin(), tokens.end(), 0);
    std::fill(targets.begin(), targets.end(), ignored_target);
  }
}

}  // namespace cladtorch::data
