// Two classifiers of gray images of 28 x 28 pixels.
#pragma once

#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/cladtorch.h"

namespace fashion {

using cladtorch::Random;
using cladtorch::Tensor;
namespace nn = cladtorch::nn;

constexpr int64_t classes = 10;
constexpr const char* class_names[classes] = {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                              "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Boot"};

/// A convolution, its normalization and a ReLU.
struct ConvBlock {
  nn::Conv2d conv;
  nn::BatchNorm2d norm;

  ConvBlock(int64_t in, int64_t out, Random& random)
      : conv(in, out, 3, random, {.padding = 1}, false), norm(out) {}
  Tensor forward(const Tensor& x) const { return relu(norm(conv(x))); }
  CLADTORCH_PARAMETERS(conv, norm)
};

/// Three blocks, each on images of half the size of those before.
struct Cnn {
  ConvBlock first, second, third;
  nn::Dropout dropout{0.3};
  nn::Linear out;

  explicit Cnn(Random& random)
      : first(1, 32, random),
        second(32, 64, random),
        third(64, 128, random),
        out(128 * 3 * 3, classes, random) {}

  /// Scores [N, 10] of images [N, 1, 28, 28].
  Tensor forward(const Tensor& images) const {
    const Tensor a = max_pool2d(first.forward(images), 2);
    const Tensor b = max_pool2d(second.forward(a), 2);
    const Tensor c = max_pool2d(third.forward(b), 2);
    return out(dropout(c.reshape({c.size(0), -1})));
  }
  CLADTORCH_PARAMETERS(first, second, third, out)
};

inline double loss(const Cnn& model, const Tensor& images, const Tensor& labels) {
  return cross_entropy(model.forward(images), labels).item();
}

inline double loss_and_gradient(const Cnn& model, const Tensor& images, const Tensor& labels, Cnn* gradient) {
  auto step = clad::value_and_gradient(loss, "model");
  return step.execute(model, images, labels, gradient);
}

}  // namespace fashion
