// The models of this folder. All take images [N, 1, 28, 28]. bench/models times four of them in other sizes.
#pragma once

#include "cladtorch/cladtorch.h"

namespace fashion {

using cladtorch::Random;
using cladtorch::Tensor;
namespace nn = cladtorch::nn;

/// A convolution, its normalization and a ReLU.
struct ConvBlock {
  nn::Conv2d conv;
  nn::BatchNorm2d norm;

  ConvBlock(int64_t in, int64_t out, Random& random)
      : conv(in, out, 3, random, {.padding = 1}, false), norm(out) {}
  Tensor forward(const Tensor& x) const { return relu(norm(conv(x))); }
  CLADTORCH_PARAMETERS(conv, norm)
};

/// A classifier: three blocks, each on images of half the size of those before.
struct Cnn {
  ConvBlock first, second, third;
  nn::Dropout dropout{0.3};
  nn::Linear out;

  explicit Cnn(Random& random)
      : first(1, 32, random), second(32, 64, random), third(64, 128, random), out(128 * 9, 10, random) {}
  Tensor forward(const Tensor& images) const {
    const Tensor a = max_pool2d(first.forward(images), 2);
    const Tensor b = max_pool2d(second.forward(a), 2);
    const Tensor c = max_pool2d(third.forward(b), 2);
    return out(dropout(c.reshape({c.size(0), -1})));
  }
  CLADTORCH_PARAMETERS(first, second, third, out)
};

/// A classifier that sees an image as 49 patches of 4 x 4 pixels. Source: Dosovitskiy et al., 2020, with the
/// mean of all positions in the place of a class token.
struct Vit {
  nn::Conv2d patches;
  Tensor positions;  ///< [49, 64]
  std::vector<nn::TransformerEncoderLayer> layers;
  nn::LayerNorm norm;
  nn::Linear out;

  explicit Vit(Random& random, double dropout = 0.1)
      : patches(1, 64, 4, random, {.stride = 4}),
        positions(cladtorch::normal({49, 64}, random, 0, 0.02)),
        norm(64),
        out(64, 10, random) {
    const nn::TransformerLayerOptions options{
        .hidden = 128, .dropout = dropout, .gelu = true, .norm_first = true};
    for (int i = 0; i < 4; ++i) layers.emplace_back(64, 4, random, options);
  }
  Tensor forward(const Tensor& images) const {
    Tensor x = patches(images).reshape({images.size(0), 64, 49}).transpose(1, 2) + positions;
    for (const nn::TransformerEncoderLayer& layer : layers) x = layer.forward(x);
    return out(mean(norm(x), 1));
  }
  CLADTORCH_PARAMETERS(patches, positions, layers, norm, out)
};

/// A variational autoencoder of 20 numbers for an image. Source: Kingma and Welling, "Auto-encoding
/// variational Bayes", 2013.
struct Vae {
  nn::Linear encoder, mean, log_variance, decoder, out;

  explicit Vae(Random& random, int64_t hidden = 512)
      : encoder(784, hidden, random),
        mean(hidden, 20, random),
        log_variance(hidden, 20, random),
        decoder(20, hidden, random),
        out(hidden, 784, random) {}
  /// The logits of the pixels for codes [N, 20].
  Tensor decode(const Tensor& codes) const { return out(relu(decoder(codes))); }
  CLADTORCH_PARAMETERS(encoder, mean, log_variance, decoder, out)
};

/// Nats for each image: what the pixels cost that are decoded from a random code near the mean, and how far
/// the codes are from normal ones. `noise` is standard normal, [N, 20].
inline double vae_loss(const Vae& model, const Tensor& images, const Tensor& noise) {
  const Tensor x = images.reshape({images.size(0), -1});
  const Tensor h = relu(model.encoder(x));
  const Tensor mu = model.mean(h), log_variance = model.log_variance(h);
  const Tensor logits = model.decode(mu + noise * cladtorch::exp(log_variance * 0.5));
  const double pixels = binary_cross_entropy_with_logits(logits, x, cladtorch::Reduction::sum).item();
  const double divergence = -0.5 * sum(log_variance - square(mu) - cladtorch::exp(log_variance) + 1.0).item();
  return (pixels + divergence) / static_cast<double>(images.size(0));
}

/// Makes images in [-1, 1] of 64 random numbers. Source: Radford et al., "DCGAN", 2015.
struct Generator {
  nn::Linear in;
  nn::BatchNorm2d norm1;
  nn::ConvTranspose2d up1;
  nn::BatchNorm2d norm2;
  nn::ConvTranspose2d up2;

