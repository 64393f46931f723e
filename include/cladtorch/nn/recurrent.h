// Recurrent networks over sequences x [T, N, C], as torch.nn.RNN, LSTM and GRU with the names of their
// parameters.
#pragma once

#include <string>
#include <vector>

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

using ::cladtorch::RecurrentResult;

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

/// The kinds of networks.
struct TanhCell {
  static constexpr int64_t gates = 1;
  static RecurrentResult run(const Tensor& from_x, const RecurrentWeights& w, const Tensor& h, const Tensor&,
                             const Tensor& lengths, bool backward) {
    return rnn_sequence(from_x, w.weight_hh, w.bias_hh, h, lengths, backward);
  }
};
struct LstmCell {
  static constexpr int64_t gates = 4;
  static RecurrentResult run(const Tensor& from_x, const RecurrentWeights& w, const Tensor& h,
                             const Tensor& c, const Tensor& lengths, bool backward) {
    return lstm_sequence(from_x, w.weight_hh, w.bias_hh, h, c, lengths, backward);
  }
};
struct GruCell {
  static constexpr int64_t gates = 3;
  static RecurrentResult run(const Tensor& from_x, const RecurrentWeights& w, const Tensor& h, const Tensor&,
                             const Tensor& lengths, bool backward) {
    return gru_sequence(from_x, w.weight_hh, w.bias_hh, h, lengths, backward);
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
    RecurrentResult y;
    Tensor input = x;
    int64_t index = 0;
    for (const RecurrentWeights& w : weights) {
      const bool second = bidirectional && index % 2 == 1;
      if (index > 0 && !second) input = dropout(y.output);
      const RecurrentResult one = Cell::run(linear(input, w.weight_ih, w.bias_ih), w, state_of(h, index),
                                            state_of(c, index), lengths, second);
      y.output = second ? cat({y.output, one.output}, 2) : one.output;
      y.h = joined(y.h, one.h);
      if (one.c.defined()) y.c = joined(y.c, one.c);
      ++index;
    }
    return y;
  }

  static Tensor state_of(const Tensor& states, int64_t index) {
    if (!states.defined()) return Tensor();
    return states.select(0, index);
  }
  static Tensor joined(const Tensor& states, const Tensor& next) {
    if (!states.defined()) return next.unsqueeze(0);
    return cat({states, next.unsqueeze(0)});
  }
};

using RNN = Recurrent<TanhCell>;
using LSTM = Recurrent<LstmCell>;
using GRU = Recurrent<GruCell>;

}  // namespace cladtorch::nn
