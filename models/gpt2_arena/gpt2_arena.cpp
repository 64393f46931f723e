#include "cladtorch/models/gpt2_arena.h"

namespace cladtorch::gpt2_arena {
namespace {

/// Calls walk(pointers, visit) twice: visit(name, pointer, shape) counts the blocks, then sets the pointers.
template <class Memory, class Pointers, class Walk>
Placed<Memory, Pointers> place(Walk walk) {
  kernels::Layout layout;
  Pointers pointers{};
  walk(pointers, [&](std::string name, float*&, const Shape& shape) { layout.add(std::move(name), shape); });
  Placed<Memory, Pointers> placed{Memory(std::move(layout)), std::move(pointers)};
  size_t number = 0;
  walk(placed.at,
       [&](std::string, float*& pointer, const Shape&) { pointer = placed.arena.block(number++); });
  return placed;
}

template <class Visit>
void walk_parameters(const GPT2Config& config, Parameters& p, Visit visit) {
  const int64_t C = config.n_embd;
  const auto weight_and_bias = [&](const std::string& name, float*& weight, const Shape& shape,
                                   float*& bias) {
    visit(name + ".weight", weight, shape);
    if (config.bias) visit(name + ".bias", bias, Shape{shape[0]});
  };
  visit("wte.weight", p.wte, Shape{config.vocab_size, C});
  visit("wpe.weight", p.wpe, Shape{config.n_positions, C});
  p.h.resize(static_cast<size_t>(config.n_layer));
  for (size_t l = 0; l < p.h.size(); ++l) {
    const std::string h = "h." + std::to_string(l) + ".";
    BlockParameters& w = p.h[l];
    weight_and_bias(h + "ln_1", w.ln_1_weight, {C}, w.ln_1_bias);
    weight_and_bias(h + "attn.c_attn", w.c_attn_weight, {3 * C, C}, w.c_attn_bias);
    weight_and_bias(h + "attn.c_proj", w.attn_proj_weight, {C, C}, w.attn_proj_bias);
    weight_and_bias(h + "ln_2", w.ln_2_weight, {C}, w.ln_2_bias);
    weight_and_bias(h + "mlp.c_fc", w.c_fc_weight, {4 * C, C}, w.c_fc_bias);
    weight_and_bias(h + "mlp.c_proj", w.mlp_proj_weight, {C, 4 * C}, w.mlp_proj_bias);
  }
  weight_and_bias("ln_f", p.ln_f_weight, {C}, p.ln_f_bias);
}

template <class Visit>
void walk_activations(const Size& s, Activations& a, Visit visit) {
  a.h.resize(static_cast<size_t>(s.layers));
  visit("encoded", a.h[0].inp, Shape{s.B, s.T, s.C});
  for (size_t l = 0; l < a.h.size(); ++l) {
    const std::string h = "h." + std::to_string(l) + ".";
    BlockActivations& b = a.h[l];
    if (l > 0) b.inp = a.h[l - 1].out;
    visit(h + "ln_1", b.ln_1, Shape{s.B, s.T, s.C});
    visit(h + "ln_1.mean", b.ln_1_mean, Shape{s.B, s.T});
    visit(h + "ln_1.rstd", b.ln_1_rstd, Shape{s.B, s.T});
    visit(h + "qkv", b.qkv, Shape{s.B, s.T, 3 * s.C});
    visit(h + "attention", b.attention, Shape{s.B, s.T, s.C});
    visit(h + "log_sum_exp", b.log_sum_exp, Shape{s.B, s.heads, s.T});
    visit(h + "middle", b.middle, Shape{s.B, s.T, s.C});
    visit(h + "ln_2", b.ln_2, Shape{s.B, s.T, s.C});
    visit(h + "ln_2.mean", b.ln_2_mean, Shape{s.B, s.T});
    visit(h + "ln_2.rstd", b.ln_2_rstd, Shape{s.B, s.T});
    visit(h + "fc", b.fc, Shape{s.B, s.T, 4 * s.C});
    visit(h + "gelu", b.gelu, Shape{s.B, s.T, 4 * s.C});
    visit(h + "out", b.out, Shape{s.B, s.T, s.C});
  }
  visit("projected", a.h[0].attn_proj, Shape{s.B, s.T, s.C});
  for (BlockActivations& b : a.h) b.attn_proj = b.mlp_proj = a.h[0].attn_proj;
  visit("ln_f", a.ln_f, Shape{s.B, s.T, s.C});
  visit("ln_f.mean", a.ln_f_mean, Shape{s.B, s.T});
  visit("ln_f.rstd", a.ln_f_rstd, Shape{s.B, s.T});
  visit("classifier", a.classifier, Shape{kernels::linear_cross_entropy_work<float>(s.N, s.C, s.V)});
}

template <class Visit>
void walk_cotangents(const Size& s, Activations& a, Visit visit) {
  a.h.resize(static_cast<size_t>(s.layers));
  BlockActivations& b = a.h[0];
  visit("residual", b.inp, Shape{s.B, s.T, s.C});
  visit("normed", b.ln_1, Shape{s.B, s.T, s.C});
  visit("qkv", b.qkv, Shape{s.B, s.T, 3 * s.C});
  visit("attention", b.attention, Shape{s.B, s.T, s.C});
  visit("projected", b.attn_proj, Shape{s.B, s.T, s.C});
  visit("fc", b.fc, Shape{s.B, s.T, 4 * s.C});
  visit("gelu", b.gelu, Shape{s.B, s.T, 4 * s.C});
  b.middle = b.out = b.inp;
  b.mlp_proj = b.attn_proj;
  a.ln_f = b.ln_2 = b.ln_1;
  for (BlockActivations& other : a.h) other = b;
}

/// Calls copy(block of the arena, tensor of the model) for each parameter.
template <class Model, class Copy>
void for_each_pair(const PlacedParameters& placed, Model& model, Copy copy) {
  const auto& blocks = placed.arena.layout().blocks();
  size_t number = 0;
  for_each_parameter(model, [&](const std::string& name, auto& parameter) {
    require(
        number < blocks.size() && blocks[number].name == name && blocks[number].shape == parameter.shape(),
        "copy_parameters: the model has '", name, "' ", parameter.shape(), " where the arena has ",
        number < blocks.size() ? "'" + blocks[number].name + "'" : "no block");
    copy(placed.arena.tensor(number++), parameter);
  });
  require(number == blocks.size(), "copy_parameters: the model has ", number, " parameters, the arena ",
          blocks.size());
}

}  // namespace

Size size_of(const GPT2Config& config, int64_t batch, int64_t length) {
  validate(config);
  require(config.dropout == 0 && config.dtype == DType::float32,
          "gpt2_arena: expected no dropout and float32, got ", config.dropout, " and ", config.dtype);
  require(config.tie_word_embeddings, "gpt2_arena: expected tied embeddings");
  require(config.activation == nn::Activation::gelu_tanh && config.scale_attn_weights &&
              !config.scale_attn_by_inverse_layer_idx,
          "gpt2_arena: expected the activation and attention's scale of the original GPT-2");
  require(batch > 0 && length > 0 && length <= config.n_positions,
          "gpt2_arena: expected a batch of 1 or more and 1 to ", config.n_positions, " positions, got ",
          batch, " and ", length);
  return {.B = batch,
          .T = length,
          .C = config.n_embd,
          .V = config.vocab_size,
          .positions = config.n_positions,
          .layers = config.n_layer,
          .heads = config.n_head,
          .N = batch * length,
          .epsilon = config.layer_norm_epsilon};
}

PlacedParameters parameters_for(const GPT2Config& config) {
  return place<kernels::Arena<float>, Parameters>(
      [&](Parameters& p, auto visit) { walk_parameters(config, p, visit); });
}

PlacedGradient gradient_for(const GPT2Config& config) {
  return place<kernels::GradientArena<float>, Parameters>(
      [&](Parameters& p, auto visit) { walk_parameters(config, p, visit); });
}

PlacedActivations activations_for(const Size& size) {
  return place<kernels::Arena<float>, Activations>(
      [&](Activations& a, auto visit) { walk_activations(size, a, visit); });
}

PlacedCotangents cotangents_for(const Size& size) {
  return place<kernels::GradientArena<float>, Activations>(
      [&](Activations& a, auto visit) { walk_cotangents(size, a, visit); });
}

void copy_parameters(const GPT2& from, PlacedParameters& to) {
  for_each_pair(to, from, [](Tensor block, const Tensor& parameter) { block.copy_from(parameter); });
}

void copy_parameters(const PlacedParameters& from, GPT2& to) {
  for_each_pair(from, to, [](const Tensor& block, Tensor& parameter) { parameter.copy_from(block); });
}

void check_batch(const Size& size, const int32_t* tokens, const int32_t* targets) {
  constexpr int32_t ignored = -100;
  for (int64_t i = 0; i < size.N; ++i) {
    require(tokens[i] >= 0 && tokens[i] < size.V, "gpt2_arena: token ", tokens[i], " is outside the ", size.V,
            " of the vocabulary");
    require(targets[i] == ignored || (targets[i] >= 0 && targets[i] < size.V), "gpt2_arena: target ",
            targets[i], " is outside the ", size.V, " of the vocabulary and not ", ignored);
  }
}

}  // namespace cladtorch::gpt2_arena
