// Twelve small models as a user writes them.
#pragma once

#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/cladtorch.h"

namespace bench {

using cladtorch::Random;
using cladtorch::Tensor;
namespace nn = cladtorch::nn;

// Layers begin with PyTorch's values, which the comparison loads into both.

struct Mlp {
  nn::Linear fc1, fc2, fc3;

  explicit Mlp(Random& random) : fc1(784, 512, random), fc2(512, 512, random), fc3(512, 10, random) {}
  Tensor forward(const Tensor& x) const { return fc3(relu(fc2(relu(fc1(x))))); }
  CLADTORCH_PARAMETERS(fc1, fc2, fc3)
};

struct LeNet {
  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2, fc3;

  explicit LeNet(Random& random)
      : conv1(1, 6, 5, random, {.padding = 2}),
        conv2(6, 16, 5, random),
        fc1(400, 120, random),
        fc2(120, 84, random),
        fc3(84, 10, random) {}
  Tensor forward(const Tensor& x) const {
    const Tensor a = avg_pool2d(cladtorch::tanh(conv1(x)), 2);
    const Tensor b = avg_pool2d(cladtorch::tanh(conv2(a)), 2);
    return fc3(cladtorch::tanh(fc2(cladtorch::tanh(fc1(b.reshape({b.size(0), -1}))))));
  }
  CLADTORCH_PARAMETERS(conv1, conv2, fc1, fc2, fc3)
};

/// Source: He et al., "Deep residual learning", 2015, for CIFAR-10, with a convolution where the size
/// changes.
struct Residual {
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  std::optional<nn::Conv2d> shortcut;

  Residual(int64_t in, int64_t out, Random& random)
      : conv1(in, out, 3, random, {.stride = in == out ? 1 : 2, .padding = 1}, false),
        bn1(out),
        conv2(out, out, 3, random, {.padding = 1}, false),
        bn2(out) {
    if (in != out) shortcut = nn::Conv2d(in, out, 1, random, {.stride = 2}, false);
  }
  Tensor forward(const Tensor& x) const {
    const Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
    if (shortcut) return relu(y + shortcut->forward(x));
    return relu(y + x);
  }
  CLADTORCH_PARAMETERS(conv1, bn1, conv2, bn2, shortcut)
};

struct ResNet20 {
  nn::Conv2d stem;
  nn::BatchNorm2d norm;
  std::vector<Residual> blocks;
  nn::Linear out;

  explicit ResNet20(Random& random)
      : stem(3, 16, 3, random, {.padding = 1}, false), norm(16), out(64, 10, random) {
    int64_t channels = 16;
    for (const int64_t next : {16, 16, 16, 32, 32, 32, 64, 64, 64}) {
      blocks.emplace_back(channels, next, random);
      channels = next;
    }
  }
  Tensor forward(const Tensor& x) const {
    Tensor y = relu(norm(stem(x)));
    for (const Residual& block : blocks) y = block.forward(y);
    return out(adaptive_avg_pool2d(y, 1).reshape({y.size(0), -1}));
  }
  CLADTORCH_PARAMETERS(stem, norm, blocks, out)
};

/// A depthwise convolution and a pointwise one. Source: Howard et al., "MobileNets", 2017.
struct Separable {
  nn::Conv2d depthwise;
  nn::BatchNorm2d bn1;
  nn::Conv2d pointwise;
  nn::BatchNorm2d bn2;

  Separable(int64_t in, int64_t out, int64_t stride, Random& random)
      : depthwise(in, in, 3, random, {.stride = stride, .padding = 1, .groups = in}, false),
        bn1(in),
        pointwise(in, out, 1, random, {}, false),
        bn2(out) {}
  Tensor forward(const Tensor& x) const { return relu6(bn2(pointwise(relu6(bn1(depthwise(x)))))); }
  CLADTORCH_PARAMETERS(depthwise, bn1, pointwise, bn2)
};

struct DepthwiseCnn {
  nn::Conv2d stem;
  std::vector<Separable> blocks;
  nn::Linear out;

