#include "cladtorch/graph/draw.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <tuple>

namespace cladtorch::graph {
namespace {

/// The text of a box: its function and its value, or how many nodes it stands for.
std::pair<std::string, std::string> lines(const Drawing::Box& box) {
  return {box.function, box.count == 1 ? box.value : "\u00d7 " + std::to_string(box.count)};
}
const char* colour(const Drawing::Box& box) { return box.is_backward ? "#fde3d0" : "#dfeaf8"; }

std::string escaped(const std::string& text, const std::map<char, std::string>& escapes) {
  std::string out;
  for (const char c : text) out += escapes.contains(c) ? escapes.at(c) : std::string(1, c);
  return out;
}

/// The middle of each box in its layer: below the mean of those that lead to it, where there is room.
std::vector<double> places(const Drawing& drawing, double distance, double& width) {
  std::map<size_t, std::vector<size_t>> layers;
  for (size_t i = 0; i < drawing.boxes.size(); ++i) layers[drawing.boxes[i].layer].push_back(i);
  size_t widest = 1;
  for (const auto& [layer, boxes] : layers) widest = std::max(widest, boxes.size());
  width = widest * distance;
  std::vector<double> x(drawing.boxes.size(), width / 2);
  for (auto& [layer, boxes] : layers) {
    std::map<size_t, std::pair<double, double>> sums;
    for (const auto& [edge, count] : drawing.edges) {
      sums[edge.second].first += x[edge.first];
      ++sums[edge.second].second;
    }
    std::ranges::sort(boxes, {}, [&](size_t i) {
      return std::pair(sums[i].second > 0 ? sums[i].first / sums[i].second : x[i], i);
    });
    const double left = (width - distance * boxes.size()) / 2;
    for (size_t i = 0; i < boxes.size(); ++i) x[boxes[i]] = left + distance * (i + 0.5);
  }
  return x;
}

std::string describe(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

/// The function with its arguments, where a dot stands for another node.
std::string call_of(const Node& node) {
  const auto operand = [](const Var& v) { return v.node ? "\u00b7" : describe(v.value); };
  const std::string function = node.function;
  if (node.is_operator) return operand(node.arguments[0]) + " " + function + " " + operand(node.arguments[1]);
  const size_t constants = std::ranges::count(node.arguments, nullptr, &Var::node);
  if (constants == 0 || constants == node.arguments.size()) return function;
  std::string list;
  for (const Var& a : node.arguments) list += (list.empty() ? "" : ", ") + operand(a);
  return function + "(" + list + ")";
}

}  // namespace

Drawing draw(const std::vector<DrawnNode>& nodes, size_t largest) {
  std::vector<size_t> layers(nodes.size()), boxes(nodes.size());
  std::set<std::string> functions;
  size_t depth = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const size_t parent : nodes[i].parents) layers[i] = std::max(layers[i], layers[parent] + 1);
    depth = std::max(depth, layers[i] + 1);
    functions.insert(nodes[i].function);
  }
  const bool folds = nodes.size() > largest;
  const size_t rows = std::max<size_t>(1, largest / std::max<size_t>(1, functions.size()));
  const size_t band = folds ? (depth + rows - 1) / rows : 1;
  Drawing drawing;
  std::map<std::tuple<std::string, size_t, bool>, size_t> folded;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& [function, call, value, parents, is_backward] = nodes[i];
    const size_t layer = layers[i] / band, next = drawing.boxes.size();
    boxes[i] = folds ? folded.try_emplace({function, layer, is_backward}, next).first->second : next;
    if (boxes[i] == next) drawing.boxes.push_back({folds ? function : call, value, layer, 0, is_backward});
    ++drawing.boxes[boxes[i]].count;
    for (const size_t parent : parents)
      if (boxes[parent] != boxes[i]) ++drawing.edges[{boxes[parent], boxes[i]}];
  }
  if (folds) {
    drawing.caption = std::to_string(nodes.size()) + " nodes; those of one function in " +
                      std::to_string(band) + (band == 1 ? " layer" : " successive layers") + " are one box";
  }
  return drawing;
}

