// A pullback that is meant for a call but does not match it is reported with the reason, never skipped.
#include "clad/Differentiator/Differentiator.h"

double wrong_cotangent(double x, int n) { return x * n; }
double no_cotangent(double x) { return x; }
double wrong_adjoint(double x, double y) { return x * y; }
double without_forward(double x) { return x; }
double too_many(double x) { return x; }
struct Value {
  double a;
  double get() const { return a; }
};
Value operator*(const Value& a, double k) { return {a.a * k}; }
struct State {
  double y;
};
double& larger(double& u, double& v) { return u > v ? u : v; }
double& smaller(double& u, double& v) { return u > v ? v : u; }
double& doubled(double& u, double& v) {
  u *= 2;
  return u > v ? u : v;
}
double& elsewhere(float& u);
double* chosen(double* u, double* v) { return *u > *v ? u : v; }
double cube(double x) { return x * x * x; }
double root(double x) { return x; }
double other_number(double x) { return x; }
struct First {
  double v;
  double& at() { return v; }
};
struct Second {  // not meant by what is for First
  double v;
  double& at() { return v; }
};
struct Made {
  double v;
  explicit Made(double x) : v(x) {}
};

namespace clad::custom_derivatives {
void wrong_cotangent_pullback(double x, int n, float* d, double* d_x) {}
// expected-note@-1 {{candidate 'wrong_cotangent_pullback(double, int, float *, double *)' does not match: parameter 3 is 'float *' where 'double' is passed}}
void no_cotangent_pullback(double x, double* d_x) {}
// expected-note@-1 {{candidate 'no_cotangent_pullback(double, double *)' does not match: it takes 2 parameters where 3 are passed; parameter 2 is 'double *' where 'double' is passed}}
void wrong_adjoint_pullback(double x, double y, double d, double* d_x, float* d_y) {}
// expected-note@-1 {{candidate 'wrong_adjoint_pullback(double, double, double, double *, float *)' does not match: parameter 5 is 'float *' where 'double *' is passed}}
void without_forward_pullback(double x, double d, double* d_x, pullback_state<State>& s) {}
// expected-note@-1 {{this pullback takes a state, but no 'without_forward_reverse_forw' provides it}}
void too_many_pullback(double x, double d, double* d_x, double* d_y) {}
// expected-note@-1 {{candidate 'too_many_pullback(double, double, double *, double *)' does not match: it takes 4 parameters where 3 are passed}}
void operator_star_pullback(const Value& a, double k, Value d, Value* d_a) {}
// expected-note@-1 {{candidate 'operator_star_pullback(const Value &, double, Value, Value *)' does not match: it takes 4 parameters where 5 are passed}}
ValueAndAdjoint<double&, double&> larger_reverse_forw(double& u, double& v, double* d_u, double* d_v);
// expected-note@-1 {{candidate 'larger_reverse_forw(double &, double &, double *, double *)' does not match: parameter 3 is 'double *' where 'double' is passed}}
ValueAndAdjoint<double, double> smaller_reverse_forw(double& u, double& v, double& d_u, double& d_v);
// expected-note@-1 {{'smaller_reverse_forw' must return 'clad::ValueAndAdjoint<double &, double &>'}}
ValueAndAdjoint<double&, double&> doubled_reverse_forw(double& u, double& v, double& d_u, double& d_v) {
  // expected-note@-1 {{declared here}}
  u *= 2;
  if (u > v) return {u, d_u};
  return {v, d_v};
}
ValueAndAdjoint<double&, double&> elsewhere_reverse_forw(float& u, float& d_u);
ValueAndAdjoint<double*, double*> chosen_reverse_forw(double* u, double* v, double* d_u, double* d_v) {
  if (*u > *v) return {u, d_u};
  return {v, d_v};
}
ValueAndAdjoint<double, double> cube_reverse_forw(double x);
// expected-note@-1 {{candidate 'cube_reverse_forw(double)' does not match: it takes 1 parameters where 2 are passed}}
void cube_pullback(double x, double d, double* d_x);
ValueAndPushforward<double, double> root_pushforward(double x);
// expected-note@-1 {{candidate 'root_pushforward(double)' does not match: it takes 1 parameters where 2 are passed}}
void other_number_pullback(float* x, double d, double* d_x);
// expected-note@-1 {{candidate 'other_number_pullback(float *, double, double *)' does not match: parameter 1 is 'float *' where 'double' is passed}}
namespace class_functions {
ValueAndAdjoint<double&, double&> at_reverse_forw(First& self, First* d_self);
// expected-note@-1 {{candidate 'at_reverse_forw(First &, First *)' does not match: parameter 1 is 'First &' where 'First *' is passed}}
Made constructor_reverse_forw(ConstructorReverseForwTag<Made>, double x);
// expected-note@-1 {{candidate 'constructor_reverse_forw(ConstructorReverseForwTag<Made>, double)' does not match: it takes 2 parameters where 3 are passed}}
void get_pullback(const Value* self, double d) {}
// expected-note@-1 {{candidate 'get_pullback(const Value *, double)' does not match: it takes 2 parameters where 3 are passed}}
}  // namespace class_functions
}  // namespace clad::custom_derivatives

