#include "cladtorch/data/loader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "cladtorch/random.h"
#include "data/loader/document_windows.h"
#include "data/loader/window.h"

namespace cladtorch::data {
namespace {

// Streams of random numbers: one per epoch for the order of windows, one per epoch for their phase, one for
// offsets.
constexpr uint64_t order_stream = 0, phase_stream = uint64_t{1} << 62, offset_stream = uint64_t{2} << 62;

}  // namespace

std::string to_string(Sampling sampling) {
  return sampling == Sampling::shuffled_windows ? "shuffled_windows" : "random_offsets";
}

Sampling sampling_from_string(const std::string& name) {
  if (name == "shuffled_windows") return Sampling::shuffled_windows;
  if (name == "random_offsets") return Sampling::random_offsets;
  fail("sampling: expected shuffled_windows or random_offsets, got ", in_quotes(name));
}

std::string to_string(Packing packing) { return packing == Packing::packed ? "packed" : "documents"; }

Packing packing_from_string(const std::string& name) {
  if (name == "packed") return Packing::packed;
  if (name == "documents") return Packing::documents;
  fail("packing: expected packed or documents, got ", in_quotes(name));
}

void to_json(nlohmann::json& json, const LoaderState& state) {
  json = {{"seed", state.seed}, {"epoch", state.epoch}, {"position", state.position}};
}

void from_json(const nlohmann::json& json, LoaderState& state) {
  const auto number = [&](const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    require(found != json.end() && found->is_number_unsigned(), "loader state: '", key,
            "' must be a whole number, not negative");
    return found->get<uint64_t>();
  };
  state = {number("seed"), number("epoch"), number("position")};
}

Loader::Loader(TokenSequence tokens, BatchShape shape, uint64_t seed, Sampling sampling, Packing packing)
    : tokens_(std::move(tokens)), shape_(shape), sampling_(sampling), state_{seed, 0, 0}, order_(1, 0, 0) {
  check_shape("loader", shape);
  if (packing == Packing::documents) {
    require(sampling == Sampling::shuffled_windows,
            "loader: packing 'documents' needs the sampling 'shuffled_windows', got '", to_string(sampling),
            "'");
    documents_ = std::make_shared<const DocumentWindows>("loader", tokens_, shape.time);
  } else {
    check_windows("loader", tokens_, shape);
  }
  begin_epoch();
}

void Loader::restore(const LoaderState& state) {
  state_ = state;
  begin_epoch();
  require(sampling_ == Sampling::random_offsets || state.position < order_.size(), "loader state: position ",
          state.position, " lies beyond the ", order_.size(),
          " sequences of an epoch; has the text, the sequence length or the sampling changed?");
}

bool Loader::may_have_given(uint64_t tokens) const {
  const auto time = static_cast<uint64_t>(shape_.time);
  if (tokens % time != 0 || tokens / time < state_.position) return false;
  const uint64_t before = tokens / time - state_.position, epochs = state_.epoch;  // sequences, in `epochs`
  if (epochs == 0 || sampling_ == Sampling::random_offsets) return epochs == 0 && before == 0;
  if (documents_) return before % epochs == 0 && before / epochs == order_.size();
  const uint64_t starts = tokens_.size() - time;
  const uint64_t fewest = (starts - std::min(time, starts)) / time + 1, most = (starts - 1) / time + 1;
  return before / epochs >= fewest && (before - 1) / epochs + 1 <= most;
}

void Loader::begin_epoch() {
  const auto stream = order_stream + state_.epoch;
  if (documents_) {
    order_ = Permutation(documents_->count(), state_.seed, stream);
    return;
  }
  const auto time = static_cast<uint64_t>(shape_.time);
  const uint64_t starts = tokens_.size() - time;  // places where T + 1 tokens begin
  // A phase moves the cuts from epoch to epoch, so that each token is sometimes the first and sometimes the
  // last one.
  phase_ = Random(state_.seed, phase_stream + state_.epoch).below(std::min(time, starts));
  order_ = Permutation((starts - phase_ - 1) / time + 1, state_.seed, stream);
}

uint64_t Loader::next_window() {
  const uint64_t window = order_(state_.position);
  if (++state_.position == order_.size()) {
    state_ = {state_.seed, state_.epoch + 1, 0};
    begin_epoch();
  }
  return window;
}

uint64_t Loader::next_start() {
  if (sampling_ == Sampling::random_offsets) {
    Random random(state_.seed, offset_stream + state_.position++);
    return random.below(tokens_.size() - static_cast<uint64_t>(shape_.time));
  }
  const uint64_t phase = phase_;  // the next epoch, which may begin in between, has another one
  return phase + next_window() * static_cast<uint64_t>(shape_.time);
}

void Loader::next(std::span<int32_t> tokens, std::span<int32_t> targets) {
  check_buffers("loader", shape_, tokens, targets);
  const auto time = static_cast<size_t>(shape_.time);
  for (size_t row = 0; row < static_cast<size_t>(shape_.batch); ++row) {
    const std::span<int32_t> row_tokens = tokens.subspan(row * time, time);
    const std::span<int32_t> row_targets = targets.subspan(row * time, time);
    if (documents_) {
      documents_->copy(next_window(), row_tokens, row_targets);
      continue;
    }
    const uint64_t start = next_start();
    tokens_.copy(start, row_tokens);
    tokens_.copy_targets(start + 1, row_targets);
  }
}

void Loader::skip(int64_t batches) {
  for (int64_t i = 0; i < batches * shape_.batch; ++i) documents_ ? next_window() : next_start();
}

uint64_t Loader::epoch_tokens() const {
  if (documents_) return documents_->tokens();
  return sampling_ == Sampling::random_offsets ? tokens_.size() - 1
                                               : order_.size() * static_cast<uint64_t>(shape_.time);
}

}  // namespace cladtorch::data
