// All derivations of a text, by memoized descent: which ends a node can reach from a place, how often, how
// likely.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "cladtorch/data/grammar.h"

namespace cladtorch::data {
namespace {

struct End {
  size_t at = 0;
  uint64_t derivations = 0;
  double log_probability = 0;
};
using Ends = std::vector<End>;

void add_end(Ends& ends, const End& end) {
  for (End& known : ends) {
    if (known.at != end.at) continue;
    known.derivations += end.derivations;
    const double high = std::max(known.log_probability, end.log_probability);
    known.log_probability =
        high + std::log(std::exp(known.log_probability - high) + std::exp(end.log_probability - high));
    return;
  }
  ends.push_back(end);
}

class Parser {
 public:
  Parser(const std::vector<Grammar::Node>& nodes, std::string_view text) : nodes_(nodes), text_(text) {}

  Ends ends(uint32_t id, size_t from) {
    const Grammar::Node& node = nodes_[id];
    if (node.kind == Grammar::Node::Kind::text) {
      if (!text_.substr(from).starts_with(node.text)) return {};
      return {{from + node.text.size(), 1, 0.0}};
    }
    const uint64_t key = (static_cast<uint64_t>(id) << 32) | from;
    if (const auto known = memo_.find(key); known != memo_.end()) return known->second;
    Ends result = node.kind == Grammar::Node::Kind::sequence ? sequence(node, from) : choice(node, from);
    return memo_[key] = std::move(result);
  }

 private:
  Ends sequence(const Grammar::Node& node, size_t from) {
    Ends reached{{from, 1, 0.0}};
    for (uint32_t child : node.children) {
      Ends next;
      for (const End& a : reached) {
        for (const End& b : ends(child, a.at)) {
          add_end(next, {b.at, a.derivations * b.derivations, a.log_probability + b.log_probability});
        }
      }
      reached = std::move(next);
    }
    return reached;
  }

  Ends choice(const Grammar::Node& node, size_t from) {
    Ends result;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const double log_p =
          std::log(static_cast<double>(node.weights[i])) - std::log(static_cast<double>(node.total_weight));
      for (End end : ends(node.children[i], from)) {
        end.log_probability += log_p;
        add_end(result, end);
      }
    }
    return result;
  }

  const std::vector<Grammar::Node>& nodes_;
  std::string_view text_;
  std::unordered_map<uint64_t, Ends> memo_;
};

}  // namespace

GrammarParse Grammar::parse(std::string_view text) const {
  for (const End& end : Parser(nodes_, text).ends(root_, 0)) {
    if (end.at == text.size()) return {end.derivations, end.log_probability};
  }
  return {0, -std::numeric_limits<double>::infinity()};
}

}  // namespace cladtorch::data
