// Classes that hold vectors of themselves: trees.
#include <array>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

struct Expression {
  char op = 'c';
  double value = 0;
  std::vector<Expression> operands;
  double eval(double x, double y) const {
    switch (op) {
      case 'x':
        return x;
      case 'y':
        return y;
      case '+': {
        double s = 0;
        for (const Expression& e : operands) s += e.eval(x, y);
        return s;
      }
      case '*': {
        double s = 1;
        for (const Expression& e : operands) s *= e.eval(x, y);
        return s;
      }
      default:
        return value;
    }
  }
};
double evaluated(double x, double y) {
  const Expression e{'+', 0, {{'c', x, {}}, {'*', 0, {{'c', y, {}}, {'x', 0, {}}, {'c', x * y, {}}}}}};
  return e.eval(y, x) * x;
}
TEST(RecursiveClasses, AnExpressionTree) { EXPECT_DERIVATIVES(evaluated, 1.3, 0.7); }

struct Tree {
  double value;
  std::vector<Tree> children;
  void add(double a) { children.push_back({a * value, {}}); }
};
double sum(const Tree& t) {
  double s = t.value * t.value;
  for (const Tree& c : t.children) s += sum(c) * t.value;
  return s;
}
void scale(Tree& t, double k) {
  t.value *= k;
  for (Tree& c : t.children) scale(c, k * t.value);
}
Tree make(int depth, double x) {
  Tree t{x, {}};
  if (depth > 0)
    for (int i = 0; i < 2; ++i) t.children.push_back(make(depth - 1, x * (i + 1) * 0.5));
  return t;
}
double grown(double x, double y) {
  Tree t{x, {}};
  for (int i = 0; i < 3; ++i) {
    t.add(y * i);
    t.children.back().add(x);
  }
  Tree u = t;
  u.children[1].value *= x;
  return sum(t) * sum(u);
}
double made(double x, double y) {
  Tree t = make(2, x);
  scale(t, y);
  return sum(t);
}
TEST(RecursiveClasses, TreesThatGrowAndChange) {
  EXPECT_DERIVATIVES(grown, 1.1, 0.7);
  EXPECT_DERIVATIVES(made, 1.1, 0.7);
}
TEST(RecursiveClasses, AnAdjointIsATreeOfTheSameShape) {
  const Tree t{2, {{3, {}}, {4, {{5, {}}}}}};
  Tree d;
  clad::gradient(sum).execute(t, &d);
  EXPECT_EQ(2 * 3 * 2, d.children[0].value);
  EXPECT_EQ((2 * 4 + 25) * 2, d.children[1].value);
  EXPECT_EQ(2 * 5 * 4 * 2, d.children[1].children[0].value);
}

// Neither has numbers that the other one does not lead to.
struct Branch;
struct Node {
  std::vector<Branch> branches;
  double value;
};
struct Branch {
  std::vector<Node> nodes;
  int weight;
};
double total(const Node& n) {
  double s = n.value;
  for (const Branch& b : n.branches)
    for (const Node& m : b.nodes) s += b.weight * total(m) * m.value;
  return s;
}
double of_two(double x, double y) {
  Node n{{{{{{}, x}, {{}, y}}, 2}, {{{{}, x * y}}, 3}}, y};
  n.branches[0].nodes[1].value *= x;
  return total(n);
}
TEST(RecursiveClasses, TwoThatHoldEachOther) { EXPECT_DERIVATIVES(of_two, 1.3, 0.7); }

struct Quad {
  double mass = 0;
  std::array<std::vector<Quad>, 2> parts;
};
double weigh(const Quad& q) {
  double s = q.mass;
  for (const std::vector<Quad>& row : q.parts)
    for (const Quad& p : row) s += weigh(p) * p.mass;
  return s;
}
double of_arrays(double x, double y) {
  Quad q, p;
  q.mass = x;
  p.mass = y;
  q.parts[0].push_back(p);
  p.mass *= x;
  q.parts[1].push_back(p);
  q.parts[1][0].parts[0].push_back(q);
  return weigh(q);
}
TEST(RecursiveClasses, ArraysOfVectors) { EXPECT_DERIVATIVES(of_arrays, 1.3, 0.7); }

}  // namespace
