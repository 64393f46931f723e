// The tokens of a text, which may lie in several shards, with their documents and marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cladtorch/data/token_span.h"

namespace cladtorch::data {

/// The target of a position that is not to be scored (PyTorch's default ignore_index).
inline constexpr int32_t ignored_target = -100;

/// One sequence over the parts that hold it. Does not own the tokens: whoever made it keeps them alive.
class TokenSequence {
 public:
  struct Part {
    TokenSpan tokens;
    std::span<const uint64_t> documents{};  ///< places in `tokens` where documents begin, ascending
    std::span<const uint64_t> ignored{};  ///< bit i % 64 of word i / 64: token i is never a target; or empty
  };

  TokenSequence() = default;
  TokenSequence(TokenSpan tokens) : TokenSequence(std::vector<Part>{{tokens}}) {}  // NOLINT: a view of a view
  explicit TokenSequence(std::vector<Part> parts);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Token `i`; `i` must be below size().
  int32_t operator[](size_t i) const;
  /// Whether token `i` is never predicted, as in the prompt of an example.
  bool ignored(size_t i) const;
  /// Whether any token is.
  bool has_ignored() const;

  /// Tokens [first, first + out.size()), which must lie inside the sequence. Allocates nothing.
  void copy(size_t first, std::span<int32_t> out) const;
  /// The same tokens as targets, with ignored_target where a token is ignored.
  void copy_targets(size_t first, std::span<int32_t> out) const;

  /// The first tokens of documents, ascending from 0; empty if they were not recorded.
  std::vector<uint64_t> documents() const;

  /// `count` tokens from `first` on; the range must lie inside the sequence.
  TokenSequence subsequence(size_t first, size_t count) const;

 private:
  struct Place {
    size_t part, offset;
  };
  Place place(size_t i) const;
  /// Calls visit(part, offset in the part, number of tokens, number visited before) over a range.
  template <class F>
  void visit(size_t first, size_t count, F visit) const;

  std::vector<Part> parts_;
  std::vector<uint64_t> ends_;  // of the parts, counted from the start of the first
  size_t first_ = 0, size_ = 0;
};

/// Takes the tokens of one text in order.
class TokenSink {
 public:
  virtual ~TokenSink() = default;
  /// The next token begins a document.
  virtual void begin_document() = 0;
  /// If `ignored`, these tokens are never targets.
  virtual void append(std::span<const int32_t> tokens, bool ignored) = 0;
};

/// Writes all of `from` to `to`, in bounded memory except for 8 bytes per document. If `continues`, the first
/// token continues the last document of `to` instead of beginning one.
void copy_tokens(const TokenSequence& from, TokenSink& to, bool continues = false);

}  // namespace cladtorch::data
