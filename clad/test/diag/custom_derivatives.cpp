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
namespace class_functions {
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

void use() {
  clad::gradient(calls_wrong_cotangent);
  clad::gradient(calls_no_cotangent);
  clad::gradient(calls_wrong_adjoint);
  clad::gradient(calls_without_forward);
  clad::gradient(calls_too_many);
  clad::gradient(calls_operator);
  clad::gradient(calls_method);
}
