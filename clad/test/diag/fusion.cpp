// What is wrong with a fusion rule, and what the remarks say of one that applies or nearly does.
#include "clad/fusion.h"
#include "clad/Differentiator/Differentiator.h"

double inner(double x);
double outer(double x);
double fused(double x);
double scaled(double x, double k);
struct Pair {
  double a, b;
};
Pair both(double x);
namespace clad::custom_derivatives {
void inner_pullback(double x, double d, double* d_x);
void outer_pullback(double x, double d, double* d_x);
void fused_pullback(double x, double d, double* d_x);
void scaled_pullback(double x, double k, double d, double* d_x, double* d_k);
}  // namespace clad::custom_derivatives

CLAD_PATTERN(fused) double good(double x) { return outer(inner(x)); }
CLAD_PATTERN(missing) double nowhere(double x) { return outer(inner(x)); }
// expected-error@-1 {{fusion rule 'nowhere': there is no function 'missing' to call in its place}}
CLAD_PATTERN(scaled) double other_parameters(double x) { return outer(inner(x)); }
// expected-error@-1 {{fusion rule 'other_parameters': 'scaled' must have the same parameters and the same result}}
CLAD_PATTERN(itself) double itself(double x) { return outer(inner(x)); }
// expected-error@-1 {{fusion rule 'itself': the pattern names itself as its replacement}}
CLAD_PATTERN(fused) double anything(double x) { return x; }
// expected-error@-1 {{fusion rule 'anything': the pattern would match anything: it returns its parameter 'x'}}
CLAD_PATTERN(scaled) double unused(double x, double k) { return outer(inner(x)); }
// expected-error@-1 {{fusion rule 'unused': nothing says what its parameter 'k' is: the pattern does not use it}}
CLAD_PATTERN(fused) double branches(double x) {
  // expected-error@-1 {{fusion rule 'branches': a pattern consists of declarations and one return, without loops, branches and assignments}}
  if (x > 0) return outer(inner(x));
  return inner(x);
}
CLAD_PATTERN(fused) double loops(double x) {
  // expected-error@-1 {{fusion rule 'loops': a pattern consists of declarations and one return, without loops, branches and assignments}}
  double y = x;
  for (int i = 0; i < 3; ++i) y = inner(y);
  return y;
}
CLAD_PATTERN(fused) double wasteful(double x) {
  // expected-error@-1 {{fusion rule 'wasteful': the pattern computes what it does not return}}
  double y = inner(x);
  return outer(x);
}
CLAD_PATTERN(both) Pair one_is_no_call(double x) { return {inner(x), x * 2}; }
// expected-error@-1 {{fusion rule 'one_is_no_call': each of several results must be what a call returns}}
CLAD_PATTERN(fused) double constant(double x) { return 2; }
// expected-error@-1 {{fusion rule 'constant': nothing says what its parameter 'x' is: the pattern does not use it}}
double zero();
CLAD_PATTERN(zero) double no_parameters() { return 2; }
// expected-error@-1 {{fusion rule 'no_parameters': the pattern computes nothing}}
double in_place(double& x);
CLAD_PATTERN(in_place) double changes(double& x) { return outer(inner(x)); }
// expected-error@-1 {{fusion rule 'changes': parameter 'x' must be a value or a const reference, and hold no pointers}}
double of_array(const double* x);
CLAD_PATTERN(of_array) double pointer(const double* x) { return outer(inner(x[0])); }
// expected-error@-1 {{fusion rule 'pointer': parameter 'x' must be a value or a const reference, and hold no pointers}}
template <class T>
CLAD_PATTERN(fused)
T any(T x) {
  return outer(inner(x));
}
// expected-error@-3 {{fusion rule 'any': a template cannot be a pattern: write one for the types that matter}}
struct Holder {
  CLAD_PATTERN(fused) double member(double x) { return outer(inner(x)); }
  // expected-error@-1 {{fusion rule 'member': a pattern is a function, not a member}}
};
CLAD_COMMUTATIVE double weigh(double x, int n);
double weighed(double x, int n);
CLAD_PATTERN(weighed) double exchanged(double x, int n) { return weigh(inner(x), n); }
// expected-error@-1 {{fusion rule 'exchanged': 'weigh' is marked CLAD_COMMUTATIVE, which takes a function, not a member, whose first two parameters have one type}}

double f(double x) { return outer(inner(x)); }
auto g = clad::gradient(f);
