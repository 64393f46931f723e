#include <clad/Differentiator/Differentiator.h>

#include "steps.h"

namespace {

using namespace naive;

Tensor attention(const Attention& a, const Tensor& x) {
  return a.c_proj(causal_attention(a.c_attn(x), a.n_head));
}
Tensor mlp(const MLP& m, const Tensor& x) {
  return mlp_gelu_tanh(x, m.c_fc.weight, m.c_fc.bias, m.c_proj.weight, m.c_proj.bias);
}
Tensor block(const Block& b, const Tensor& x) {
  const Tensor change = attention(b.attn, b.ln_1(x));
  const cladtorch::NormalizedSum y = add_layer_norm(x, change, b.ln_2.weight, b.ln_2.bias, 1e-5);
  return y.sum + mlp(b.mlp, y.normalized);
}
double loss_by_hand(const GPT2& model, const Tensor& tokens, const Tensor& targets) {
  Tensor x = embedding(tokens, model.wte) + embedding(cladtorch::arange(tokens.size(1)), model.wpe);
  for (const Block& b : model.h) x = block(b, x);
  return linear_cross_entropy(model.ln_f(x), model.wte, targets).item();
}

}  // namespace

double fused_by_hand(const GPT2& model, const Tensor& tokens, const Tensor& targets, GPT2* gradient) {
  return clad::value_and_gradient(loss_by_hand, "model").execute(model, tokens, targets, gradient);
}
const char* code_fused_by_hand() { return clad::gradient(loss_by_hand, "model").getCode(); }
