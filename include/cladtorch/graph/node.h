// The computation graph of a program, recorded while it runs: which function computed each value, and from
// what. The backward pass computes with the same variables, so it is recorded as more of the graph and can be
// differentiated again. All of this is of any Value; var.h records numbers.
//
// Nodes belong to the thread and to the innermost Scope that was open when they were recorded. They end with
// it: the value of a variable can still be read then, but computing with it throws Error.
#pragma once

#include <algorithm>
#include <array>
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
  Variable(Value v) : value(std::move(v)) {}
  Variable(Value v, Node<Value>* n, uint64_t s) : value(std::move(v)), node(n), scope(s) {}
  explicit operator Value() const { return value; }
};

/// The vector-Jacobian products of a function: adds to *d[i] what the cotangent d_y of the node contributes
/// to that of argument i. d[i] is null if nobody asks for it.
template <class Value>
using Pullback =
    std::function<void(Node<Value>& node, const Variable<Value>& d_y, std::span<Variable<Value>* const> d)>;

template <class Value>
struct Node {
  Value value{};
  const char* function = "";                     ///< or the name of a variable that nothing computed
  std::span<const Variable<Value>> arguments{};  ///< constants too
  const Pullback<Value>* pullback = nullptr;
  uint64_t scope = 0;
  size_t index = 0;          ///< how many nodes were recorded before
  uint32_t unprocessed = 0;  ///< children that topological_sort() has yet to pass
  bool is_operator = false;
  bool is_temporary = false;  ///< some expression used it without a name

  Variable<Value> variable() { return {value, this, scope}; }
  /// The arguments that were recorded.
  std::vector<Node*> parents() const {
    std::vector<Node*> nodes;
    for (const Variable<Value>& a : arguments)
      if (a.node) nodes.push_back(a.node);
    return nodes;
  }
};

/// A stack whose elements stay where they are.
template <class T>
class Blocks {
 public:
  static constexpr size_t block = 1024;
  /// Puts the items beside each other.
  T* push(std::span<const T> items) {
    if (blocks_.empty() || blocks_.back().size() + items.size() > block)
      blocks_.emplace_back().reserve(std::max(block, items.size()));
    blocks_.back().insert(blocks_.back().end(), items.begin(), items.end());
    return blocks_.back().data() + blocks_.back().size() - items.size();
  }
  /// Of a stack to which all items were pushed one by one.
  T& operator[](size_t i) { return blocks_[i / block][i % block]; }

  using Mark = std::pair<size_t, size_t>;
  Mark mark() const { return {blocks_.size(), blocks_.empty() ? 0 : blocks_.back().size()}; }
  void pop_to(Mark mark) {
    blocks_.resize(mark.first);
    if (!blocks_.empty()) blocks_.back().erase(blocks_.back().begin() + mark.second, blocks_.back().end());
  }

 private:
  std::vector<std::vector<T>> blocks_;
};

/// What a thread has recorded.
template <class Value>
class Tape {
 public:
  static Tape& of_thread() {
    thread_local Tape tape;
    return tape;
  }
  bool is_recording() const { return !scopes_.empty() && !paused_; }
  Node<Value>& operator[](size_t index) { return nodes_[index]; }