  explicit DepthwiseCnn(Random& random) : stem(3, 32, 3, random, {.padding = 1}), out(128, 10, random) {
    blocks.emplace_back(32, 64, 1, random);
    blocks.emplace_back(64, 64, 2, random);
    blocks.emplace_back(64, 128, 1, random);
    blocks.emplace_back(128, 128, 2, random);
  }
  Tensor forward(const Tensor& x) const {
    Tensor y = relu6(stem(x));
    for (const Separable& block : blocks) y = block.forward(y);
    return out(adaptive_avg_pool2d(y, 1).reshape({y.size(0), -1}));
  }
  CLADTORCH_PARAMETERS(stem, blocks, out)
};

struct DoubleConv {
  nn::Conv2d conv1, conv2;

  DoubleConv(int64_t in, int64_t out, Random& random)
      : conv1(in, out, 3, random, {.padding = 1}), conv2(out, out, 3, random, {.padding = 1}) {}
  Tensor forward(const Tensor& x) const { return relu(conv2(relu(conv1(x)))); }
  CLADTORCH_PARAMETERS(conv1, conv2)
};

/// Source: Ronneberger et al., 2015.
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

template <class Network>
struct CharacterModel {
  nn::Embedding embedding;
  Network rnn;
  nn::Linear out;

  explicit CharacterModel(Random& random)
      : embedding(64, 64, random), rnn(64, 256, random), out(256, 64, random) {}
  /// Scores [T, N, 64] of ids [T, N].
  Tensor forward(const Tensor& ids) const { return out(rnn.forward(embedding(ids)).output); }
  CLADTORCH_PARAMETERS(embedding, rnn, out)
};
using LstmModel = CharacterModel<nn::LSTM>;
using GruModel = CharacterModel<nn::GRU>;

/// Source: Dosovitskiy et al., 2020, with the mean of all positions in the place of a class token.
struct Vit {
  nn::Conv2d patches;
  Tensor positions;
  std::vector<nn::TransformerEncoderLayer> layers;
  nn::LayerNorm norm;
  nn::Linear out;

  explicit Vit(Random& random)
      : patches(1, 64, 4, random, {.stride = 4}),
        positions(cladtorch::normal({49, 64}, random, 0, 0.02)),
        norm(64),
        out(64, 10, random) {
    for (int i = 0; i < 4; ++i)
      layers.emplace_back(
          64, 4, random,
          nn::TransformerLayerOptions{.hidden = 128, .dropout = 0, .gelu = true, .norm_first = true});
  }
  Tensor forward(const Tensor& x) const {
    Tensor y = patches(x).reshape({x.size(0), 64, 49}).transpose(1, 2) + positions;
    for (const nn::TransformerEncoderLayer& layer : layers) y = layer.forward(y);
    return out(mean(norm(y), 1));
  }
  CLADTORCH_PARAMETERS(patches, positions, layers, norm, out)
};

/// Source: Kingma and Welling, 2013.
struct Vae {
  nn::Linear encoder, mean, log_variance, decoder, out;

  explicit Vae(Random& random)
      : encoder(784, 400, random),
        mean(400, 20, random),
        log_variance(400, 20, random),
        decoder(20, 400, random),
        out(400, 784, random) {}
  CLADTORCH_PARAMETERS(encoder, mean, log_variance, decoder, out)
};
inline double loss(const Vae& model, const Tensor& x, const Tensor& noise) {
  const Tensor h = relu(model.encoder(x));
  const Tensor mu = model.mean(h), log_variance = model.log_variance(h);
  const Tensor z = mu + noise * cladtorch::exp(log_variance * 0.5);
  const Tensor logits = model.out(relu(model.decoder(z)));
  const double reconstruction = binary_cross_entropy_with_logits(logits, x, cladtorch::Reduction::sum).item();
  const double divergence = sum(log_variance - square(mu) - cladtorch::exp(log_variance) + 1.0).item();
  return (reconstruction - 0.5 * divergence) / static_cast<double>(x.size(0));
}

/// Source: Radford et al., "DCGAN", 2015, for 28 x 28 pixels.
struct Generator {
  nn::Linear in;
  nn::BatchNorm2d norm1;
  nn::ConvTranspose2d up1;
  nn::BatchNorm2d norm2;
  nn::ConvTranspose2d up2;

