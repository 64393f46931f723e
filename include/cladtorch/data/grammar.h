// Probabilistic grammars of finite texts: sampling, exact entropy, parsing. The notation is in docs/data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cladtorch/random.h"

namespace cladtorch::data {

/// Exact properties of the text that a grammar makes, by dynamic programming over its rules.
struct GrammarStatistics {
  double nats = 0;     ///< entropy of one text: expected -log p
  double bytes = 0;    ///< expected length of one text
  uint64_t nodes = 0;  ///< rules after every variable is replaced by each of its values
  double nats_per_byte() const { return nats / bytes; }
};

/// The result of `Grammar::parse` for one text.
struct GrammarParse {
  uint64_t derivations = 0;    ///< ways to derive the text: 0 (not in the language) or, if unambiguous, 1
  double log_probability = 0;  ///< of the text, in nats; -infinity when there is no derivation
};

/// A context-free grammar without recursion, so each text is finite. Built from a source in which earlier
/// choices are bound to variables; each variable is replaced by its values, which leaves plain rules.
class Grammar {
 public:
  /// One rule: terminal bytes, a sequence of rules, or a choice among rules with integer weights.
  struct Node {
    enum class Kind : uint8_t { text, sequence, choice } kind = Kind::text;
    std::string text;
    std::vector<uint32_t> children;
    std::vector<uint32_t> weights;  ///< choice only: same length as children
    uint64_t total_weight = 0;
  };

  /// Compiles `source`; the text is what the rule `start` derives. Throws Error naming the line.
  Grammar(std::string_view source, std::string_view start);

  /// Appends one text to `out`.
  void sample(Random& random, std::string& out) const;

  GrammarStatistics statistics() const;

  /// All derivations of `text` as one whole text.
  GrammarParse parse(std::string_view text) const;

  /// Empty if at every choice no text of an alternative is a prefix of a text of another alternative. Then
  /// derivations and texts are one to one, and a stream of texts can be cut in only one way. Otherwise this
  /// describes the first conflict.
  std::string prefix_conflict() const;

  /// Rules; a child has a smaller index than its parent.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The rule that makes the whole text.
  uint32_t root() const { return root_; }

 private:
  std::vector<Node> nodes_;
  uint32_t root_ = 0;
};

}  // namespace cladtorch::data
