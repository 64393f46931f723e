// Batches of (tokens, targets) for training, with exact resume, and fixed batches for evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "cladtorch/data/permutation.h"
#include "cladtorch/data/token_sequence.h"

namespace cladtorch::data {

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

/// How documents are placed in windows.
enum class Packing {
  packed,     ///< one after the other: a window begins anywhere and may hold the end of one and the start of
              ///< the next
  documents,  ///< a window holds whole documents, as many as fit, and nothing is predicted across their
              ///< bounds; only a document longer than T is cut
};

/// "packed" or "documents", and back; throws Error on another name.
std::string to_string(Packing packing);
Packing packing_from_string(const std::string& name);

class DocumentWindows;

/// The complete state of a Loader, which decides its next batches. Save it with a checkpoint and `restore`
/// it.
struct LoaderState {
  uint64_t seed = 0;
  uint64_t epoch = 0;     ///< full passes over the text (always 0 for random offsets)
  uint64_t position = 0;  ///< sequences given in this epoch
  bool operator==(const LoaderState&) const = default;
};
void to_json(nlohmann::json& json, const LoaderState& state);
void from_json(const nlohmann::json& json, LoaderState& state);

/// An endless stream of batches. A sequence is T + 1 adjacent tokens, or documents of that many tokens in
/// all; targets are the tokens one place later, or ignored_target where that token is never a target.
/// Computes every window from (seed, epoch, position) alone and allocates nothing after construction.
/// Packing::packed keeps no tables; Packing::documents keeps 16 bytes per document and 8 per window.
class Loader {
 public:
  /// The memory behind `tokens` must outlive the loader. Throws Error stating the minimum if there are fewer
  /// than T + 1 tokens, and for Packing::documents if their documents are not known or the sampling is not
  /// shuffled_windows.
  Loader(TokenSequence tokens, BatchShape shape, uint64_t seed,
         Sampling sampling = Sampling::shuffled_windows, Packing packing = Packing::packed);

  /// Fills row-major [B, T] buffers of shape().size() elements each.
  void next(std::span<int32_t> tokens, std::span<int32_t> targets);

  /// Goes past `batches` batches, which others read.
  void skip(int64_t batches);

  BatchShape shape() const { return shape_; }
  const LoaderState& state() const { return state_; }
  /// Continues exactly where a loader over the same tokens, shape and sampling was in `state`. Throws Error
  /// for a place that this loader never reaches.
  void restore(const LoaderState& state);
  /// Whether it can be in its state after so many tokens.
  bool may_have_given(uint64_t tokens) const;

  /// Tokens that one epoch visits (random offsets: the size of the text), for "epochs seen" displays.
  uint64_t epoch_tokens() const;

 private:
  uint64_t next_start();
  uint64_t next_window();
  void begin_epoch();

  TokenSequence tokens_;
  BatchShape shape_;
  Sampling sampling_;
  std::shared_ptr<const DocumentWindows> documents_;  // of Packing::documents
  LoaderState state_;
  uint64_t phase_ = 0;  // where the first window of this epoch begins
  Permutation order_;   // of this epoch's windows
};

struct EvalOptions {
  /// Positions at the start of each window that are given as context but not scored: their targets are
  /// ignored_target. With 0 every position is scored, the first ones almost without context; with T/2 every
  /// scored token is predicted from at least T/2 others, at twice the cost for the same text. Must be below
  /// T.
  int64_t context = 0;
  /// At most this many batches, spread evenly over the text; 0 means as many as it takes to score all of it.
  int64_t max_batches = 0;
  /// With Packing::documents each window holds whole documents, each window is given once, and `context` is
  /// ignored, because a document is predicted from its beginning.
  Packing packing = Packing::packed;
};

/// The same batches in every evaluation and every run: windows spread evenly over the text. The mean over
/// tokens is the mean of batch losses, each weighted by what get() returned; the weights are all the same
/// unless documents are packed or tokens are ignored.
class EvalBatches {
 public:
  EvalBatches(TokenSequence tokens, BatchShape shape, EvalOptions options = {});

  int64_t count() const { return count_; }
  BatchShape shape() const { return shape_; }
  /// Fills batch `index`, 0 <= index < count(), and returns how many of its targets are scored.
  int64_t get(int64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const;

 private:
  void get_window(uint64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const;
  void get_documents(uint64_t index, std::span<int32_t> tokens, std::span<int32_t> targets) const;

  TokenSequence tokens_;
  BatchShape shape_;
  EvalOptions options_;
  std::shared_ptr<const DocumentWindows> documents_;  // of Packing::documents
  int64_t count_ = 0;
};

}  // namespace cladtorch::data
