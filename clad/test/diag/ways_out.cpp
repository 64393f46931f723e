// The notes of calls that have no derivative say what to do in their place.
#include <cmath>
#include <functional>

#include "clad/Differentiator/Differentiator.h"

class CLAD_OPAQUE Matrix {
 public:
  void accumulate(const Matrix& d);
  double trace() const;
  // expected-note@-1 {{declared here; use a function that has a derivative, or give this function a pullback in clad::custom_derivatives::class_functions}}
  CLAD_INSTEAD("it changes a matrix in place; assign what scaled() returns") void scale(double k);
  // expected-note@-1 {{declared here}}
};
double of_matrix(Matrix m) {
  m.scale(2);
  // expected-error@-1 {{cannot differentiate call to 'Matrix::scale': it changes a matrix in place; assign what scaled() returns}}
  return m.trace();
  // expected-error@-1 {{cannot differentiate call to 'Matrix::trace': 'Matrix' is an opaque value, which is never looked into, and no matching 'trace_pullback'}}
}

double of_zeta(double x) { return std::riemann_zeta(x); }
// expected-error@-1 {{cannot differentiate call to 'riemann_zeta': no derivative of this library function is known and no matching 'riemann_zeta_pullback'}}
// expected-note@-2 {{rewrite the call with supported operations (docs/differentiating.md lists them), or give this function a pullback in clad::custom_derivatives::std}}

struct Layer {
  double weight;
  std::function<double(double)> activation;
};
double of_function(const Layer& layer, double x) {
  return layer.activation(layer.weight * x);
  // expected-error@-1 {{cannot differentiate call to 'function::operator()': which function it holds is not known here and no matching 'operator_call_pullback'}}
  // expected-note@-2 {{replace it with a class that has an operator(), or with a base class that has a virtual function}}
}

namespace a::b {
double unseen(double x);
// expected-note@-1 {{declared here; define it in this translation unit or give this function a pullback in clad::custom_derivatives::a::b}}
}  // namespace a::b
double of_unseen(double x) { return a::b::unseen(x); }
// expected-error@-1 {{cannot differentiate call to 'unseen': no definition is visible and no matching 'unseen_pullback'}}

void use() {
  clad::gradient(of_matrix);
  clad::gradient(of_zeta);
  clad::gradient(of_function, "layer");
  clad::gradient(of_unseen);
}
