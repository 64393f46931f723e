// Two models of which the graph is recorded while they run: one that is always the same, and one of which no
// two steps are.
#pragma once

#include <memory>
#include <string>

#include "cladtorch/cladtorch.h"

namespace graph_example {

using cladtorch::DType;
using cladtorch::Random;
using cladtorch::Tensor;
namespace nn = cladtorch::nn;

/// Tells what a text is about: the mean of the vectors of its words, and two layers.
struct Classifier {
  nn::EmbeddingBag embedding;
  nn::Linear hidden, out;

  Classifier(int64_t words, int64_t classes, Random& random)
      : embedding(words, 64, random, cladtorch::BagMode::mean, 0.5),
        hidden(64, 64, random, true, 0.15),
        out(64, classes, random, true, 0.15) {}
  /// Scores [N, classes] of texts that begin at `offsets` [N] in `words`.
  Tensor forward(const Tensor& words, const Tensor& offsets) const {
    return out(relu(hidden(embedding(words, offsets))));
  }
  CLADTORCH_PARAMETERS(embedding, hidden, out)
};
inline Tensor mean_loss(const Classifier& model, const Tensor& words, const Tensor& offsets,
                        const Tensor& labels) {
  return cross_entropy(model.forward(words, offsets), labels);
}

/// A formula of the constants 0 and 1 with the operators & | ^, as a tree.
struct Formula {
  char symbol;
  std::unique_ptr<Formula> left, right;

  bool value() const {
    if (!left) return symbol == '1';
    const bool a = left->value(), b = right->value();
    return symbol == '&' ? a && b : symbol == '|' ? a || b : a != b;
  }
  std::string text() const {
    return left ? "(" + left->text() + " " + symbol + " " + right->text() + ")" : std::string(1, symbol);
  }
};

/// One of the given number of operators, with a random shape.
inline Formula random_formula(int64_t operators, Random& random) {
  if (operators == 0) return {"01"[random.below(2)], nullptr, nullptr};
  const auto on_the_left = static_cast<int64_t>(random.below(static_cast<uint64_t>(operators)));
  const char symbol = "&|^"[random.below(3)];
  return {symbol, std::make_unique<Formula>(random_formula(on_the_left, random)),
          std::make_unique<Formula>(random_formula(operators - 1 - on_the_left, random))};
}

/// Learns what operators mean from the values of whole formulas. It has a vector for each constant, and for
/// each operator a layer that makes a formula's vector of those of its two parts. Source: Socher et al.,
/// "Parsing natural scenes and natural language with recursive neural networks", 2011.
struct Evaluator {
  Tensor zero, one;  ///< [1, 16]
  nn::Linear conjunction, disjunction, difference, out;

  explicit Evaluator(Random& random)
      : zero(cladtorch::normal({1, 16}, random, 0, 0.5)),
        one(cladtorch::normal({1, 16}, random, 0, 0.5)),
        conjunction(32, 16, random),
        disjunction(32, 16, random),
        difference(32, 16, random),
        out(16, 2, random) {}
  Tensor encode(const Formula& formula) const {
    if (!formula.left) return formula.symbol == '1' ? one : zero;
    const Tensor parts = cladtorch::cat({encode(*formula.left), encode(*formula.right)}, 1);
    const nn::Linear& layer = formula.symbol == '&'   ? conjunction
                              : formula.symbol == '|' ? disjunction
                                                      : difference;
    return cladtorch::tanh(layer(parts));
  }
  /// Scores [1, 2] of the values 0 and 1.
  Tensor forward(const Formula& formula) const { return out(encode(formula)); }
  CLADTORCH_PARAMETERS(zero, one, conjunction, disjunction, difference, out)
};
inline Tensor mean_loss(const Evaluator& model, const Formula& formula) {
  return cross_entropy(model.forward(formula),
                       cladtorch::from_values<int32_t>({1}, {formula.value() ? 1 : 0}));
}

}  // namespace graph_example
