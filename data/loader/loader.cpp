#include "cladtorch/data/loader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cladtorch/error.h"
#include "cladtorch/random.h"
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
  fail("sampling: expected shuffled_windows or random_offsets, got '", name, "'");
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

Loader::Loader(TokenSpan tokens, BatchShape shape, uint64_t seed, Sampling sampling)
    : tokens_(tokens), shape_(shape), sampling_(sampling), state_{seed, 0, 0}, order_(1, 0, 0) {
  check_windows("loader", tokens, shape);
  begin_epoch();
}

void Loader::restore(const LoaderState& state) {
  state_ = state;
  begin_epoch();
  require(sampling_ == Sampling::random_offsets || state.position < order_.size(), "loader state: position ",
          state.position, " lies beyond the ", order_.size(),
          " sequences of an epoch; has the text, the sequence length or the sampling changed?");
}

void Loader::begin_epoch() {
  const auto time = static_cast<uint64_t>(shape_.time);
  const uint64_t starts = tokens_.size() - time;  // places where T + 1 tokens begin
  // A phase moves the cuts from epoch to epoch, so that each token is sometimes the first and sometimes the
  // last one.
  phase_ = Random(state_.seed, phase_stream + state_.epoch).below(std::min(time, starts));
  order_ = Permutation((starts - phase_ - 1) / time + 1, state_.seed, order_stream + state_.epoch);
}

uint64_t Loader::next_start() {
  if (sampling_ == Sampling::random_offsets) {
    Random random(state_.seed, offset_stream + state_.position++);
    return random.below(tokens_.size() - static_cast<uint64_t>(shape_.time));
  }
  const uint64_t start = phase_ + order_(state_.position) * static_cast<uint64_t>(shape_.time);
  if (++state_.position == order_.size()) {
    state_ = {state_.seed, state_.epoch + 1, 0};
    begin_epoch();
  }
  return start;
}

void Loader::next(std::span<int32_t> tokens, std::span<int32_t> targets) {
  check_buffers("loader", shape_, tokens, targets);
  const auto time = static_cast<size_t>(shape_.time);
  for (size_t row = 0; row < static_cast<size_t>(shape_.batch); ++row) {
    const uint64_t start = next_start();
    tokens_.copy(start, tokens.subspan(row * time, time));
    tokens_.copy(start + 1, targets.subspan(row * time, time));
  }
}

uint64_t Loader::epoch_tokens() const {
  return sampling_ == Sampling::random_offsets ? tokens_.size() - 1
                                               : order_.size() * static_cast<uint64_t>(shape_.time);
}

}  // namespace cladtorch::data