  explicit Generator(Random& random, int64_t channels = 64)
      : in(64, channels * 49, random),
        norm1(channels),
        up1(channels, channels / 2, 4, random, {.stride = 2, .padding = 1}),
        norm2(channels / 2),
        up2(channels / 2, 1, 4, random, {.stride = 2, .padding = 1}) {}
  Tensor forward(const Tensor& noise) const {
    const Tensor x = relu(norm1(in(noise).reshape({noise.size(0), -1, 7, 7})));
    return cladtorch::tanh(up2(relu(norm2(up1(x)))));
  }
  CLADTORCH_PARAMETERS(in, norm1, up1, norm2, up2)
};

/// Scores [N, 1] of images: high for those of the data set.
struct Discriminator {
  nn::Conv2d conv1, conv2;
  nn::Dropout dropout;
  nn::Linear out;

  explicit Discriminator(Random& random, int64_t channels = 32, double dropout = 0.3)
      : conv1(1, channels, 4, random, {.stride = 2, .padding = 1}),
        conv2(channels, 2 * channels, 4, random, {.stride = 2, .padding = 1}),
        dropout{dropout},
        out(2 * channels * 49, 1, random) {}
  Tensor forward(const Tensor& images) const {
    const Tensor x = leaky_relu(conv2(leaky_relu(conv1(images), 0.2)), 0.2);
    return out(dropout(x.reshape({x.size(0), -1})));
  }
  CLADTORCH_PARAMETERS(conv1, conv2, out)
};

/// How far the scores are from telling real images from made ones.
inline double discriminator_loss(const Discriminator& model, const Tensor& real, const Tensor& made) {
  const Tensor of_real = model.forward(real), of_made = model.forward(made);
  return binary_cross_entropy_with_logits(of_real, full_like(of_real, 0.9)).item() +
         binary_cross_entropy_with_logits(of_made, zeros_like(of_made)).item();
}
/// How far the judge is from taking what the generator makes for real.
inline double generator_loss(const Generator& model, const Discriminator& judge, const Tensor& noise) {
  const Tensor score = judge.forward(model.forward(noise));
  return binary_cross_entropy_with_logits(score, ones_like(score)).item();
}

struct DoubleConv {
  nn::Conv2d conv1, conv2;

  DoubleConv(int64_t in, int64_t out, Random& random)
      : conv1(in, out, 3, random, {.padding = 1}), conv2(out, out, 3, random, {.padding = 1}) {}
  Tensor forward(const Tensor& x) const { return relu(conv2(relu(conv1(x)))); }
  CLADTORCH_PARAMETERS(conv1, conv2)
};

/// Takes the noise from images. Source: Ronneberger et al., "U-Net", 2015.
struct UNet {
  DoubleConv down1, down2, bottom, left2, left1;
  nn::ConvTranspose2d up2, up1;
  nn::Conv2d out;

  explicit UNet(Random& random)
      : down1(1, 16, random),
        down2(16, 32, random),
        bottom(32, 64, random),
        left2(64, 32, random),
        left1(32, 16, random),
        up2(64, 32, 2, random, {.stride = 2}),
        up1(32, 16, 2, random, {.stride = 2}),
        out(16, 1, 1, random) {}
  Tensor forward(const Tensor& x) const {
    const Tensor a = down1.forward(x);
    const Tensor b = down2.forward(max_pool2d(a, 2));
    const Tensor c = bottom.forward(max_pool2d(b, 2));
    const Tensor d = left2.forward(cladtorch::cat({b, up2.forward(c)}, 1));
    return out(left1.forward(cladtorch::cat({a, up1.forward(d)}, 1)));
  }
  CLADTORCH_PARAMETERS(down1, down2, bottom, left2, left1, up2, up1, out)
};
inline double denoising_loss(const UNet& model, const Tensor& noisy, const Tensor& clean) {
  return mse_loss(model.forward(noisy), clean).item();
}

inline double cnn_loss(const Cnn& model, const Tensor& images, const Tensor& labels) {
  return cross_entropy(model.forward(images), labels).item();
}
inline double vit_loss(const Vit& model, const Tensor& images, const Tensor& labels) {
  return cross_entropy(model.forward(images), labels).item();
}

}  // namespace fashion
