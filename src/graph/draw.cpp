#include "cladtorch/graph/draw.h"

#include <cmath>
#include <sstream>

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

}  // namespace

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
