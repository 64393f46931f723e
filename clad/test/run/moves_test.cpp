// Vectors, and objects that hold them, that are moved from and used again.
#include <string>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double asked_for_size(double x, double y) {
  std::vector<double> v{x, 2 * y}, w;
  std::vector<double> u = std::move(v);
  double s = u[0] * u[1] * static_cast<double>(v.size() + 1);
  w = std::move(u);
  v.push_back(x * y);
  return s + w[0] * v[0] * static_cast<double>(u.size() + v.size());
}
double filled_again(double x, double y) {
  std::vector<double> row;
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 6; ++i) {
    row.push_back(x * i + y);
    if (i % 2 == 1) rows.push_back(std::move(row));
  }
  double s = y;
  for (const std::vector<double>& r : rows)
    for (double d : r) s = s * 0.7 + d * x;
  return s;
}
double first(std::vector<double> v) { return v[0]; }
double second(std::vector<double>&& v) { return v[1]; }
double handed_to_functions(double x, double y) {
  std::vector<double> v{x, x * y};
  double s = second(std::move(v)) * static_cast<double>(v.size());
  s += first(std::move(v));
  return s * (static_cast<double>(v.size()) + y);
}
TEST(Moves, LeaveVectorsEmpty) {
  EXPECT_GRADIENT(asked_for_size, 1.3, 0.7);
  EXPECT_GRADIENT(filled_again, 1.3, 0.7);
  EXPECT_GRADIENT(handed_to_functions, 1.3, 0.7);
}

struct Path {
  std::vector<double> points;
  double length = 0;
  std::vector<double> take() { return std::move(points); }
};
struct Named : Path {
  std::string name;
};
struct Holder {
  std::vector<double> held;
  explicit Holder(std::vector<double>& given) : held(std::move(given)) {}
};
double objects(double x, double y) {
  Named a;
  a.points = {x, y};
  a.length = x * y;
  a.name = "path";
  Named b = std::move(a);
  a.points.push_back(3 * x);
  std::vector<double> taken = b.take();
  return taken[1] * a.points[0] * a.length + static_cast<double>(b.points.size() + a.name.size()) * x;
}
double constructor(double x, double y) {
  std::vector<double> v{x, y};
  Holder h(v);
  v.push_back(x);
  return h.held[1] * v[0];
}
double in_a_branch(double x, double y) {
  std::vector<std::vector<double>> rows{{x}, {y, x * y}};
  std::vector<double> v;
  if (x > y) v = std::move(rows[1]);
  return v[1] * static_cast<double>(rows[1].size() + rows[0].size());
}
double without_derivatives(double x, double y) {
  std::vector<int> k{1, 2}, l = std::move(k);
  std::string s = "abc", t = std::move(s);
  return x * y * (static_cast<double>(k.size() + s.size()) + 1) * l[1] * static_cast<double>(t.size());
}
double captured(double x, double y) {
  std::vector<double> v{x, y};
  const auto f = [w = std::move(v)] { return w[0] * w[1]; };
  return f() * (static_cast<double>(v.size()) + x);
}
TEST(Moves, OfPartsOfObjects) {
  EXPECT_GRADIENT(objects, 1.3, 0.7);
  EXPECT_GRADIENT(constructor, 1.3, 0.7);
  EXPECT_GRADIENT(in_a_branch, 1.3, 0.7);
  EXPECT_GRADIENT(without_derivatives, 1.3, 0.7);
  EXPECT_GRADIENT(captured, 1.3, 0.7);
}

}  // namespace
