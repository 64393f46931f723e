#include "cladtorch/data/ideal_predictor.h"

#include <cmath>
#include <string>
#include <unordered_map>

#include "cladtorch/error.h"

namespace cladtorch::data {
namespace {

using Node = Grammar::Node;

/// A place in a derivation of which only the lower part is known: {base, (sequence, next child)..., text,
/// offset}. What lies above the node `base` is unknown.
using Place = std::vector<uint32_t>;

struct PlaceHash {
  size_t operator()(const Place& place) const {
    uint64_t hash = 0;
    for (uint32_t part : place) {
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

double probability_of(const Node& node, size_t child) {
  if (node.kind != Node::Kind::choice) return 1;
  return static_cast<double>(node.weights[child]) / static_cast<double>(node.total_weight);
}

}  // namespace

/// The weights of all places that agree with the bytes seen so far.
class Beliefs {
 public:
  explicit Beliefs(const IdealPredictor& predictor) : p_(predictor), nodes_(predictor.grammar_.nodes()) {}

  /// The first byte of a window: any byte of any text, as often as it occurs.
  double begin(unsigned char byte) {
    double all = 0;
    for (uint32_t id = 0; id < nodes_.size(); ++id) {
      const std::string& text = nodes_[id].text;
      all += p_.occurrences_[id] * static_cast<double>(text.size());
      for (uint32_t offset = 0; offset < text.size(); ++offset) {
        if (static_cast<unsigned char>(text[offset]) == byte)
          next_[{id, id, offset + 1}] = p_.occurrences_[id];
      }
    }
    return finish(all);
  }

  /// P(byte | bytes before).
  double step(unsigned char byte) {
    byte_ = byte;
    double all = 0;
    for (const auto& [place, weight] : now_) {
      all += weight;
      const std::string& text = nodes_[place[place.size() - 2]].text;
      const uint32_t offset = place.back();
      if (offset < text.size()) {
        if (static_cast<unsigned char>(text[offset]) != byte) continue;
        Place moved = place;
        ++moved.back();
        next_[std::move(moved)] += weight;
      } else {
        Place above(place.begin(), place.end() - 2);
        leave(above, weight);
      }
    }
    return finish(all);
  }

 private:
  /// Normalizes, and drops places a trillion times less likely than certainty.
  double finish(double all) {
    double kept = 0;
    for (const auto& [place, weight] : next_) kept += weight;
    now_.clear();
    for (auto& [place, weight] : next_) {
      if (weight > 1e-12 * kept) now_.emplace(place, weight / kept);
    }
    next_.clear();
    return kept / all;
  }

  /// The node under the last frame has been read: go on with what follows it.
  void leave(Place& place, double weight) {
    if (place.size() > 1) {
      const uint32_t at = place.back();
      place.pop_back();
      const uint32_t sequence = place.back();
      place.pop_back();
      enter_child(place, sequence, at, weight);
      return;
    }
    const uint32_t base = place[0];
    if (base == p_.grammar_.root()) return enter(place, base, weight);
    for (const IdealPredictor::Site& site : p_.sites_[base]) {
      Place above{site.parent};
      if (nodes_[site.parent].kind == Node::Kind::sequence) {
        enter_child(above, site.parent, site.place + 1, weight * site.probability);
      } else {
        leave(above, weight * site.probability);
      }
    }
  }

  void enter_child(Place& place, uint32_t sequence, uint32_t at, double weight) {
    const Node& node = nodes_[sequence];
    if (at == node.children.size()) return leave(place, weight);
    const uint32_t child = node.children[at];
    if (!can_begin(child)) return;
    place.push_back(sequence);
    place.push_back(at + 1);
    enter(place, child, weight);
  }

  bool can_begin(uint32_t id) const { return p_.first_bytes_[id][byte_] || p_.nullable_[id]; }

  void enter(Place place, uint32_t id, double weight) {
    const Node& node = nodes_[id];
    if (node.kind == Node::Kind::sequence) return enter_child(place, id, 0, weight);
    if (node.kind == Node::Kind::text) {
      if (node.text.empty()) return leave(place, weight);
      place.push_back(id);
      place.push_back(1);
      next_[std::move(place)] += weight;
      return;
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (can_begin(node.children[i])) enter(place, node.children[i], weight * probability_of(node, i));
    }
  }

  const IdealPredictor& p_;
  const std::vector<Node>& nodes_;
  unsigned char byte_ = 0;
  std::unordered_map<Place, double, PlaceHash> now_, next_;
};

IdealPredictor::IdealPredictor(const Grammar& grammar)
    : grammar_(grammar),
      occurrences_(grammar.nodes().size()),
      sites_(grammar.nodes().size()),
      first_bytes_(grammar.nodes().size()),
      nullable_(grammar.nodes().size()) {
  const std::vector<Node>& nodes = grammar.nodes();
  for (uint32_t id = 0; id < nodes.size(); ++id) {  // children first
    const Node& node = nodes[id];
    if (node.kind == Node::Kind::text) {
      nullable_[id] = node.text.empty();
      if (!node.text.empty()) first_bytes_[id].set(static_cast<unsigned char>(node.text[0]));
      continue;
    }
    const bool choice = node.kind == Node::Kind::choice;
    nullable_[id] = !choice;
    for (uint32_t child : node.children) {
      if (choice || nullable_[id]) first_bytes_[id] |= first_bytes_[child];
      nullable_[id] = choice ? nullable_[id] || nullable_[child] : nullable_[id] && nullable_[child];
    }
  }
  occurrences_[grammar.root()] = 1;
  for (uint32_t id = grammar.root() + 1; id-- > 0;) {  // parents first
    if (occurrences_[id] == 0) continue;
    for (uint32_t i = 0; i < nodes[id].children.size(); ++i) {
      const double count = occurrences_[id] * probability_of(nodes[id], i);
      occurrences_[nodes[id].children[i]] += count;
      sites_[nodes[id].children[i]].push_back({id, i, count});
    }
  }
  for (uint32_t id = 0; id < nodes.size(); ++id) {
    for (Site& site : sites_[id]) site.probability /= occurrences_[id];
  }
}

std::vector<double> IdealPredictor::surprises(std::string_view window) const {
  Beliefs beliefs(*this);
  std::vector<double> result;
  for (char c : window) {
    const auto byte = static_cast<unsigned char>(c);
    const double probability = result.empty() ? beliefs.begin(byte) : beliefs.step(byte);
    require(probability > 0, "predict: no text of the grammar continues so at byte ", result.size(),
            " of the window");
    result.push_back(-std::log(probability));
  }
  return result;
}

std::vector<double> IdealPredictor::mean_surprises(size_t size, size_t samples, uint64_t seed) const {
  Random random(seed);
  std::string text;
  while (text.size() < 100 * size + 100000) grammar_.sample(random, text);
  std::vector<double> mean(size);
  for (size_t i = 0; i < samples; ++i) {
    const std::vector<double> one =
        surprises(std::string_view(text).substr(random.below(text.size() - size), size));
    for (size_t j = 0; j < size; ++j) mean[j] += one[j] / static_cast<double>(samples);
  }
  return mean;
}

}  // namespace cladtorch::data