  /// A node that nothing computed.
  Variable<Value> variable(Value value, const char* name) {
    require(is_recording(), "graph: variable '", name, "' needs an open Scope");
    return push(name, std::move(value), {}, nullptr)->variable();
  }
  /// The variable under a node of its own, by which it can be differentiated apart from its other uses.
  Variable<Value> input(const Variable<Value>& x) {
    static const Pullback<Value> identity = [](Node<Value>&, const Variable<Value>& d_y,
                                               std::span<Variable<Value>* const> d) { *d[0] += d_y; };
    check("input", {&x, 1});
    return push("input", x.value, {&x, 1}, &identity)->variable();
  }
  /// The value as a variable: a new node if a scope is open and an argument has a node. `function` and
  /// `pullback` must live as long as the scope; a null or empty pullback refuses a gradient.
  Variable<Value> record(const char* function, Value value, std::span<const Variable<Value>> arguments,
                         const Pullback<Value>* pullback) {
    if (!check(function, arguments) || !is_recording()) return value;
    const auto same = [](const auto& a, const auto& b) { return a.node && a.node == b.node; };
    if (pulled_ && pulled_->pullback == pullback && std::ranges::equal(arguments, pulled_->arguments, same)) {
      return pulled_->variable();  // the rule of exp computes it again
    }
    return push(function, std::move(value), arguments, pullback)->variable();
  }
  /// The same for an operator; `temporaries` says which operands have no name.
  Variable<Value> record_operator(const char* function, Value value,
                                  std::span<const Variable<Value>> arguments, const Pullback<Value>* pullback,
                                  std::array<bool, 2> temporaries) {
    if (!check(function, arguments) || !is_recording()) return value;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].node && temporaries[i]) arguments[i].node->is_temporary = true;
    }
    Node<Value>* node = push(function, std::move(value), arguments, pullback);
    node->is_operator = true;
    return node->variable();
  }
  /// Throws Error if an argument was recorded in a scope that is not open; whether one was recorded.
  bool check(const char* function, std::span<const Variable<Value>> arguments) const {
    bool recorded = false;
    for (const Variable<Value>& a : arguments) {
      if (!a.node) continue;
      recorded = true;
      if (!scopes_.empty() && scopes_.back().number == a.scope) continue;
      require(std::ranges::find(scopes_, a.scope, &Open::number) != scopes_.end(), "graph: ", function,
              ": an argument was recorded in a Scope that has ended or is another thread's; take its value");
    }
    return recorded;
  }
  /// Runs the pullback of a node. A function that it calls and that computed the node is not computed again.
  void pull(Node<Value>& node, const Variable<Value>& d_y, std::span<Variable<Value>* const> d) {
    struct Restore {
      Tape& tape;
      Node<Value>* before;
      ~Restore() { tape.pulled_ = before; }
    } const restore{*this, std::exchange(pulled_, &node)};
    (*node.pullback)(node, d_y, d);
  }
  /// Keeps what a node refers to until the scope ends.
  void keep(std::shared_ptr<const void> owned) {
    if (is_recording()) kept_.push_back(std::move(owned));
  }

 private:
  template <class>
  friend class BasicScope;
  template <class>
  friend class Paused;
  struct Open {
    uint64_t number;
    typename Blocks<Node<Value>>::Mark nodes;
    typename Blocks<Variable<Value>>::Mark arguments;
    size_t size, kept;
    bool paused;
  };

  Node<Value>* push(const char* function, Value value, std::span<const Variable<Value>> arguments,
                    const Pullback<Value>* pullback) {
    const Node<Value> node{.value = std::move(value),
                           .function = function,
                           .arguments = {arguments_.push(arguments), arguments.size()},
                           .pullback = pullback,
                           .scope = scopes_.back().number,
                           .index = size_++};
    return nodes_.push({&node, 1});
  }

  Blocks<Node<Value>> nodes_;
  Blocks<Variable<Value>> arguments_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<Open> scopes_;
  size_t size_ = 0;
  bool paused_ = false;
  Node<Value>* pulled_ = nullptr;  ///< whose pullback is running
};

/// While it lives, this thread computes with variables and records nothing.
template <class Value>
class Paused {
 public:
  Paused() : before_(std::exchange(Tape<Value>::of_thread().paused_, true)) {}
  ~Paused() { Tape<Value>::of_thread().paused_ = before_; }
  Paused(const Paused&) = delete;
  Paused& operator=(const Paused&) = delete;

 private:
  bool before_;
};

/// While it lives, this thread records what it computes with variables. Scopes may nest.
template <class Value>
class BasicScope {
 public:
  BasicScope() {
    static std::atomic<uint64_t> last{0};
    Tape<Value>& t = Tape<Value>::of_thread();
    number_ = ++last;
    t.scopes_.push_back({number_, t.nodes_.mark(), t.arguments_.mark(), t.size_, t.kept_.size(), t.paused_});
    t.paused_ = false;
  }
  ~BasicScope() {
    Tape<Value>& t = Tape<Value>::of_thread();
    const auto open = std::ranges::find(t.scopes_, number_, &Tape<Value>::Open::number);
    if (open == t.scopes_.end()) return;  // a scope around it ended first
    t.nodes_.pop_to(open->nodes);
    t.arguments_.pop_to(open->arguments);
    t.kept_.resize(open->kept);
    t.size_ = open->size;
    t.paused_ = open->paused;
    t.scopes_.erase(open, t.scopes_.end());
  }
  BasicScope(const BasicScope&) = delete;
  BasicScope& operator=(const BasicScope&) = delete;

 private:
  uint64_t number_;
};

