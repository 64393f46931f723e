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
  const double* data() const { return storage_.get(); }
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
  // expected-error@-1 {{cannot differentiate call to 'Tensor::data': it leads into an opaque value, which is never looked into; use functions that have derivatives, or give the one that this stands in a pullback in clad::custom_derivatives}}
  p[0] = a.data()[0] * b.data()[0];
  // expected-error@-1 {{cannot differentiate call to 'Tensor::data': it leads into an opaque value}}
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
/// What a library's author says to those who use it.
class CLAD_OPAQUE CLAD_INSTEAD("use add(), or make the loop a function with a pullback") Matrix {
 public:
  void accumulate(const Matrix& d);
  template <class T>
  T* data() {
    return static_cast<T*>(values_);
  }
  template <class T>
  T& at(int i) {
    return data<T>()[i];
  }
  CLAD_INSTEAD("it changes a matrix in place; assign what scaled() returns") void scale(double k);
  Matrix& self() { return *this; }
  double tag() const { return tag_; }

 private:
  void* values_ = nullptr;
  double tag_ = 0;
};
CLAD_INSTEAD("it is for tests; take norm()") double slow_norm(const Matrix& m);
namespace clad::custom_derivatives {
void norm_pullback(const Matrix& m, double d_y, Matrix* d_m);
}
double norm(const Matrix& m);
double hinted(Matrix m) {
  m.self().data<double>()[0] = 1;
  // expected-error@-1 {{cannot differentiate call to 'Matrix::data<double>': use add(), or make the loop a function with a pullback}}
  m.at<float>(0) = 1;
  // expected-error@-1 {{cannot differentiate call to 'Matrix::at<float>': use add(), or make the loop a function with a pullback}}
  return norm(m.self());
}
double changed(Matrix m) {
  m.scale(2);
  // expected-error@-1 {{cannot differentiate call to 'Matrix::scale': it changes a matrix in place; assign what scaled() returns}}
  return norm(m) + slow_norm(m) + m.tag();
  // expected-error@-1 {{cannot differentiate call to 'slow_norm': it is for tests; take norm()}}
  // expected-error@-2 {{cannot differentiate call to 'Matrix::tag': 'Matrix' is an opaque value, which is never looked into, and no matching 'tag_pullback'}}
}
double of_constant(const Matrix& m, Matrix constant) {
  constant.scale(2);
  return norm(m) + slow_norm(constant);
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

struct Layer {
  Tensor weight;
  double scale = 1;
  template <class V>
  CLAD_MEMBERS("PARAMETERS")
  void visit(V&& v) {
    v(weight);
  }
};
struct Model {
  Layer first;
  std::shared_ptr<Layer> second;
  std::shared_ptr<Layer> shared;
  // expected-error@-1 {{cannot differentiate with respect to 'Model': its member 'shared' is not named in PARAMETERS, so it would not be trained; name it there, or mark it CLAD_CONSTANT}}
  Tensor forgotten;
  // expected-error@-1 {{cannot differentiate with respect to 'Model': its member 'forgotten' is not named in PARAMETERS}}
  CLAD_CONSTANT Tensor mask;
  int count = 0;
  template <class V>
  CLAD_MEMBERS("PARAMETERS")
  void visit(V&& v) {
    v(first);
    v(second);
  }
};
double of_model(const Model& m) { return m.first.weight.item() * m.first.scale; }

void use() {
  clad::gradient(of_model);
  clad::gradient(incomplete, "x");
  clad::gradient(composition);
  clad::gradient(without_pullback);
  clad::gradient(by_member);
  clad::gradient(by_constructor);
  clad::gradient(in_place);
  clad::gradient(hinted);
  clad::gradient(changed);
  clad::gradient(of_constant, "m");
}
