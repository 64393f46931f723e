// Layers of sequences, whose backward pass the compiler writes, against values and gradients of PyTorch, with
// PyTorch's parameters by their names.
#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/nn/nn.h"
#include "tests/parity/reference.h"
#include "tests/support/gradcheck.h"

namespace cladtorch {
namespace {

struct Inputs {
  Tensor x, z;
  CLADTORCH_PARAMETERS(x, z)
};

/// Checks the value and the gradients of a layer's parameters and inputs; `step` is the gradient of the sum
/// of y d_y.
template <class Layer, class Value, class Step>
void check(const std::string& name, Layer layer, Value value, Step step) {
  const testing::Reference reference;
  const std::string prefix = "layer_" + name + "/";
  for (const NamedTensor& parameter : named_parameters(layer)) {
    Tensor to = parameter.tensor;
    to.copy_from(reference[prefix + "parameter/" + parameter.name]);
  }
  Inputs inputs{reference[prefix + "x"], Tensor()};
  if (reference.contains(prefix + "z")) inputs.z = reference[prefix + "z"];
  EXPECT_LT(testing::relative_difference(value(layer, inputs), reference[prefix + "y"]), 1e-5);
  Layer d_layer = like(layer);
  Inputs d_inputs = like(inputs);
  step.execute(layer, inputs, reference[prefix + "d_y"], &d_layer, &d_inputs);
  for (const NamedTensor& d : named_parameters(d_layer))
    EXPECT_LT(testing::relative_difference(d.tensor, reference[prefix + "gradient/" + d.name]), 1e-5)
        << d.name;
  for (const NamedTensor& d : named_parameters(d_inputs))
    EXPECT_LT(testing::relative_difference(d.tensor, reference[prefix + "d_" + d.name]), 1e-5) << d.name;
}

#define CHECK_LAYER(name, Layer, made, call)                                         \
  Tensor value_of_##name(const Layer& layer, const Inputs& in) { return call; }      \
  double sum_of_##name(const Layer& layer, const Inputs& in, const Tensor& d_y) {    \
    return sum(mul(value_of_##name(layer, in), d_y)).item();                         \
  }                                                                                  \
  TEST(LayersParity, name) {                                                         \
    Random random(1);                                                                \
    check(#name, made, value_of_##name, clad::gradient(sum_of_##name, "layer, in")); \
  }

/// All that a network returns.
Tensor all_of(const nn::RecurrentResult& y) {
  return cat({y.output.flatten(), y.h.flatten(), y.c.defined() ? y.c.flatten() : y.h.flatten()});
}
Tensor lengths() { return from_values<int32_t>({3}, {5, 2, 4}); }
constexpr nn::RecurrentOptions two_layers{.layers = 2, .bidirectional = true};
constexpr nn::RecurrentOptions both_ways{.bidirectional = true};

CHECK_LAYER(RNN, nn::RNN, nn::RNN(4, 6, random, two_layers), layer.forward(in.x).output)
CHECK_LAYER(LSTM, nn::LSTM, nn::LSTM(4, 6, random, two_layers), layer.forward(in.x).output)
CHECK_LAYER(GRU, nn::GRU, nn::GRU(4, 6, random, two_layers), layer.forward(in.x).output)
CHECK_LAYER(RNN_padded, nn::RNN, nn::RNN(4, 6, random, both_ways), all_of(layer.forward(in.x, lengths())))
CHECK_LAYER(LSTM_padded, nn::LSTM, nn::LSTM(4, 6, random, both_ways), all_of(layer.forward(in.x, lengths())))
CHECK_LAYER(GRU_padded, nn::GRU, nn::GRU(4, 6, random, both_ways), all_of(layer.forward(in.x, lengths())))

/// Position 1 does not see 2 to 4, and position 3 does not see 0.
Tensor hidden() {
  Tensor mask = zeros({4, 5});
  for (const int place : {7, 8, 9, 15}) mask.data<float>()[place] = -INFINITY;
  return mask;
}
CHECK_LAYER(MultiheadAttention, nn::MultiheadAttention, nn::MultiheadAttention(8, 2, random),
            layer.forward(in.x, in.z, in.z, hidden()))
CHECK_LAYER(TransformerEncoderLayer, nn::TransformerEncoderLayer,
            nn::TransformerEncoderLayer(8, 2, random, {.hidden = 12, .dropout = 0, .gelu = true}),
            layer.forward(in.x))
CHECK_LAYER(TransformerDecoderLayer, nn::TransformerDecoderLayer,
            nn::TransformerDecoderLayer(8, 2, random, {.hidden = 12, .dropout = 0, .norm_first = true}),
            layer.forward(in.x, in.z, nn::square_subsequent_mask(4)))

CHECK_LAYER(
    Transformer, nn::Transformer,
    nn::Transformer(8, 2, random,
                    {.encoder_layers = 2, .decoder_layers = 2, .layer = {.hidden = 12, .dropout = 0}}),
    layer.forward(in.x, in.z, {}, nn::square_subsequent_mask(5)))
CHECK_LAYER(Bilinear, nn::Bilinear, nn::Bilinear(4, 3, 5, random), layer.forward(in.x, in.z))
CHECK_LAYER(PReLU, nn::PReLU, nn::PReLU(3), layer.forward(in.x))
Tensor both_of(const LstmStep& step) { return cat({step.h, step.c}, 1); }
CHECK_LAYER(LSTMCell, nn::LSTMCell, nn::LSTMCell(4, 6, random), both_of(layer.forward(in.x, in.z, in.z * 2)))
CHECK_LAYER(GRUCell, nn::GRUCell, nn::GRUCell(4, 6, random), layer.forward(in.x, in.z))

TEST(Attention, PaddingMaskHidesWhatLiesBehindTheLengths) {
  Random random(2);
  nn::MultiheadAttention layer(8, 2, random);
  const Tensor x = randn({2, 3, 8}, random);
  const Tensor all = layer.self(x, nn::padding_mask(from_values<int32_t>({2}, {3, 2}), 3));
  const Tensor shorter = layer.self(x.slice(1, 0, 2));
  EXPECT_LT(testing::relative_difference(all.select(0, 1).slice(0, 0, 2), shorter.select(0, 1)), 1e-6);
  EXPECT_GT(testing::relative_difference(all.select(0, 0).slice(0, 0, 2), shorter.select(0, 0)), 1e-3);
}

TEST(Attention, SinusoidalPositionsHaveTheirFrequencies) {
  const Tensor table = nn::sinusoidal_positions(3, 4, DType::float64);
  EXPECT_DOUBLE_EQ(table.select(0, 2).select(0, 0).item(), std::sin(2.0));
  EXPECT_DOUBLE_EQ(table.select(0, 2).select(0, 3).item(), std::cos(0.02));
}

}  // namespace
}  // namespace cladtorch
