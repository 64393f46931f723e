// The Muon optimizer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/train/adamw.h"

namespace cladtorch {

struct MuonOptions {
  double lr = 1e-3;
  double momentum = 0.95;
  bool nesterov = true;
  double weight_decay = 0.1;  ///< decoupled, as AdamW's
  int64_t iterations = 5;     ///< of Newton and Schulz
  /// Names of parameters, or of what holds them, that AdamW updates like all that are no matrices: tables and
  /// output layers, whose rows are used one at a time.
  std::vector<std::string> adamw = {"wte", "wpe", "embed_tokens", "embedding", "lm_head", "head"};
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;  ///< of AdamW
};

/// Momentum that is made orthogonal: a matrix moves by a matrix of its own shape whose singular values are
/// all near 1, so that no direction dominates. It keeps one number for each element where AdamW keeps two.
/// With the gradient G of a matrix W [m, n], and B that starts at zero,
///
///     B = momentum B + (1 - momentum) G,   U = nesterov ? (1 - momentum) G + momentum B : B
///     X = U / |U|,   `iterations` times: A = X X^T, X = 3.4445 X - 4.7750 A X + 2.0315 A A X
///     W = (1 - lr weight_decay) W - 0.2 lr sqrt(max(m, n)) X
///
/// 0.2 sqrt(max(m, n)) gives X the mean square of AdamW's steps, so that both take the same learning rate and
/// decay. What is no matrix, or named in `adamw`, is updated by AdamW. On the CPU; the products are in the
/// parameters' dtype (float32 for bfloat16). Sources: Jordan et al., "Muon: An optimizer for hidden layers in
/// neural networks", 2024; Liu et al., "Muon is scalable for LLM training", 2025; torch.optim.Muon with
/// adjust_lr_fn="match_rms_adamw".
class Muon : public Optimizer {
 public:
  /// Updates the storage behind `parameters` from now on. Throws Error if none of them is a matrix that AdamW
  /// leaves to Muon.
  Muon(TensorList parameters, MuonOptions options);
  template <class Model>
    requires(!std::is_same_v<Model, TensorList>)
  Muon(Model& model, MuonOptions options) : Muon(TensorList(model), std::move(options)) {}
  /// The same with the caller's masters; see AdamW.
  Muon(TensorList parameters, TensorList masters, MuonOptions options);

  std::vector<OptimizerState> state() const override;
  size_t bytes() const override;

  /// The numbers of the parameters that are made orthogonal.
  const std::vector<size_t>& matrices() const { return matrices_; }

 private:
  void set_up();
  void update(TensorList& gradients, double gradient_scale) override;
  template <class T>
  void update_matrix(size_t k, const Tensor& gradient, double gradient_scale);
  template <class T>
  double length(const T* values, int64_t count);

  MuonOptions options_;
  std::vector<size_t> matrices_, others_;
  std::optional<TensorList> buffers_;  // of the matrices
  std::optional<AdamW> adamw_;         // of the others
  std::optional<TensorList> of_others_;
  Tensor wide_, product_, square_, polynomial_;  // what a step computes, for the largest matrix
  std::vector<double> sums_;
};

}  // namespace cladtorch
