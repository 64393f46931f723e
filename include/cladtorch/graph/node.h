// The computation graph of a program, recorded while it runs: which function computed each value, and from
// what. The backward pass computes with the same variables, so it is recorded as more of the graph and can be
// differentiated again. All of this is of any Value; var.h records numbers.
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

template <class Value>
struct Node;

/// A value, and the node that computed it; a variable without a node is a constant.
template <class Value>
struct Variable {
  Value value{};
  Node<Value>* node = nullptr;
  uint64_t scope = 0;  ///< the number of the node's scope

  Variable() = default;
  Variable(Value v, Node<Value>* n = nullptr, uint64_t s = 0) : value(std::move(v)), node(n), scope(s) {}
  explicit operator Value() const { return value; }
};

/// The vector-Jacobian products of a function: adds to *d[i] what the node's cotangent d_y contributes to
/// that of argument i. d[i] is null where nobody asks for it.
template <class Value>
using Pullback =
    std::function<void(Node<Value>& node, const Variable<Value>& d_y, std::span<Variable<Value>* const> d)>;

template <class Value>
struct Node {
  Value value{};
  const char* function = "";  ///< or the name of a variable that nothing computed
  std::span<const Variable<Value>> arguments{};
  const Pullback<Value>* pullback = nullptr;
  uint64_t scope = 0;
  size_t index = 0;                                ///< how many nodes of open scopes were recorded before
  uint32_t unprocessed = 0;                        ///< children that topological_sort() has not passed
  bool is_operator = false, is_temporary = false;  ///< temporary: an expression used it without a name

