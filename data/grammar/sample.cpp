// What a grammar's texts are worth: drawing one, and exact expectations over all of them.
#include <cmath>

#include "cladtorch/data/grammar.h"

namespace cladtorch::data {
namespace {

void expand(const std::vector<Grammar::Node>& nodes, uint32_t id, Random& random, std::string& out) {
  const Grammar::Node& node = nodes[id];
  switch (node.kind) {
    case Grammar::Node::Kind::text:
      out += node.text;
      return;
    case Grammar::Node::Kind::sequence:
      for (uint32_t child : node.children) expand(nodes, child, random, out);
      return;
    case Grammar::Node::Kind::choice: {
      uint64_t ticket = random.below(node.total_weight);
      size_t pick = 0;
      while (ticket >= node.weights[pick]) ticket -= node.weights[pick++];
      return expand(nodes, node.children[pick], random, out);
    }
  }
}

}  // namespace

void Grammar::sample(Random& random, std::string& out) const { expand(nodes_, root_, random, out); }

GrammarStatistics Grammar::statistics() const {
  // Children come before their parents, so one pass from the first node to the last is the dynamic programme.
  std::vector<double> nats(nodes_.size(), 0), bytes(nodes_.size(), 0);
  for (size_t id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    if (node.kind == Node::Kind::text) bytes[id] = static_cast<double>(node.text.size());
    for (size_t i = 0; i < node.children.size(); ++i) {
      const double p = node.kind == Node::Kind::choice
                           ? static_cast<double>(node.weights[i]) / static_cast<double>(node.total_weight)
                           : 1.0;
      nats[id] += p * nats[node.children[i]];
      if (node.kind == Node::Kind::choice) nats[id] -= p * std::log(p);
      bytes[id] += p * bytes[node.children[i]];
    }
  }
  return {nats[root_], bytes[root_], nodes_.size()};
}

}  // namespace cladtorch::data
