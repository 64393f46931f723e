// A project outside the library: a small classifier with an activation of its own learns to tell two spirals
// apart.
#include <clad/Differentiator/Differentiator.h>
#include <cladtorch/cladtorch.h>

#include <cstdio>

#include "swish.h"

using namespace cladtorch;

struct Classifier {
  nn::Linear in, hidden, out;

  explicit Classifier(Random& random)
      : in(2, 32, random, true, 1.0), hidden(32, 32, random, true, 0.2), out(32, 2, random, true, 0.2) {}
  Tensor forward(const Tensor& x) const { return out(spiral::swish(hidden(spiral::swish(in(x))))); }
  CLADTORCH_PARAMETERS(in, hidden, out)
};

double loss(const Classifier& model, const Tensor& points, const Tensor& labels) {
  return cross_entropy(model.forward(points), labels).item();
}

int main() {
  constexpr int64_t n = 200;
  Tensor points = empty({n, 2}), labels = empty({n}, DType::int32);
  for (int64_t i = 0; i < n; ++i) {
    const float turn = 6.0f * static_cast<float>(i / 2) / (n / 2), sign = i % 2 ? 1.0f : -1.0f;
    points.data<float>()[2 * i] = sign * turn * std::cos(turn) / 6;
    points.data<float>()[2 * i + 1] = sign * turn * std::sin(turn) / 6;
    labels.data<int32_t>()[i] = static_cast<int32_t>(i % 2);
  }

  auto gradient = clad::gradient(loss, "model");
  Random random(1);
  Classifier model(random);
  Classifier d_model = like(model);
  const double before = loss(model, points, labels);
  for (int step = 0; step < 2000; ++step) {
    zero_grad(d_model);
    gradient.execute(model, points, labels, &d_model);
    std::vector<Tensor> slopes;
    for_each_parameter(d_model, [&](const std::string&, Tensor& slope) { slopes.push_back(slope); });
    size_t next = 0;
    for_each_parameter(model, [&](const std::string&, Tensor& parameter) {
      const Tensor& slope = slopes[next++];
      for (int64_t i = 0; i < parameter.numel(); ++i)
        parameter.data<float>()[i] -= 0.3f * slope.data<float>()[i];
    });
  }
  const double after = loss(model, points, labels);

  std::printf("cross-entropy %.3f before, %.3f after training\n", before, after);
  return after < 0.1 ? 0 : 1;
}
