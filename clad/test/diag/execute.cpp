// What execute() is given: one sentence for each mistake, from the header.
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
