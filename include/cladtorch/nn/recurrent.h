// Recurrent networks over sequences x [T, N, C], as torch.nn.RNN, LSTM and GRU with the names of their
// parameters.
#pragma once

#include <string>
#include <vector>

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

struct RecurrentOptions {
  int64_t layers = 1;
  bool bidirectional = false;
  bool with_bias = true;
  double dropout = 0;  ///< of what one layer hands to the next, while training
  DType dtype = DType::float32;
};

/// The parameters of one direction of one layer.
struct RecurrentWeights {
  Tensor weight_ih;  ///< [gates H, C]
  Tensor weight_hh;  ///< [gates H, H]
  Tensor bias_ih;    ///< [gates H], or undefined
  Tensor bias_hh;

  RecurrentWeights() = default;
  /// Uniform in +-1 / sqrt(H).
  RecurrentWeights(int64_t in, int64_t hidden, int64_t gates, Random& random,
                   const RecurrentOptions& options);

  CLADTORCH_PARAMETERS(weight_ih, weight_hh, bias_ih, bias_hh)
};

/// What a recurrent network returns: the results of the last layer for each step, [T, N, H], or [T, N, 2 H]
/// of both directions, and the last states of each layer and direction, [layers x directions, N, H]; c of an
/// LSTM alone.
struct RecurrentResult {
  Tensor output, h, c;
};

/// What each kind of network does in a step. If it `adds_parts`, the two linear parts are added first, and
/// both biases can be added for all steps at once.
struct TanhCell {
  static constexpr int64_t gates = 1;
  static constexpr bool has_c = false, adds_parts = true;
  static LstmStep step(const Tensor& from_x, const Tensor& from_h, const LstmStep&) {
    return {::cladtorch::tanh(from_x + from_h), Tensor()};
  }
};
struct LstmCell {
  static constexpr int64_t gates = 4;
  static constexpr bool has_c = true, adds_parts = true;
  static LstmStep step(const Tensor& from_x, const Tensor& from_h, const LstmStep& state) {
    return lstm_cell(from_x, from_h, state.c);
  }
};
struct GruCell {
  static constexpr int64_t gates = 3;
  static constexpr bool has_c = false, adds_parts = false;
  static LstmStep step(const Tensor& from_x, const Tensor& from_h, const LstmStep& state) {
    return {gru_cell(from_x, from_h, state.h), Tensor()};
  }
};

/// Layers of `Cell`, each of which takes the results of the one before, in one direction or in both.
template <class Cell>
struct Recurrent {
  std::vector<RecurrentWeights> weights;  ///< by layer, and by direction
  int64_t hidden = 0;
  bool bidirectional = false;
  Dropout dropout;

  Recurrent() = default;
  Recurrent(int64_t in, int64_t hidden, Random& random, const RecurrentOptions& options = {})
      : hidden(hidden), bidirectional(options.bidirectional), dropout{options.dropout} {
    for (int64_t layer = 0; layer < options.layers; ++layer)
      for (int64_t direction = 0; direction < directions(); ++direction)
        weights.emplace_back(layer == 0 ? in : hidden * directions(), hidden, Cell::gates, random, options);
  }

  int64_t directions() const { return bidirectional ? 2 : 1; }

  /// From states of zero. With `lengths` int32 [N], sequence n has lengths[n] steps: what follows is 0 in the
  /// output, and the last states are those after its last step, as with pack_padded_sequence.
  RecurrentResult forward(const Tensor& x, const Tensor& lengths = {}) const {
    return run(x, lengths, Tensor(), Tensor());
  }
  /// From h and, for an LSTM, c, [layers x directions, N, H].
  RecurrentResult forward(const Tensor& x, const Tensor& lengths, const Tensor& h,
                          const Tensor& c = {}) const {
    return run(x, lengths, h, c);
  }

  template <class Visitor>
  CLAD_MEMBERS("Recurrent")
  void visit_parameters(Visitor&& visitor, const std::string& prefix) {
    visit(visitor, prefix, weights);
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor, const std::string& prefix) const {
    visit(visitor, prefix, weights);
  }

