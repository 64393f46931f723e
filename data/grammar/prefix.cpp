// Proves that derivations and texts are one to one: at each choice, no text of one alternative may be a
// prefix of a text of another. All alternatives are read in lockstep, byte by byte, until at most one is
// left.
#include <algorithm>
#include <map>
#include <set>

#include "cladtorch/data/grammar.h"

namespace cladtorch::data {
namespace {

/// Nodes still to be read, the next one last, and how much of that one (a text) has been read.
struct Reading {
  uint32_t alternative = 0;
  std::vector<uint32_t> stack;
  uint32_t offset = 0;
  auto operator<=>(const Reading&) const = default;
};

class Lockstep {
 public:
  explicit Lockstep(const std::vector<Grammar::Node>& nodes) : nodes_(nodes) {}

  std::string conflict(const Grammar::Node& choice) {
    seen_.clear();
    std::set<Reading> start;
    for (uint32_t i = 0; i < choice.children.size(); ++i) open({i, {choice.children[i]}, 0}, start);
    std::string prefix;
    return explore(start, prefix);
  }

 private:
  /// Adds every reading that `reading` can become before the next byte.
  void open(Reading reading, std::set<Reading>& out) {
    if (reading.stack.empty()) {
      out.insert(std::move(reading));
      return;
    }
    const Grammar::Node& node = nodes_[reading.stack.back()];
    if (node.kind == Grammar::Node::Kind::text) {
      if (reading.offset < node.text.size()) {
        out.insert(std::move(reading));
      } else {
        open({reading.alternative, {reading.stack.begin(), reading.stack.end() - 1}, 0}, out);
      }
      return;
    }
    reading.stack.pop_back();
    if (node.kind == Grammar::Node::Kind::sequence) {
      reading.stack.insert(reading.stack.end(), node.children.rbegin(), node.children.rend());
      return open(std::move(reading), out);
    }
    for (uint32_t child : node.children) {
      Reading taken = reading;
      taken.stack.push_back(child);
      open(std::move(taken), out);
    }
  }

  std::string explore(const std::set<Reading>& readings, std::string& prefix) {
    const bool alone = std::all_of(readings.begin(), readings.end(), [&](const Reading& reading) {
      return reading.alternative == readings.begin()->alternative;
    });
    if (alone || !seen_.insert(readings).second) return {};
    std::map<char, std::set<Reading>> next;
    for (Reading reading : readings) {
      if (reading.stack.empty())
        return "one alternative ends, another goes on or ends too, after '" + prefix + "'";
      const char byte = nodes_[reading.stack.back()].text[reading.offset];
      ++reading.offset;
      open(std::move(reading), next[byte]);
    }
    for (const auto& [byte, group] : next) {
      prefix += byte;
      if (std::string found = explore(group, prefix); !found.empty()) return found;
      prefix.pop_back();
    }
    return {};
  }

  const std::vector<Grammar::Node>& nodes_;
  std::set<std::set<Reading>> seen_;
};

}  // namespace

std::string Grammar::prefix_conflict() const {
  Lockstep lockstep(nodes_);
  for (const Node& node : nodes_) {
    if (node.kind != Node::Kind::choice) continue;
    if (std::string found = lockstep.conflict(node); !found.empty()) return found;
  }
  return {};
}

}  // namespace cladtorch::data
