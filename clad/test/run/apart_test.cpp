// An adjoint that shares memory with its argument is refused: the derivative would be added to the argument.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "clad/Differentiator/Differentiator.h"

namespace {

struct View {
  const double* data;
  int size;
};
double of_view(const View& v) { return v.data[0] * v.data[1]; }
double of_pointer(const double* p, int) { return p[0] * p[1]; }
double of_vector(const std::vector<double>& v) { return v[0] * v[1]; }
double of_array(double (&a)[2]) { return a[0] * a[1]; }
double of_number(double& x) { return x * x; }

/// A handle, as tensors are.
class CLAD_OPAQUE Handle {
 public:
  Handle() = default;
  explicit Handle(double x) : value_(std::make_shared<double>(x)) {}
  double value() const { return value_ ? *value_ : 0; }
  void accumulate(const Handle& d) { value_ = std::make_shared<double>(value() + d.value()); }
  bool shares_storage_with(const Handle& other) const { return value_ && value_ == other.value_; }

 private:
  std::shared_ptr<double> value_;
};
double number(const Handle& h) { return h.value(); }
struct Layer {
  Handle weight;
};
struct Model {
  std::vector<Layer> layers;
  std::array<Handle, 2> biases;
};
double of_model(const Model& m) { return number(m.layers[1].weight) * number(m.biases[0]); }

}  // namespace

namespace clad::custom_derivatives {
void number_pullback(CLAD_UNUSED const Handle&, double d_y, Handle* d_h) { d_h->accumulate(Handle(d_y)); }
}  // namespace clad::custom_derivatives

namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(Apart, OwnMemoryIsTaken) {
  double a[2] = {2, 3}, d[2] = {};
  clad::gradient(of_pointer, "p").execute(a, 2, d);
  EXPECT_EQ(d[0], 3);
  Model m{{{Handle(1)}, {Handle(2)}}, {Handle(3), Handle(4)}}, d_m;
  clad::gradient(of_model).execute(m, &d_m);
  EXPECT_EQ(d_m.layers[1].weight.value(), 3);
  EXPECT_EQ(d_m.biases[0].value(), 2);
}

TEST(Apart, TheArgumentItselfIsRefused) {
  double a[2] = {2, 3}, x = 1;
  std::vector<double> v{2, 3};
  EXPECT_NE(message_of([&] {
              clad::gradient(of_pointer, "p").execute(a, 2, a);
            }).find("parameter 'p' shares memory"),
            std::string::npos);
  EXPECT_NE(message_of([&] { clad::gradient(of_vector).execute(v, &v); }), "");
  EXPECT_NE(message_of([&] { clad::gradient(of_array).execute(a, a); }), "");
  EXPECT_NE(message_of([&] { clad::gradient(of_number).execute(x, &x); }), "");
  EXPECT_EQ(a[0], 2);
  EXPECT_EQ(v[0], 2);
  EXPECT_EQ(x, 1);
}

TEST(Apart, CopiesThatLeadToTheSameMemoryAreRefused) {
  double a[2] = {2, 3};
  const View view{a, 2};
  View same = view;
  EXPECT_NE(message_of([&] { clad::gradient(of_view).execute(view, &same); }), "");
  Model m{{{Handle(1)}, {Handle(2)}}, {Handle(3), Handle(4)}}, copy = m;
  EXPECT_NE(message_of([&] { clad::gradient(of_model).execute(m, &copy); }), "");
  copy = m;
  copy.layers = {{Handle(0)}, {Handle(0)}};
  EXPECT_NE(message_of([&] { clad::gradient(of_model).execute(m, &copy); }), "");
}

}  // namespace