  explicit Generator(Random& random)
      : in(64, 128 * 49, random),
        norm1(128),
        up1(128, 64, 4, random, {.stride = 2, .padding = 1}),
        norm2(64),
        up2(64, 1, 4, random, {.stride = 2, .padding = 1}) {}
  Tensor forward(const Tensor& noise) const {
    const Tensor a = relu(norm1(in(noise).reshape({noise.size(0), 128, 7, 7})));
    return cladtorch::tanh(up2(relu(norm2(up1(a)))));
  }
  CLADTORCH_PARAMETERS(in, norm1, up1, norm2, up2)
};
struct Discriminator {
  nn::Conv2d conv1, conv2;
  nn::Linear out;

  explicit Discriminator(Random& random)
      : conv1(1, 64, 4, random, {.stride = 2, .padding = 1}),
        conv2(64, 128, 4, random, {.stride = 2, .padding = 1}),
        out(128 * 49, 1, random) {}
  Tensor forward(const Tensor& x) const {
    const Tensor y = leaky_relu(conv2(leaky_relu(conv1(x), 0.2)), 0.2);
    return out(y.reshape({y.size(0), -1}));
  }
  CLADTORCH_PARAMETERS(conv1, conv2, out)
};
inline double loss(const Discriminator& model, const Tensor& real, const Tensor& made) {
  const Tensor of_real = model.forward(real), of_made = model.forward(made);
  return binary_cross_entropy_with_logits(of_real, cladtorch::ones_like(of_real)).item() +
         binary_cross_entropy_with_logits(of_made, cladtorch::zeros_like(of_made)).item();
}
inline double loss(const Generator& model, const Discriminator& judge, const Tensor& noise) {
  const Tensor score = judge.forward(model.forward(noise));
  return binary_cross_entropy_with_logits(score, cladtorch::ones_like(score)).item();
}

/// Source: Vaswani et al., 2017.
struct EncoderDecoder {
  nn::Embedding source, target;
  std::vector<nn::TransformerEncoderLayer> encoder;
  std::vector<nn::TransformerDecoderLayer> decoder;
  nn::Linear out;
  CLAD_CONSTANT Tensor positions, mask;

  explicit EncoderDecoder(Random& random)
      : source(64, 64, random),
        target(64, 64, random),
        out(64, 64, random),
        positions(nn::sinusoidal_positions(32, 64)),
        mask(nn::square_subsequent_mask(32)) {
    const nn::TransformerLayerOptions options{.hidden = 256, .dropout = 0};
    for (int i = 0; i < 2; ++i) encoder.emplace_back(64, 4, random, options);
    for (int i = 0; i < 2; ++i) decoder.emplace_back(64, 4, random, options);
  }
  /// Scores [N, T, 64] of what follows `outputs`, for `inputs`, both ids [N, T].
  Tensor forward(const Tensor& inputs, const Tensor& outputs) const {
    Tensor memory = source(inputs) + positions;
    for (const nn::TransformerEncoderLayer& layer : encoder) memory = layer.forward(memory);
    Tensor y = target(outputs) + positions;
    for (const nn::TransformerDecoderLayer& layer : decoder) y = layer.forward(y, memory, mask);
    return out(y);
  }
  CLADTORCH_PARAMETERS(source, target, encoder, decoder, out)
};
inline double loss(const EncoderDecoder& model, const Tensor& ids, const Tensor& targets) {
  return cross_entropy(model.forward(ids, ids), targets).item();
}

inline double loss(const UNet& model, const Tensor& noisy, const Tensor& clean) {
  return mse_loss(model.forward(noisy), clean).item();
}

template <class Model>
double classification_loss(const Model& model, const Tensor& x, const Tensor& labels) {
  return cross_entropy(model.forward(x), labels).item();
}
inline double loss(const Mlp& model, const Tensor& x, const Tensor& y) {
  return classification_loss(model, x, y);
}
inline double loss(const LeNet& model, const Tensor& x, const Tensor& y) {
  return classification_loss(model, x, y);
}
inline double loss(const ResNet20& model, const Tensor& x, const Tensor& y) {
  return classification_loss(model, x, y);
}
inline double loss(const DepthwiseCnn& model, const Tensor& x, const Tensor& y) {
  return classification_loss(model, x, y);
}
inline double loss(const LstmModel& model, const Tensor& x, const Tensor& y) {
  return classification_loss(model, x, y);
}
inline double loss(const GruModel& model, const Tensor& x, const Tensor& y) {
  return classification_loss(model, x, y);
}
inline double loss(const Vit& model, const Tensor& x, const Tensor& y) {
  return classification_loss(model, x, y);
}

}  // namespace bench