Drawing draw(const std::vector<Var>& roots, const Var& loss, size_t largest) {
  std::vector<Node*> order = topological_sort(roots);
  std::ranges::reverse(order);
  std::map<const Node*, size_t> numbers;
  std::vector<DrawnNode> nodes;
  for (const Node* node : order) {
    numbers[node] = nodes.size();
    nodes.push_back({node->function,
                     call_of(*node),
                     describe(node->value),
                     {},
                     loss.node && node->index > loss.node->index});
    for (const Node* parent : node->parents()) nodes.back().parents.push_back(numbers.at(parent));
  }
  return draw(nodes, largest);
}

std::string to_dot(const Drawing& drawing) {
  const std::map<char, std::string> escapes{{'"', "\\\""}, {'\\', "\\\\"}};
  std::ostringstream out;
  out << "digraph {\n  label=\"" << escaped(drawing.caption, escapes)
      << "\";\n  node [shape=box, style=filled];\n";
  for (size_t i = 0; i < drawing.boxes.size(); ++i) {
    const auto [function, value] = lines(drawing.boxes[i]);
    out << "  n" << i << " [label=\"" << escaped(function, escapes) << "\\n"
        << escaped(value, escapes) << "\", fillcolor=\"" << colour(drawing.boxes[i]) << "\"];\n";
  }
  for (const auto& [edge, count] : drawing.edges)
    out << "  n" << edge.first << " -> n" << edge.second << ";\n";
  out << "}\n";
  return out.str();
}

std::string to_svg(const Drawing& drawing) {
  const std::map<char, std::string> escapes{{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}};
  constexpr double box_width = 96, box_height = 38, x_distance = 112, y_distance = 66;
  double width = 0;
  const std::vector<double> x = places(drawing, x_distance, width);
  size_t layers = 0;
  for (const Drawing::Box& box : drawing.boxes) layers = std::max(layers, box.layer + 1);
  width = std::max(width, 7.0 * drawing.caption.size());
  const double top = drawing.caption.empty() ? 14 : 34,
               height = top + layers * y_distance - y_distance + box_height + 14;
  const auto y = [&](size_t box) { return top + drawing.boxes[box].layer * y_distance; };
  std::ostringstream out;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << " " << height << "\" width=\""
      << width << "\" height=\"" << height
      << "\" font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n"
      << "<marker id=\"tip\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">"
      << "<path d=\"M0,0 L8,4 L0,8 z\" fill=\"#555\"/></marker>\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"white\"/>\n";
  if (!drawing.caption.empty())
    out << "<text x=\"" << width / 2 << "\" y=\"20\">" << escaped(drawing.caption, escapes) << "</text>\n";
  for (const auto& [edge, count] : drawing.edges) {  // from below to above, or from side to side
    const auto [from, to] = edge;
    const bool beside = y(from) == y(to);
    const double right = beside ? std::copysign(box_width / 2, x[to] - x[from]) : 0,
                 down = beside ? 0 : box_height / 2;
    out << "<line x1=\"" << x[from] + right << "\" y1=\"" << y(from) + box_height / 2 + down << "\" x2=\""
        << x[to] - right << "\" y2=\"" << y(to) + box_height / 2 - down
        << "\" stroke=\"#555\" marker-end=\"url(#tip)\"/>\n";
  }
  for (size_t i = 0; i < drawing.boxes.size(); ++i) {
    const auto [function, value] = lines(drawing.boxes[i]);
    out << "<rect x=\"" << x[i] - box_width / 2 << "\" y=\"" << y(i) << "\" width=\"" << box_width
        << "\" height=\"" << box_height << "\" rx=\"5\" fill=\"" << colour(drawing.boxes[i])
        << "\" stroke=\"#555\"/>\n<text x=\"" << x[i] << "\" y=\"" << y(i) + 16 << "\">"
        << escaped(function, escapes) << "</text><text x=\"" << x[i] << "\" y=\"" << y(i) + 32
        << "\" fill=\"#444\">" << escaped(value, escapes) << "</text>\n";
  }
  out << "</svg>\n";
  return out.str();
}

}  // namespace cladtorch::graph