/// The nodes that `roots` were computed from and that were recorded as number `first` or later; each comes
/// before its arguments. Takes time in proportion to what was recorded since. A node is ready once all its
/// children are processed. Of those that are ready, unnamed operands of an operator come first, from left to
/// right, then the node that was recorded last: so compiled code adds cotangents, statement by statement.
template <class Value>
std::vector<Node<Value>*> topological_sort(std::span<const Variable<Value>> roots, size_t first = 0) {
  Tape<Value>& tape = Tape<Value>::of_thread();
  std::vector<Node<Value>*> order, stack;
  size_t begin = SIZE_MAX, end = 0;
  const auto count = [&](const Variable<Value>& child) {
    if (!child.node || child.node->index < first || child.node->unprocessed++ > 0) return;
    stack.push_back(child.node);
    begin = std::min(begin, child.node->index);
    end = std::max(end, child.node->index + 1);
  };
  tape.check("topological_sort", roots);
  std::ranges::for_each(roots, count);
  while (!stack.empty()) {
    const Node<Value>& node = *stack.back();
    stack.pop_back();
    std::ranges::for_each(node.arguments, count);
  }
  std::vector<bool> ready(end > begin ? end - begin : 0);
  const auto release = [&](const Variable<Value>& v, bool is_operand) {
    if (!v.node || v.node->index < first || --v.node->unprocessed > 0) return;
    if (is_operand && v.node->is_operator && v.node->is_temporary) {
      stack.push_back(v.node);
    } else {
      ready[v.node->index - begin] = true;
    }
  };
  for (const Variable<Value>& root : roots) release(root, false);
  for (size_t i = end; i-- > begin;) {
    if (!ready[i - begin]) continue;
    stack.push_back(&tape[i]);
    while (!stack.empty()) {
      order.push_back(stack.back());
      stack.pop_back();
      const std::span<const Variable<Value>> arguments = order.back()->arguments;
      for (size_t k = arguments.size(); k-- > 0;) release(arguments[k], true);
    }
  }
  return order;
}

/// The derivatives of a loss by the nodes that it was computed from.
template <class Value>
class Cotangents {
 public:
  /// By the nodes that lead to `inputs`, or by all if there are none. `seed` is the loss's own cotangent.
  Cotangents(const Variable<Value>& loss, Value seed, std::span<const Variable<Value>> inputs = {})
      : first_(inputs.empty() ? 0 : SIZE_MAX) {
    Tape<Value>& tape = Tape<Value>::of_thread();
    tape.check("a gradient", inputs);
    for (const Variable<Value>& x : inputs) first_ = std::min(first_, x.node->index);
    const std::vector<Node<Value>*> order = topological_sort<Value>({&loss, 1}, first_);
    d_.resize(order.empty() ? 0 : 1 + std::ranges::max(order, {}, &Node<Value>::index)->index - first_);
    std::vector<bool> wanted(d_.size(), inputs.empty());
    for (const Variable<Value>& x : inputs)
      if (x.node->index - first_ < wanted.size()) wanted[x.node->index - first_] = true;
    const auto place = [&](const Variable<Value>& v) {
      return v.node && v.node->index >= first_ && wanted[v.node->index - first_] ? &d_[v.node->index - first_]
                                                                                 : nullptr;
    };
    for (size_t i = order.size(); i-- > 0;)
      if (std::ranges::any_of(order[i]->arguments, place)) wanted[order[i]->index - first_] = true;
    if (!order.empty()) d_[loss.node->index - first_] = std::move(seed);
    std::vector<Variable<Value>*> d;
    for (Node<Value>* node : order) {
      d.clear();
      for (const Variable<Value>& a : node->arguments) d.push_back(place(a));
      if (std::ranges::all_of(d, std::logical_not())) continue;
      require(node->pullback && *node->pullback, "graph: '", node->function,
              "' has no rule for its derivative; give it one with defvjp()");
      tape.pull(*node, d_[node->index - first_], d);
    }
  }
  /// Zero if the loss does not depend on v.
  Variable<Value> operator[](const Variable<Value>& v) const {
    Tape<Value>::of_thread().check("a cotangent", {&v, 1});
    const size_t i = v.node && v.node->index >= first_ ? v.node->index - first_ : d_.size();
    return i < d_.size() ? d_[i] : Variable<Value>();
  }

 private:
  size_t first_;
  std::vector<Variable<Value>> d_;
};

}  // namespace cladtorch::graph
