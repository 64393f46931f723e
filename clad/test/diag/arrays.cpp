// What is not differentiated of std::valarray.
#include <cstddef>
#include <valarray>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

double takes_one(std::valarray<double> a) { return a.sum(); }
// expected-error@-1 {{cannot differentiate a function that is given a std::valarray itself; take the derivative of a function that makes it of a std::vector, or of a pointer and a length}}
double slices(const double* p) {
  std::valarray<double> a(p, 4);
  std::valarray<double> b = a[std::slice(0, 2, 2)];
  // expected-error@-1 {{cannot differentiate this operation on a std::valarray; write the loop, with an index}}
  return b.sum();
}
double selects(const double* p) {
  std::valarray<double> a(p, 4);
  return std::valarray<double>(a[a > 1.0]).sum();
  // expected-error@-1 {{cannot differentiate this operation on a std::valarray; write the loop, with an index}}
}
double not_evaluated(const double* p) {
  std::valarray<double> a(p, 4);
  auto twice = a + a;
  // expected-error@-1 {{cannot differentiate through 'twice', an expression of valarrays that has not been evaluated; declare it std::valarray}}
  a *= 2.0;
  return twice.sum();
}
std::valarray<double> weights{1, 2};
// expected-error@-1 {{cannot differentiate a use of the global std::valarray 'weights'; pass it as a std::vector}}
double weighs(const double* p) {
  std::valarray<double> a(p, 2);
  return (a * weights).sum();
}
struct State {
  std::valarray<double> u;
  double t = 0;
};
double in_a_class(const double* p) {
  State s{std::valarray<double>(p, 3)};
  // expected-error@-1 {{cannot differentiate through 's' of type 'State': derivatives of that type are not supported; use numbers, arrays, std::vector, std::array, std::tuple, std::optional, or a class of these}}
  return s.u.sum();
}
double in_a_vector(const double* p) {
  std::vector<std::valarray<double>> rows(2, std::valarray<double>(p, 3));
  // expected-error@-1 {{cannot differentiate through 'rows' of type 'std::vector<std::valarray<double>, std::allocator<std::valarray<double>>>': derivatives of that type are not supported; use numbers, arrays, std::vector, std::array, std::tuple, std::optional, or a class of these}}
  return rows[1].sum();
}
double outside(const std::valarray<double>& a);
double calls_outside(const double* p) {
  std::valarray<double> a(p, 3);
  return outside(a);
  // expected-error@-1 {{cannot differentiate call to 'outside': no definition is visible and no matching 'outside_pullback'}}
}
double rows_of_a_matrix(double x) {
  double m[2][3] = {{x, 1, 2}, {3, x, 4}};
  double* rows[2] = {m[0]};
  rows[1] = m[1];
  // expected-error@-1 {{cannot differentiate through a pointer that is assigned; index from a fixed pointer instead}}
  return rows[1][1] * rows[0][0];
}

void use() {
  clad::gradient(rows_of_a_matrix);
  clad::gradient(takes_one);
  clad::gradient(slices);
  clad::gradient(selects);
  clad::gradient(not_evaluated);
  clad::gradient(weighs);
  clad::gradient(in_a_class);
  clad::gradient(in_a_vector);
  clad::gradient(calls_outside);
}