  Variable<Value> variable() { return {value, this, scope}; }
  /// The arguments that are not constants.
  std::vector<Node*> parents() const {
    std::vector<Node*> nodes;
    for (const Variable<Value>& a : arguments)
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
template <class Value>
class Tape {
 public:
  static Tape& of_thread() {
    thread_local Tape tape;
    return tape;
  }
  bool is_recording() const { return !open_.empty() && open_.back().records; }
  Node<Value>& operator[](size_t index) {
    auto scope = open_.rbegin();
    while (scope->first > index) ++scope;
    return scope->nodes[index - scope->first];
  }
  /// Whether one of the variables was recorded; throws Error if that was in a scope that is not open.
  bool check(const char* use, std::span<const Variable<Value>> variables) const {
    bool recorded = false;
    for (const Variable<Value>& v : variables) {
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
  Node<Value>* push(const char* function, Value value, std::span<const Variable<Value>> arguments = {},
                    const Pullback<Value>* pullback = nullptr) {
    require(is_recording(), "graph: '", function, "' needs an open Scope");
    check(function, arguments);
    Open& scope = open_.back();
    const Node<Value> node{.value = std::move(value),
                           .function = function,
                           .arguments = {scope.arguments.push(arguments), arguments.size()},
                           .pullback = pullback,
                           .scope = scope.number,
                           .index = scope.first + scope.size++};
    return scope.nodes.push({&node, 1});
  }
  /// The same if a scope is open and an argument was recorded, else a constant.
  Variable<Value> record(const char* function, Value value, std::span<const Variable<Value>> arguments,
                         const Pullback<Value>* pullback) {
    if (!check(function, arguments) || !is_recording()) return value;
    const auto same = [](const auto& a, const auto& b) { return a.node && a.node == b.node; };
    if (pulled_ && pulled_->pullback == pullback && std::ranges::equal(arguments, pulled_->arguments, same))
      return pulled_->variable();
    return push(function, std::move(value), arguments, pullback)->variable();
  }
  /// Runs the pullback of a node. If it calls the node's own function again, as that of exp does, it gets
  /// the node.
  void pull(Node<Value>& node, const Variable<Value>& d_y, std::span<Variable<Value>* const> d) {
    const std::unique_ptr<Tape, void (*)(Tape*)> end(this, [](Tape* tape) { tape->pulled_ = nullptr; });
    pulled_ = &node;
    (*node.pullback)(node, d_y, d);
  }
  /// Keeps what a node of the innermost scope refers to.
  void keep(std::shared_ptr<const void> owned) {
    if (is_recording()) open_.back().kept.push_back(std::move(owned));
  }

 private:
  template <class>
  friend class BasicScope;
  struct Open {
    uint64_t number;
    bool records;
    size_t first, size = 0;
    Blocks<Node<Value>> nodes{};
    Blocks<Variable<Value>> arguments{};
    std::vector<std::shared_ptr<const void>> kept{};
  };
  std::vector<Open> open_;
  Node<Value>* pulled_ = nullptr;
};

/// While it lives, this thread records what it computes with variables; or nothing, if it does not record.
/// Scopes may nest.
template <class Value>
class BasicScope {
 public:
  explicit BasicScope(bool records = true) {
    static std::atomic<uint64_t> last{0};
    auto& open = Tape<Value>::of_thread().open_;
    const size_t first = open.empty() ? 0 : open.back().first + open.back().size;
    open.push_back({.number = number_ = ++last, .records = records, .first = first});
  }
  ~BasicScope() {  // ends those inside that are still open too
    auto& open = Tape<Value>::of_thread().open_;
    open.erase(std::ranges::find(open, number_, &Tape<Value>::Open::number), open.end());
  }
  BasicScope(const BasicScope&) = delete;
  BasicScope& operator=(const BasicScope&) = delete;

 private:
  uint64_t number_;
};

/// The nodes that `roots` were computed from, of those that were recorded as number `first` or later, each
/// before its arguments. Takes time in proportion to what was recorded since. A node is ready once all its
/// children are processed. Of those that are ready, unnamed operands of an operator come first, from left to
/// right, then the node that was recorded last: so compiled code adds cotangents, statement by statement.
template <class Value>
std::vector<Node<Value>*> topological_sort(std::span<const Variable<Value>> roots, size_t first = 0) {
  Tape<Value>& tape = Tape<Value>::of_thread();
  tape.check("topological_sort", roots);
  size_t begin = SIZE_MAX, end = 0;
  const auto count = [&](const Variable<Value>& child) {
    if (!child.node || child.node->index < first || child.node->unprocessed++ > 0) return;
    begin = std::min(begin, child.node->index);
    end = std::max(end, child.node->index + 1);
  };
  std::ranges::for_each(roots, count);
  for (size_t i = end; i-- > begin;)
    if (tape[i].unprocessed > 0) std::ranges::for_each(tape[i].arguments, count);

  std::vector<Node<Value>*> order, operands;
  std::vector<bool> ready(end > begin ? end - begin : 0);
  const auto pass = [&](const Variable<Value>& v, bool is_operand) {
    if (!v.node || v.node->index < first || --v.node->unprocessed > 0) return;
    if (is_operand && v.node->is_operator && v.node->is_temporary) {
      operands.push_back(v.node);
    } else {
      ready[v.node->index - begin] = true;
    }
  };
  for (const Variable<Value>& root : roots) pass(root, false);
  for (size_t i = end; i-- > begin;) {
    if (ready[i - begin]) operands.push_back(&tape[i]);
    while (!operands.empty()) {
      order.push_back(operands.back());
      operands.pop_back();
      const std::span<const Variable<Value>> arguments = order.back()->arguments;
      for (size_t k = arguments.size(); k-- > 0;) pass(arguments[k], true);
    }
  }
  return order;
}

/// The derivatives of a loss by what it was computed from.
template <class Value>
class Cotangents {
 public:
  /// By all nodes on the way to `inputs`, which were recorded, or by all nodes if there are none. `seed` is
  /// the cotangent of the loss. Throws Error if a function on the way has no derivative.
  Cotangents(const Variable<Value>& loss, Value seed, std::span<const Variable<Value>> inputs = {})
      : first_(inputs.empty() ? 0 : SIZE_MAX) {
    Tape<Value>& tape = Tape<Value>::of_thread();
    for (const Variable<Value>& x : inputs) first_ = std::min(first_, x.node->index);
    const std::vector<Node<Value>*> order = topological_sort<Value>({&loss, 1}, first_);
    if (order.empty()) return;
    d_.resize(loss.node->index - first_ + 1);
    d_.back() = std::move(seed);
    std::vector<bool> wanted(d_.size(), inputs.empty());
    for (const Variable<Value>& x : inputs)
      if (contains(x)) wanted[x.node->index - first_] = true;
    const auto place = [&](const Variable<Value>& v) {
      return contains(v) && wanted[v.node->index - first_] ? &d_[v.node->index - first_] : nullptr;
    };
    for (size_t i = order.size(); i-- > 0;)
      if (std::ranges::any_of(order[i]->arguments, place)) wanted[order[i]->index - first_] = true;
    std::vector<Variable<Value>*> d;
    for (Node<Value>* node : order) {
      d.clear();
      std::ranges::transform(node->arguments, std::back_inserter(d), place);
      if (std::ranges::all_of(d, std::logical_not())) continue;
      require(node->pullback && *node->pullback, "graph: '", node->function,
              "' has no rule for its derivative; give it one with defvjp()");
      tape.pull(*node, d_[node->index - first_], d);
    }
  }
  /// Zero if the loss does not depend on v.
  Variable<Value> operator[](const Variable<Value>& v) const {
    Tape<Value>::of_thread().check("a cotangent", {&v, 1});
    return contains(v) ? d_[v.node->index - first_] : Variable<Value>();
  }

 private:
  bool contains(const Variable<Value>& v) const {
    return v.node && v.node->index >= first_ && v.node->index - first_ < d_.size();
  }
  size_t first_;
  std::vector<Variable<Value>> d_;
};

}  // namespace cladtorch::graph
