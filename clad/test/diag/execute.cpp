// What execute() and clad::gradient are given: one sentence for each mistake, from the headers.
#include "clad/Differentiator/Differentiator.h"

struct Model {
  double scale;
};
struct Other {
  double scale;
};
double f(double x, double y) { return x * y; }
double loss(const Model& model, double x) { return model.scale * x; }

void use(Model model, Model d_model, Other other, double x, double d_x) {
  auto of_numbers = clad::gradient(f);
  of_numbers.execute(3, 4, &x, &d_x);
  of_numbers.execute(3);
  // expected-error@clad/Differentiator/Differentiator.h:* {{execute() takes all arguments of the function, and then a pointer for each derivative}}
  of_numbers.execute(3, 4, x, d_x);
  // expected-error@clad/Differentiator/Differentiator.h:* 2 {{execute() takes a pointer to what a derivative is added to: write &d_x for d_x}}
  auto of_model = clad::gradient(loss, "model");
  of_model.execute(model, x, &d_model);
  of_model.execute(model, x, d_model);
  of_model.execute(model, x, &other);
  // expected-error@clad/Differentiator/Differentiator.h:* {{execute() is given a pointer to an object of another class: the derivative with respect to a parameter is an object of the parameter's class}}
  of_model.execute(model, &d_model, x);
  // expected-error@clad/Differentiator/Differentiator.h:* 2 {{an argument of execute() is not one that the function takes: the arguments of the function come first}}
  of_model.execute(other, x, &d_model);
  auto of_lambda = clad::gradient([](double a) { return a * a; });
  of_lambda.execute(x, &d_x);
  of_lambda.execute(x, d_x);
  // expected-error@clad/Differentiator/Differentiator.h:* {{execute() takes a pointer to what a derivative is added to: write &d_x for d_x}}
}

void ask(Model model, double x) {
  clad::gradient(loss, model);
  // expected-error@-1 {{clad::gradient: the parameter list must be a string literal or constexpr}}
  clad::gradient(loss(model, x), "model").execute(model, x, &model);
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object}}
  clad::gradient("loss");
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object}}
  clad::gradient(&Model::scale);
  // expected-error@-1 {{clad::gradient: the first argument must name a function, a member function or a function object}}
}
