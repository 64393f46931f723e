// The gradients of the models' losses: the compiler writes what these functions call.
#pragma once

#include <clad/Differentiator/Differentiator.h>

#include "models.h"

namespace fashion {

inline double loss_and_gradient(const Cnn& model, const Tensor& images, const Tensor& labels, Cnn* gradient) {
  auto step = clad::value_and_gradient(cnn_loss, "model");
  return step.execute(model, images, labels, gradient);
}
inline double loss_and_gradient(const Vit& model, const Tensor& images, const Tensor& labels, Vit* gradient) {
  auto step = clad::value_and_gradient(vit_loss, "model");
  return step.execute(model, images, labels, gradient);
}
inline double loss_and_gradient(const Vae& model, const Tensor& images, const Tensor& noise, Vae* gradient) {
  auto step = clad::value_and_gradient(vae_loss, "model");
  return step.execute(model, images, noise, gradient);
}
inline double loss_and_gradient(const UNet& model, const Tensor& noisy, const Tensor& clean, UNet* gradient) {
  auto step = clad::value_and_gradient(denoising_loss, "model");
  return step.execute(model, noisy, clean, gradient);
}
inline double loss_and_gradient(const Discriminator& model, const Tensor& real, const Tensor& made,
                                Discriminator* gradient) {
  auto step = clad::value_and_gradient(discriminator_loss, "model");
  return step.execute(model, real, made, gradient);
}
inline double loss_and_gradient(const Generator& model, const Discriminator& judge, const Tensor& noise,
                                Generator* gradient) {
  auto step = clad::value_and_gradient(generator_loss, "model");
  return step.execute(model, judge, noise, gradient);
}

}  // namespace fashion
