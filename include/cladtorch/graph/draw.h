// Pictures of a graph: as text for Graphviz, and as SVG that needs no other program.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

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

/// A node of any graph.
struct DrawnNode {
  std::string function;
  std::string call;  ///< the function with its arguments, for a box of one node
  std::string value;
  std::vector<size_t> parents;  ///< numbers of nodes before this one
  bool is_backward = false;
};
/// Of more than `largest` nodes, those of one function in successive layers become one box, so that about
/// `largest` boxes remain.
Drawing draw(const std::vector<DrawnNode>& nodes, size_t largest = 60);

/// The nodes that lead to `roots`. What was recorded after `loss` is the backward pass and gets another
/// colour.
Drawing draw(const std::vector<Var>& roots, const Var& loss, size_t largest = 60);
inline Drawing draw(const Var& root, size_t largest = 60) { return draw({root}, root, largest); }

}  // namespace cladtorch::graph
