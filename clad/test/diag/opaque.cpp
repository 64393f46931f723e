// An opaque value is never looked into: whatever is not a composition of operations with pullbacks is
// refused.
#include <memory>

#include "clad/Differentiator/Differentiator.h"

class CLAD_OPAQUE Tensor {
 public:
  Tensor() = default;
  explicit Tensor(double x) : storage_(std::make_shared<double>(x)) {}
  void accumulate(const Tensor& d);
  double item() const { return *storage_; }
  double* data() { return storage_.get(); }
  // expected-error@-1 {{cannot differentiate an access to the inside of 'Tensor', an opaque value; give this function a pullback in clad::custom_derivatives}}
  const double* data() const { return storage_.get(); }
  // expected-error@-1 {{cannot differentiate an access to the inside of 'Tensor', an opaque value; give this function a pullback in clad::custom_derivatives}}
  void scale(double k) { *storage_ *= k; }
  int rank() const { return 0; }
  double tag = 0;

 private:
  std::shared_ptr<double> storage_;
};
Tensor add(const Tensor& a, const Tensor& b);
namespace clad::custom_derivatives {
void add_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, Tensor d_y, Tensor* d_a,
                  Tensor* d_b);
namespace class_functions {
void item_pullback(CLAD_UNUSED const Tensor* self, double d_y, Tensor* d_self);
}  // namespace class_functions
}  // namespace clad::custom_derivatives

Tensor twice(const Tensor& a) { return a.rank() == 0 ? add(a, a) : a; }
double composition(const Tensor& a) { return add(twice(a), a).item(); }

Tensor by_pointer(const Tensor& a, const Tensor& b) {
  Tensor y(0.0);
  double* p = y.data();
  p[0] = a.data()[0] * b.data()[0];
  return y;
}
double without_pullback(const Tensor& a, const Tensor& b) { return by_pointer(a, b).item(); }
double by_member(const Tensor& a) { return a.tag; }
// expected-error@-1 {{cannot differentiate an access to the inside of 'Tensor', an opaque value; give this function a pullback in clad::custom_derivatives}}
double by_constructor(const Tensor& a) { return Tensor(a.item() * 2).item(); }
// expected-error@-1 {{cannot differentiate call to 'Tensor::Tensor': 'Tensor' is an opaque value, which is never looked into, and no matching 'constructor_pullback'}}
double in_place(Tensor a) {
  a.scale(3);
  // expected-error@-1 {{cannot differentiate call to 'Tensor::scale': 'Tensor' is an opaque value, which is never looked into, and no matching 'scale_pullback'}}
  return a.item();
}
class CLAD_OPAQUE NoAccumulate {
  // expected-error@-1 {{CLAD_OPAQUE class 'NoAccumulate' has no member 'accumulate' for cotangents}}
 public:
  NoAccumulate() = default;
};
class CLAD_OPAQUE NoZero {
  // expected-error@-1 {{CLAD_OPAQUE class 'NoZero' has no default constructor}}
 public:
  explicit NoZero(int);
  void accumulate(NoZero d);
};
double incomplete(const NoAccumulate&, const NoZero&, double x) { return x; }

void use() {
  clad::gradient(incomplete, "x");
  clad::gradient(composition);
  clad::gradient(without_pullback);
  clad::gradient(by_member);
  clad::gradient(by_constructor);
  clad::gradient(in_place);
}