double calls_wrong_cotangent(double x) { return wrong_cotangent(x, 3); }
// expected-error@-1 {{no 'wrong_cotangent_pullback' matches this call of 'wrong_cotangent'}}
double calls_no_cotangent(double x) { return no_cotangent(x); }
// expected-error@-1 {{no 'no_cotangent_pullback' matches this call of 'no_cotangent'}}
double calls_wrong_adjoint(double x) { return wrong_adjoint(x, x); }
// expected-error@-1 {{no 'wrong_adjoint_pullback' matches this call of 'wrong_adjoint'}}
double calls_without_forward(double x) { return without_forward(x); }
// expected-error@-1 {{no 'without_forward_pullback' matches this call of 'without_forward'}}
double calls_too_many(double x) { return too_many(x); }
// expected-error@-1 {{no 'too_many_pullback' matches this call of 'too_many'}}
double calls_operator(Value v, double k) { return (v * k).a; }
// expected-error@-1 {{no 'operator_star_pullback' matches this call of 'operator*'}}
double calls_method(Value v) { return v.get(); }
// expected-error@-1 {{no 'get_pullback' matches this call of 'Value::get'}}

double calls_larger(double x, double y) { return larger(x, y); }
// expected-error@-1 {{no 'larger_reverse_forw' matches this call of 'larger'}}
double calls_smaller(double x, double y) { return smaller(x, y); }
// expected-error@-1 {{no 'smaller_reverse_forw' matches this call of 'smaller'}}
double calls_doubled(double x, double y) { return doubled(x, y); }
// expected-error@-1 {{cannot differentiate this call of 'doubled': it may change what it is given; give it a pullback beside 'doubled_reverse_forw'}}
double calls_elsewhere(float x) { return elsewhere(x) * x; }
// expected-error@-1 {{cannot differentiate this call of 'elsewhere': no argument is, or holds, what a 'double &' of it could name; return by value}}
double calls_chosen(double x, double y) { return *chosen(x > y ? &x : &y, &x); }
// expected-error@-1 {{cannot differentiate this call of 'chosen': it returns a pointer, and is given one that is chosen at run time; return a reference}}
double calls_cube(double x) { return cube(x); }
// expected-error@-1 {{no 'cube_reverse_forw' matches this call of 'cube'}}
double calls_root(double x) { return root(x); }
// expected-error@-1 {{no 'root_pushforward' matches this call of 'root'}}
double calls_other_number(double x) { return other_number(x); }
// expected-error@-1 {{no 'other_number_pullback' matches this call of 'other_number'}}
double calls_at(double x) {
  First first{x};
  Second second{x};
  second.at() *= 2;
  return first.at() * second.v;
  // expected-error@-1 {{no 'at_reverse_forw' matches this call of 'First::at'}}
}
double calls_constructor(double x) { return Made(x).v; }
// expected-error@-1 {{no 'constructor_reverse_forw' matches this call of 'Made::Made'}}

// What a pointer of the caller's points to cannot be kept; where nothing reads what was there, it need not.
void scale(double k, double* u) { u[0] *= k; }
namespace clad::custom_derivatives {
void scale_pullback(double k, double* u, double* d_k, double* d_u) {
  *d_k += d_u[0] * u[0] / k;
  d_u[0] *= k;
}
}  // namespace clad::custom_derivatives
double reads_before(double* u, double k) {
  const double t = u[0] * u[0];
  scale(k, u);
  // expected-error@-1 {{cannot differentiate this call: it changes what 'u' points to, whose earlier values the backward pass reads, and how much that is, is not known; pass an array, a std::vector or a reference, or give it a '_reverse_forw' that keeps them}}
  return u[0] + t;
}
double reads_after(double* u, double k) {
  u[0] = k;
  scale(k, u);
  return u[0] * u[0];
}

void scale_again(int n, double k, double* u) {
  scale(k, u);
  // expected-error@-1 {{cannot differentiate this call: it changes what 'u' points to, whose earlier values the backward pass reads, and how much that is, is not known; pass an array, a std::vector or a reference, or give it a '_reverse_forw' that keeps them}}
  if (n > 0) scale_again(n - 1, k, u);
  // expected-note@-1 {{in the derivative of this call of 'scale_again'}}
}
double calls_itself(double x, double k) {
  double u[2] = {x, x};
  scale_again(2, k, u);
  return u[0];
}

double given_a_vector(std::vector<double>&& v) { return v[0]; }
namespace clad::custom_derivatives {
void given_a_vector_pullback(::std::vector<double>&&, double, ::std::vector<double>*);
}

void use() {
  clad::gradient(calls_wrong_cotangent);
  clad::gradient(calls_no_cotangent);
  clad::gradient(calls_wrong_adjoint);
  clad::gradient(calls_without_forward);
  clad::gradient(calls_too_many);
  clad::gradient(calls_operator);
  clad::gradient(calls_method);
  clad::gradient(calls_larger);
  clad::gradient(calls_smaller);
  clad::gradient(calls_doubled);
  clad::gradient(calls_elsewhere);
  clad::gradient(calls_chosen);
  clad::gradient(calls_cube);
  clad::differentiate(calls_root, "x");
  clad::gradient(calls_other_number);
  clad::gradient(calls_at);
  clad::gradient(calls_constructor);
  clad::gradient(reads_before);
  clad::gradient(reads_after);
  clad::gradient(calls_itself);
  clad::gradient(given_a_vector);
  // expected-error@-1 {{cannot use the derivative that is given for 'given_a_vector': the function takes an argument that is moved; take the derivative of one that calls it}}
}
