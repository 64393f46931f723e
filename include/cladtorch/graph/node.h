// The computation graph of a program, recorded while it runs: which function computed each value, and from
// what. The backward pass computes with the same variables, so it is recorded as more of the graph and can be
// differentiated again. var.h has the functions of numbers; tensors.h records tensors.
//
// A node belongs to the thread and to the innermost Scope that was open when it was recorded, and ends with
// that. A variable's value can be read at any time, but computing with a node that has ended throws Error.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cladtorch/error.h"

namespace cladtorch::graph {

struct Node;

/// A value, and the node that computed it; a variable without a node is a constant.
struct Var {
  double value{};
  Node* node = nullptr;
  uint64_t scope = 0;  ///< the number of the node's scope

  Var() = default;
  Var(double v, Node* n = nullptr, uint64_t s = 0) : value(v), node(n), scope(s) {}
  explicit operator double() const { return value; }
};

/// The vector-Jacobian products of a function: adds to *d[i] what the node's cotangent d_y contributes to
/// that of argument i. d[i] is null where nobody asks for it.
using Pullback = std::function<void(Node& node, const Var& d_y, std::span<Var* const> d)>;

struct Node {
  double value{};
  const char* function = "";  ///< or the name of a variable that nothing computed
  std::span<const Var> arguments{};
  const Pullback* pullback = nullptr;
  uint64_t scope = 0;
  size_t index = 0;                                ///< how many nodes of open scopes were recorded before
  uint32_t unprocessed = 0;                        ///< children that topological_sort() has not passed
  bool is_operator = false, is_temporary = false;  ///< temporary: an expression used it without a name

  Var variable() { return {value, this, scope}; }
  /// The arguments that are not constants.
  std::vector<Node*> parents() const {
    std::vector<Node*> nodes;
    for (const Var& a : arguments)
      if (a.node) nodes.push_back(a.node);
    return nodes;
  }
};

/// Items in blocks, where they stay as more are added.
template <class T>
class Blocks {
 public:
  static constexpr size_t block = 1024;
  T* push(std::span<const T> items) {
    if (blocks_.empty() || blocks_.back().size() + items.size() > block)
      blocks_.emplace_back().reserve(std::max(block, items.size()));
    blocks_.back().insert(blocks_.back().end(), items.begin(), items.end());
    return blocks_.back().data() + blocks_.back().size() - items.size();
  }
  /// Of items that were pushed one by one.
  T& operator[](size_t i) { return blocks_[i / block][i % block]; }

 private:
  std::vector<std::vector<T>> blocks_;
};

/// What the open scopes of a thread have recorded.
class Tape {
 public:
  static Tape& of_thread() {
    thread_local Tape tape;
    return tape;
  }
  bool is_recording() const { return !open_.empty() && open_.back().records; }
  Node& operator[](size_t index) {
    auto scope = open_.rbegin();
    while (scope->first > index) ++scope;
    return scope->nodes[index - scope->first];
  }
  /// Whether one of the variables was recorded; throws Error if that was in a scope that is not open.
  bool check(const char* use, std::span<const Var> variables) const {
    bool recorded = false;
    for (const Var& v : variables) {
      if (!v.node) continue;
      recorded = true;
      if (!open_.empty() && open_.back().number == v.scope) continue;
      require(std::ranges::find(open_, v.scope, &Open::number) != open_.end(), "graph: ", use,
              ": an argument was recorded in a Scope that has ended or is another thread's; take its value");
    }
    return recorded;
  }
  /// The value as a new node, even of constants. `function` and `pullback` must live as long as the scope;
  /// without a pullback, or with an empty one, the function has no derivative.
  Node* push(const char* function, double value, std::span<const Var> arguments = {},
             const Pullback* pullback = nullptr) {
    require(is_recording(), "graph: '", function, "' needs an open Scope");
    check(function, arguments);
    Open& scope = open_.back();
    const Node node{.value = value,
                    .function = function,
                    .arguments = {scope.arguments.push(arguments), arguments.size()},
                    .pullback = pullback,
                    .scope = scope.number,
                    .index = scope.first + scope.size++};
    return scope.nodes.push({&node, 1});
  }
  /// The same if a scope is open and an argument was recorded, else a constant.
  Var record(const char* function, double value, std::span<const Var> arguments, const Pullback* pullback) {
    if (!check(function, arguments) || !is_recording()) return value;
    const auto same = [](const auto& a, const auto& b) { return a.node && a.node == b.node; };
    if (pulled_ && pulled_->pullback == pullback && std::ranges::equal(arguments, pulled_->arguments, same))
      return pulled_->variable();
    return push(function, value, arguments, pullback)->variable();
  }
  /// Runs the pullback of a node. If it calls the node's own function again, as that of exp does, it gets
  /// the node.
  void pull(Node& node, const Var& d_y, std::span<Var* const> d) {
    const std::unique_ptr<Tape, void (*)(Tape*)> end(this, [](Tape* tape) { tape->pulled_ = nullptr; });
    pulled_ = &node;
    (*node.pullback)(node, d_y, d);
  }
  /// Keeps what a node of the innermost scope refers to.
  void keep(std::shared_ptr<const void> owned) {
    if (is_recording()) open_.back().kept.push_back(std::move(owned));
  }

 private:
  friend class Scope;
  struct Open {
    uint64_t number;
    bool records;
    size_t first, size = 0;
    Blocks<Node> nodes{};
    Blocks<Var> arguments{};
    std::vector<std::shared_ptr<const void>> kept{};
  };
  std::vector<Open> open_;
  Node* pulled_ = nullptr;
};

/// While it lives, this thread records what it computes with variables; or nothing, if it does not record.
/// Scopes may nest.
class Scope {
 public:
  explicit Scope(bool records = true) {
    static std::atomic<uint64_t> last{0};
    auto& open = Tape::of_thread().open_;
    const size_t first = open.empty() ? 0 : open.back().first + open.back().size;
    open.push_back({.number = number_ = ++last, .records = records, .first = first});
  }
  ~Scope() {  // ends those inside that are still open too
    auto& open = Tape::of_thread().open_;
    open.erase(std::ranges::find(open, number_, &Tape::Open::number), open.end());
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  uint64_t number_;
};

/// The nodes that `roots` were computed from, of those that were recorded as number `first` or later, each
/// before its arguments. Takes time in proportion to what was recorded since. A node is ready once all its
/// children are processed. Of those that are ready, unnamed operands of an operator come first, from left to
/// right, then the node that was recorded last: so compiled code adds cotangents, statement by statement.
std::vector<Node*> topological_sort(std::span<const Var> roots, size_t first = 0);

/// The derivatives of a loss by what it was computed from.
class Cotangents {
 public:
  /// By all nodes on the way to `inputs`, which were recorded, or by all nodes if there are none. Throws
  /// Error if a function on the way has no derivative.
  explicit Cotangents(const Var& loss, std::span<const Var> inputs = {});
  /// Zero if the loss does not depend on v.
  Var operator[](const Var& v) const {
    Tape::of_thread().check("a cotangent", {&v, 1});
    return contains(v) ? d_[v.node->index - first_] : Var();
  }

 private:
  bool contains(const Var& v) const {
    return v.node && v.node->index >= first_ && v.node->index - first_ < d_.size();
  }
  size_t first_;
  std::vector<Var> d_;
};

}  // namespace cladtorch::graph
