// Batches of (tokens, targets) for training, with exact resume, and fixed batches for evaluation.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "cladtorch/data/permutation.h"
#include "cladtorch/data/token_span.h"

namespace cladtorch::data {

/// The target of a position that is not to be scored (PyTorch's default ignore_index).
inline constexpr int32_t ignored_target = -100;

/// B sequences of T tokens each.
struct BatchShape {
  int64_t batch = 1;
  int64_t time = 1;
  int64_t size() const { return batch * time; }
};

enum class Sampling {
  shuffled_windows,  ///< each epoch cuts the text into windows of T at a random phase and visits each once,
                     ///< in random order
  random_offsets,    ///< each sequence starts at a uniformly random token
};

/// "shuffled_windows" or "random_offsets", and back; throws Error on another name.
std::string to_string(Sampling sampling);
Sampling sampling_from_string(const std::string& name);

/// All that decides the batches that a Loader will give: save it with a checkpoint and `restore` it.
struct LoaderState {
  uint64_t seed = 0;
  uint64_t epoch = 0;     ///< full passes over the text (always 0 for random offsets)
  uint64_t position = 0;  ///< sequences given in this epoch
  bool operator==(const LoaderState&) const = default;
};
void to_json(nlohmann::json& json, const LoaderState& state);
void from_json(const nlohmann::json& json, LoaderState& state);

/// An endless stream of batches. A sequence is T + 1 adjacent tokens: targets are the tokens one place later.
/// Computes every window from (seed, epoch, position) alone: no tables, no allocation after construction.
class Loader {
 public:
  /// `tokens` must outlive the loader. Throws Error stating the minimum when they are fewer than T + 1.
  Loader(TokenSpan tokens, BatchShape shape, uint64_t seed, Sampling sampling = Sampling::shuffled_windows);

  /// Fills row-major [B, T] buffers of shape().size() elements each.
  void next(std::span<int32_t> tokens, std::span<int32_t> targets);

  BatchShape shape() const { return shape_; }
  const LoaderState& state() const { return state_; }
  /// Continues exactly where a loader over the same tokens, shape and sampling was in `state`. Throws Error
  /// for a place that this loader never comes to.
  void restore(const LoaderState& state);

  /// Tokens that one epoch visits (random offsets: the size of the text), for "epochs seen" displays.
  uint64_t epoch_tokens() const;

 private:
  uint64_t next_start();
  void begin_epoch();

  TokenSpan tokens_;
  BatchShape shape_;
  Sampling sampling_;
  LoaderState state_;
  uint64_t phase_ = 0;  // where the first window of this epoch begins
  Permutation order_;   // of this epoch's windows
};

struct EvalOptions {
  /// Positions at the start of each window that are given as context but not scored: their targets are
  /// ignored_target. With 0 every position is scored, the first ones almost blind; with T/2 every scored
  /// token is predicted from at least T/2 others, at twice the cost for the same text. Must be below T.
  int64_t context = 0;
  /// At most this many batches, spread evenly over the text; 0 means as many as it takes to score all of it.
  int64_t max_batches = 0;
};

/// The same batches in every evaluation and every run: windows spread evenly over the text.
/// Every batch scores the same number of targets, so the mean of batch losses is the mean over tokens.
class EvalBatches {
 public:
  EvalBatches(TokenSpan tokens, BatchShape shape, EvalOptions options = {});

  int64_t count() const { return count_; }
  BatchShape shape() const { return shape_; }
  /// Targets scored by all batches together.
  int64_t scored_tokens() const;
  /// Fills batch `index`, 0 <= index < count().
  void get(int64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const;

 private:
  TokenSpan tokens_;
  BatchShape shape_;
  EvalOptions options_;
  int64_t count_ = 0;
};

}  // namespace cladtorch::data
