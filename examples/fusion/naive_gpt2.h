// A GPT-2 written from primitive operations, as one writes it in PyTorch: the mask, softmax and products of
// attention, GELU, sums, norms and the loss are calls of their own.
#pragma once

#include <cmath>
#include <vector>

#include "cladtorch/nn/parameters.h"
#include "cladtorch/ops/ops.h"
#include "cladtorch/tensor/factories.h"

namespace naive {

using cladtorch::Tensor;

struct Linear {
  Tensor weight, bias;
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
  CLADTORCH_PARAMETERS(weight, bias)
};

struct LayerNorm {
  Tensor weight, bias;
  Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias); }
  CLADTORCH_PARAMETERS(weight, bias)
};

struct Attention {
  Linear c_attn, c_proj;
  int64_t n_head = 1;

  Tensor operator()(const Tensor& x) const {
    const int64_t B = x.size(0), T = x.size(1), C = x.size(2), D = C / n_head;
    const Tensor qkv = c_attn(x);
    const Tensor q = qkv.narrow(2, 0, C).reshape({B, T, n_head, D}).transpose(1, 2);
    const Tensor k = qkv.narrow(2, C, C).reshape({B, T, n_head, D}).transpose(1, 2);
    const Tensor v = qkv.narrow(2, 2 * C, C).reshape({B, T, n_head, D}).transpose(1, 2);
    const Tensor scores = matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(D));
    const Tensor probabilities = softmax(causal_mask(scores));
    return c_proj(matmul(probabilities, v).transpose(1, 2).reshape({B, T, C}));
  }
  CLADTORCH_PARAMETERS(c_attn, c_proj)
};

struct MLP {
  Linear c_fc, c_proj;
  Tensor operator()(const Tensor& x) const { return c_proj(gelu_tanh(c_fc(x))); }
  CLADTORCH_PARAMETERS(c_fc, c_proj)
};

struct Block {
  LayerNorm ln_1, ln_2;
  Attention attn;
  MLP mlp;
  Tensor operator()(const Tensor& x) const {
    const Tensor y = x + attn(ln_1(x));
    return y + mlp(ln_2(y));
  }
  CLADTORCH_PARAMETERS(ln_1, ln_2, attn, mlp)
};

struct GPT2 {
  Tensor wte, wpe;
  std::vector<Block> h;
  LayerNorm ln_f;
  Tensor forward(const Tensor& ids) const {
    Tensor x = embedding(ids, wte) + embedding(cladtorch::arange(ids.size(1)), wpe);
    for (const Block& block : h) x = block(x);
    return ln_f(x);
  }
  CLADTORCH_PARAMETERS(wte, wpe, h, ln_f)
};

inline double loss(const GPT2& model, const Tensor& tokens, const Tensor& targets) {
  const Tensor logits = linear(model.forward(tokens), model.wte);
  return nll_loss(log_softmax(logits), targets).item();
}

/// Parameters as GPT-2 starts with.
inline GPT2 make(int64_t vocabulary, int64_t positions, int64_t channels, int64_t heads, int64_t layers,
                 cladtorch::DType dtype = cladtorch::DType::float32) {
  cladtorch::Random random(42);
  const auto normals = [&](const cladtorch::Shape& shape) {
    return scale(cladtorch::randn(shape, random, cladtorch::DType::float64), 0.02).to(dtype);
  };
  const auto linear = [&](int64_t in, int64_t out) { return Linear{normals({out, in}), normals({out})}; };
  const auto norm = [&] { return LayerNorm{cladtorch::ones({channels}, dtype), normals({channels})}; };
  GPT2 model{normals({vocabulary, channels}), normals({positions, channels}), {}, norm()};
  for (int64_t i = 0; i < layers; ++i)
    model.h.push_back({norm(),
                       norm(),
                       {linear(channels, 3 * channels), linear(channels, channels), heads},
                       {linear(channels, 4 * channels), linear(4 * channels, channels)}});
  return model;
}

}  // namespace naive
