#include "cladtorch/graph/draw.h"

#include <gtest/gtest.h>

#include "cladtorch/graph/grad.h"

namespace cladtorch::graph {
namespace {

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(GraphDrawing, ShowsFunctionsValuesAndConstants) {
  const Scope scope;
  const Var x = variable(3, "x<1>"), y = pow(2 * x, 2);
  const Drawing drawing = draw(y);
  ASSERT_EQ(drawing.boxes.size(), 3u);
  EXPECT_EQ(drawing.boxes[0].function, "x<1>");
  EXPECT_EQ(drawing.boxes[1].function, "2 * \u00b7");
  EXPECT_EQ(drawing.boxes[1].value, "6");
  EXPECT_EQ(drawing.boxes[2].function, "pow(\u00b7, 2)");
  EXPECT_EQ(drawing.boxes[2].layer, 2u);
  EXPECT_EQ(drawing.edges.size(), 2u);
  EXPECT_EQ(drawing.caption, "");
  const std::string dot = to_dot(drawing), svg = to_svg(drawing);
  EXPECT_NE(dot.find("n1 -> n2;"), std::string::npos);
  EXPECT_NE(dot.find("label=\"x<1>\\n3\""), std::string::npos);
  EXPECT_NE(svg.find("x&lt;1&gt;"), std::string::npos);
  EXPECT_EQ(occurrences(svg, "<line"), 2u);
}

TEST(GraphDrawing, TellsTheBackwardPassApart) {
  const Scope scope;
  const Var x = variable(3, "x"), y = sin(x), d = backward(y)[x];
  const Drawing drawing = draw({d}, y);
  size_t backward = 0;
  for (const Drawing::Box& box : drawing.boxes) backward += box.is_backward;
  EXPECT_EQ(backward, drawing.boxes.size() - 1);
}

TEST(GraphDrawing, FoldsLargeGraphsAndSaysSo) {
  const Scope scope;
  Var x = variable(1, "x");
  for (int i = 0; i < 500; ++i) x = sin(x) + cos(x);
  const Drawing drawing = draw(x, 40);
  EXPECT_LE(drawing.boxes.size(), 45u);
  size_t nodes = 0;
  for (const Drawing::Box& box : drawing.boxes) nodes += box.count;
  EXPECT_EQ(nodes, 1501u);
  EXPECT_EQ(drawing.caption, "1501 nodes; those of one function in 101 successive layers are one box");
  EXPECT_NE(to_svg(drawing).find(drawing.caption), std::string::npos);
}

}  // namespace
}  // namespace cladtorch::graph
