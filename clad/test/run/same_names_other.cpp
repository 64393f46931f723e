#include <cmath>

#include "clad/Differentiator/Differentiator.h"
#include "same_names.h"

namespace second {

struct Model {
  std::vector<double> weights;
};

double term(double weight, double x) {
  double s = std::sin(weight * x);
  std::vector<double> parts = {s, std::cos(weight * x)};
  double product = 1;
  for (double part : parts) product *= part;
  product *= weight + 1;
  return product;
}

double loss(const Model& model, double x) {
  double sum = 0;
  for (std::size_t i = 0; i < model.weights.size(); ++i) {
    const double before = sum;
    sum = before + term(model.weights[i], x);
  }
  return sum;
}

}  // namespace second

std::vector<double> second_gradient(const std::vector<double>& weights, double x) {
  const second::Model model{weights};
  second::Model d{std::vector<double>(weights.size())};
  clad::gradient(second::loss, "model").execute(model, x, &d);
  return d.weights;
}