 private:
  template <class Visitor, class Weights>
  void visit(Visitor& visitor, const std::string& prefix, Weights& all) const {
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t count = bidirectional ? 2 : 1;
      const std::string end = "_l" + std::to_string(i / count) + (i % count ? "_reverse" : "");
      const auto name = [&](const char* part) { return ::cladtorch::detail::joined(prefix, part + end); };
      ::cladtorch::detail::visit_member(visitor, name("weight_ih"), all[i].weight_ih);
      ::cladtorch::detail::visit_member(visitor, name("weight_hh"), all[i].weight_hh);
      ::cladtorch::detail::visit_member(visitor, name("bias_ih"), all[i].bias_ih);
      ::cladtorch::detail::visit_member(visitor, name("bias_hh"), all[i].bias_hh);
    }
  }

  RecurrentResult run(const Tensor& x, const Tensor& lengths, const Tensor& h, const Tensor& c) const {
    require(x.dim() == 3, "nn::Recurrent: expected x [T, N, C], got ", x.shape());
    std::vector<Tensor> last_h, last_c;
    Tensor input = x;
    const int64_t both = directions();
    for (size_t layer = 0; layer * static_cast<size_t>(both) < weights.size(); ++layer) {
      if (layer > 0) input = dropout(input);
      std::vector<Tensor> sides;
      for (int64_t direction = 0; direction < both; ++direction) {
        const size_t index = layer * static_cast<size_t>(both) + static_cast<size_t>(direction);
        LstmStep state = initial(x, h, c, static_cast<int64_t>(index));
        sides.push_back(sweep(weights[index], input, lengths, direction == 1, state));
        last_h.push_back(state.h);
        if constexpr (Cell::has_c) last_c.push_back(state.c);
      }
      input = both == 1 ? sides[0] : cat(sides, 2);
    }
    RecurrentResult result;
    result.output = input;
    result.h = stack(last_h);
    if constexpr (Cell::has_c) result.c = stack(last_c);
    return result;
  }

  LstmStep initial(const Tensor& x, const Tensor& h, const Tensor& c, int64_t index) const {
    LstmStep state;
    state.h = h.defined() ? h.select(0, index) : zeros({x.size(1), hidden}, x.dtype());
    if constexpr (Cell::has_c)
      state.c = c.defined() ? c.select(0, index) : zeros({x.size(1), hidden}, x.dtype());
    return state;
  }

  /// All steps of one direction; `state` becomes the last one.
  Tensor sweep(const RecurrentWeights& w, const Tensor& x, const Tensor& lengths, bool backward,
               LstmStep& state) const {
    const bool joined = Cell::adds_parts && w.bias_ih.defined();
    const Tensor from_x = linear(x, w.weight_ih, joined ? w.bias_ih + w.bias_hh : w.bias_ih);
    const Tensor bias_h = joined ? Tensor() : w.bias_hh;
    const int64_t steps = x.size(0);
    std::vector<Tensor> outputs;
    outputs.reserve(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t t = backward ? steps - 1 - i : i;
      LstmStep next = Cell::step(from_x.select(0, t), linear(state.h, w.weight_hh, bias_h), state);
      if (lengths.defined()) {
        const Tensor inside = steps_inside(lengths, t, x.dtype());
        outputs.push_back(next.h * inside);
        state.h = state.h + (next.h - state.h) * inside;
        if constexpr (Cell::has_c) state.c = state.c + (next.c - state.c) * inside;
      } else {
        outputs.push_back(next.h);
        state = next;
      }
    }
    const Tensor all = stack(outputs);
    return backward ? flip(all, 0) : all;
  }

  /// 1 where step t belongs to a sequence, [N, 1].
  CLAD_NONDIFFERENTIABLE static Tensor steps_inside(const Tensor& lengths, int64_t t, DType dtype) {
    return clamp(add_scalar(lengths.to(dtype), -static_cast<double>(t)), 0, 1).unsqueeze(1);
  }
};

using RNN = Recurrent<TanhCell>;
using LSTM = Recurrent<LstmCell>;
using GRU = Recurrent<GruCell>;

}  // namespace cladtorch::nn
