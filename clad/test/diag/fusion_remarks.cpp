// What the compiler says of fusion, on request.
#include "clad/Differentiator/Differentiator.h"
#include "clad/fusion.h"

double inner(double x);
double outer(double x, double k);
double fused(double x, double k);
namespace clad::custom_derivatives {
void inner_pullback(double x, double d, double* d_x);
void outer_pullback(CLAD_UNUSED double x, double k, double d, double* d_x, double* d_k);
void fused_pullback(double x, double k, double d, double* d_x, double* d_k);
}  // namespace clad::custom_derivatives
CLAD_PATTERN(fused) double rule(double x, double k) { return outer(inner(x), k); }

double layer(double x) { return inner(x); }
double applies(double x) { return outer(layer(x), 2); }
// expected-remark@-1 {{fused 'inner + outer' into 'fused' (rule 'rule' at fusion_remarks.cpp:13)}}
double used_twice(double x) {
  double t = inner(x);
  // expected-remark@-1 {{not fused 'inner + outer' into 'fused' (rule 'rule' at fusion_remarks.cpp:13): what this computes is used elsewhere too}}
  return outer(t, 2) + t;
}
double changed(double x, double k) {
  // expected-remark@-1 {{the reverse sweep of 'changed' reads what the forward sweep keeps: 'k_1'}}
  double t = inner(x);
  k = x * k;
  return outer(t, 2 * k) + outer(inner(x), x);
  // expected-remark@-1 {{fused 'inner + outer' into 'fused' (rule 'rule' at fusion_remarks.cpp:13)}}
  // expected-remark@-2 {{fused 'inner + outer' into 'fused' (rule 'rule' at fusion_remarks.cpp:13)}}
}
void square(double& x) { x *= x; }
// expected-remark@-1 {{keeps what 'x' holds before this: the reverse sweep reads it}}
double changed_between(double x) {
  // expected-remark@-1 {{the reverse sweep of 'changed_between' reads what the forward sweep keeps: 'x_1'}}
  double t = inner(x);
  square(x);
  return outer(t, x);
  // expected-remark@-1 {{not fused 'inner + outer' into 'fused' (rule 'rule' at fusion_remarks.cpp:13): a value it needs may change in between}}
}
auto a = clad::gradient(applies), b = clad::gradient(used_twice), c = clad::gradient(changed_between);
auto d = clad::gradient(changed);
