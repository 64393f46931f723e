// Every kind of request, of every kind of function, in one file: built with the plugin and exported, it must
// print the same.
#include "requests.h"

#include <array>
#include <cstdio>
#include <vector>

// Macros by names that the derivatives use.
#define d_x 1000
#define t second thoughts
#define scale(x) (2 * (x))

double cube_slope_elsewhere(double x);

namespace {

double product(double x, double y) { return x * y * std::sin(x); }
double overloaded(double x) { return x * x; }
double overloaded(double x, double y) { return x * y * y; }
double norm(const std::vector<double>& v) {
  double sum = 0;
  for (double e : v) sum += e * e;
  return std::sqrt(sum);
}
void squares(const double* x, double* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = x[i] * x[(i + 1) % n];
}
double doubled(double x) { return scale(x) * x; }

struct Spring {
  double stiffness;
  double energy(double length) const { return stiffness * length * length / 2; }
  static double half(double x) { return x * x / 2; }
};
struct Quadratic {
  double a;
  double operator()(double x) const { return a * x * x + x; }
};
double curvature(double x, double y) { return clad::differentiate<2>(product, "x").execute(x, y) * y; }

void show(const char* name, std::initializer_list<double> numbers) {
  std::printf("%s:", name);
  for (double n : numbers) std::printf(" %.10g", n);
  std::printf("\n");
}

// Made before main(), perhaps before the entries of the file are known.
auto early = clad::gradient(product);

}  // namespace

double with_statics(double x) {
  static double factor = 2.5;
  static constinit int power = 2;
  return factor * std::pow(x, power);
}

struct Law {
  virtual ~Law() = default;
  virtual double at(double x) const { return x; }
};
struct Square : Law {
  double at(double x) const override { return x * x; }
};
double of_a_law(const Law& law, double x) { return law.at(x) * x; }

int main() {
  double a = 0, b = 0;
  early.execute(1.5, 2, &a, &b);
  show("gradient", {a, b});
  double only = 0;
  clad::gradient(product, "y").execute(1.5, 2, &only);
  double second = 0;
  clad::gradient(product, 1).execute(1.5, 2, &second);
  show("gradient of y", {only, second});
  a = b = 0;
  const double value = clad::value_and_gradient(product).execute(1.5, 2, &a, &b);
  show("value and gradient", {value, a, b});
  show("derivatives",
       {clad::differentiate(product, "x").execute(1.5, 2), clad::differentiate(product, 1).execute(1.5, 2),
        clad::differentiate<2>(product, "x").execute(1.5, 2),
        clad::differentiate<3>(product, 0).execute(1.5, 2)});
  a = b = 0;
  clad::differentiate<clad::opts::vector_mode>(product, "x, y").execute(1.5, 2, &a, &b);
  show("vector mode", {a, b});
  double matrix[4] = {}, diagonal[2] = {};
  clad::hessian(product).execute(1.5, 2, matrix);
  clad::hessian<clad::opts::diagonal_only>(product).execute(1.5, 2, diagonal);
  show("hessian", {matrix[0], matrix[1], matrix[2], matrix[3], diagonal[0], diagonal[1]});
  double v_x = 1, v_y = 2, p_x = 0, p_y = 0;
  clad::hessian_vector_product(product, "x, y").execute(1.5, 2, &v_x, &v_y, &p_x, &p_y);
  show("hessian times vector", {p_x, p_y});
  const auto along = clad::pushforward(product).execute(1.5, 2, &v_x, &v_y);
  show("pushforward", {along.value, along.pushforward});
  a = b = 0;
  double error = 0;
  clad::estimate_error(product).execute(1.5, 2, &a, &b, error);
  show("error", {a, b, error});

  a = b = 0;
  clad::gradient(static_cast<double (*)(double)>(overloaded)).execute(3, &a);
  clad::gradient(static_cast<double (*)(double, double)>(overloaded), "y").execute(3, 4, &b);
  show("overloads", {a, b});
  std::vector<double> v{3, 4}, d_v(2);
  clad::gradient(norm).execute(v, &d_v);
  show("vector", {d_v[0], d_v[1]});
  double x[3] = {1, 2, 3}, out[3] = {}, rows[9] = {};
  clad::jacobian(squares, "x[0:2]").execute(x, out, 3, rows);
  show("jacobian", {rows[0], rows[1], rows[2], rows[4], rows[8]});
  Spring spring{3}, d_spring{0};
  double d_length = 0, d_half = 0;
  clad::gradient(&Spring::energy).execute(spring, 2, &d_spring, &d_length);
  clad::gradient(Spring::half).execute(2, &d_half);
  show("members", {d_spring.stiffness, d_length, d_half});
  Quadratic q{2};
  double d_q = 0, d_p = 0;
  clad::gradient(q).execute(3, &d_q);
  clad::gradient(&q).execute(4, &d_p);
  show("objects", {d_q, d_p});
  show("headers", {cube_slope(2), power_slope(2.0, 5), static_cast<double>(power_slope(3.0f, 2))});
  show("a file that is not exported", {cube_slope_elsewhere(2)});
  double d_curved = 0;
  clad::gradient(curvature, "x").execute(1.5, 2, &d_curved);
  show("derivative of a derivative", {d_curved});
  double d_doubled = 0;
  clad::gradient(doubled).execute(3, &d_doubled);
  show("macro", {d_doubled});
  double d_statics = 0, d_law = 0;
  clad::gradient(with_statics).execute(3, &d_statics);
  clad::gradient(of_a_law, "x").execute(Square(), 3, &d_law);
  show("statics and classes", {d_statics, d_law});
  std::printf("%s", early.getCode());
}
