// Twelve small models as a user writes them.
#pragma once

#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/cladtorch.h"
#include "examples/fashion_mnist/models.h"

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

using fashion::Discriminator;
using fashion::Generator;
using fashion::UNet;
using fashion::Vae;
using fashion::Vit;

inline double loss(const Vae& model, const Tensor& x, const Tensor& noise) {
  return fashion::vae_loss(model, x, noise);
}
inline double loss(const Discriminator& model, const Tensor& real, const Tensor& made) {
  const Tensor of_real = model.forward(real), of_made = model.forward(made);
  return binary_cross_entropy_with_logits(of_real, cladtorch::ones_like(of_real)).item() +
         binary_cross_entropy_with_logits(of_made, cladtorch::zeros_like(of_made)).item();
}
inline double loss(const Generator& model, const Discriminator& judge, const Tensor& noise) {
  return fashion::generator_loss(model, judge, noise);
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
  return fashion::denoising_loss(model, noisy, clean);
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
