// Pictures of a graph: as text for Graphviz, and as SVG that needs no other program.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "cladtorch/graph/node.h"

namespace cladtorch::graph {

/// What is drawn: boxes in layers, each below the arguments of its nodes.
struct Drawing {
  struct Box {
    std::string function, value;
    size_t layer = 0, count = 0;
    bool is_backward = false;
  };
  std::vector<Box> boxes;
  std::map<std::pair<size_t, size_t>, size_t> edges;  ///< how many lead from a box to another
  std::string caption;                                ///< what was folded, if anything
};

std::string to_dot(const Drawing& drawing);
std::string to_svg(const Drawing& drawing);

inline std::string describe(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

/// The nodes that lead to `roots`, with values as `describe` writes them. What was recorded after `loss`
/// is the backward pass and gets another colour. Of more than `largest` nodes, those of one function in
/// successive layers become one box, so that about `largest` boxes remain.
template <class Value>
Drawing draw(const std::vector<Variable<Value>>& roots, const Variable<Value>& loss, size_t largest = 60) {
  std::vector<Node<Value>*> nodes = topological_sort<Value>(roots);
  std::ranges::reverse(nodes);
  std::map<const Node<Value>*, size_t> layers, boxes;
  std::map<std::string, size_t> functions;
  size_t depth = 0;
  for (const Node<Value>* node : nodes) {
    size_t& layer = layers[node];
    for (const Node<Value>* parent : node->parents()) layer = std::max(layer, layers[parent] + 1);
    depth = std::max(depth, layer + 1);
    ++functions[node->function];
  }
  const bool folds = nodes.size() > largest;
  const size_t rows = std::max<size_t>(1, largest / std::max<size_t>(1, functions.size()));
  const size_t band = folds ? (depth + rows - 1) / rows : 1;
  Drawing drawing;
  std::map<std::tuple<std::string, size_t, bool>, size_t> folded;
  for (const Node<Value>* node : nodes) {
    const bool is_backward = loss.node && node->index > loss.node->index;
    std::string function = node->function;
    if (!folds && !node->parents().empty()) {
      const auto operand = [](const Variable<Value>& v) { return v.node ? "\u00b7" : describe(v.value); };
      if (node->is_operator) {
        function = operand(node->arguments[0]) + " " + function + " " + operand(node->arguments[1]);
      } else if (node->parents().size() < node->arguments.size()) {
        function += "(";
        for (const Variable<Value>& a : node->arguments)
          function += (&a == node->arguments.data() ? "" : ", ") + operand(a);
        function += ")";
      }
    }
    const size_t layer = layers[node] / band;
    const auto [at, is_new] = folds ? folded.try_emplace({function, layer, is_backward}, drawing.boxes.size())
                                    : std::pair(folded.end(), true);
    boxes[node] = is_new ? drawing.boxes.size() : at->second;
    if (is_new) drawing.boxes.push_back({function, describe(node->value), layer, 0, is_backward});
    ++drawing.boxes[boxes[node]].count;
    for (const Node<Value>* parent : node->parents())
      if (boxes[parent] != boxes[node]) ++drawing.edges[{boxes[parent], boxes[node]}];
  }
  if (folds) {
    drawing.caption = std::to_string(nodes.size()) + " nodes; those of one function in " +
                      std::to_string(band) + (band == 1 ? " layer" : " successive layers") + " are one box";
  }
  return drawing;
}
template <class Value>
Drawing draw(const Variable<Value>& root, size_t largest = 60) {
  return draw<Value>({root}, root, largest);
}

}  // namespace cladtorch::graph
