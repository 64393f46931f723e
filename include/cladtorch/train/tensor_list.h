// All trained tensors of a model, or of its gradient, in one list that threads divide evenly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cladtorch/nn/parameters.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Handles on every parameter of a model that is not frozen, or on their gradients, made once so that a
/// training step neither builds names nor allocates.
class TensorList {
 public:
  /// A part of one tensor, small enough for a core's cache.
  struct Piece {
    size_t tensor;
    int64_t begin, end;
  };

  /// Leaves out frozen tensors and gradient sinks. All others must be dense and of a floating dtype, the same
  /// for all; throws Error otherwise, and when nothing is left.
  explicit TensorList(std::vector<NamedTensor> tensors);
  template <class Model>
    requires requires(Model& model) { for_each_parameter(model, [](const std::string&, Tensor&) {}); }
  explicit TensorList(Model& model) : TensorList(named_parameters(model)) {}

  size_t size() const { return tensors_.size(); }
  const NamedTensor& operator[](size_t i) const { return tensors_[i]; }
  NamedTensor& operator[](size_t i) { return tensors_[i]; }
  auto begin() { return tensors_.begin(); }
  auto end() { return tensors_.end(); }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

  DType dtype() const { return dtype_; }
  int64_t numel() const;
  const std::vector<Piece>& pieces() const { return pieces_; }
  /// The numbers of all pieces.
  std::span<const size_t> all_pieces() const { return all_pieces_; }

  /// Euclidean norm over all elements. Sums each piece in double and then the pieces in order: the same bits
  /// on any number of threads. A buffer marked zero counts as zero and is not touched.
  double norm() const;
  /// The sums of squares of some pieces, which norm() adds for all. They stay until the next call.
  std::span<const double> squares(std::span<const size_t> pieces) const;
  /// Asks the operations that write these gradient buffers from now on to sum squares while they write. The
  /// next norm() then reads only the tensors for which none did. Call it for the last of several
  /// micro-batches.
  void prepare_norm();
  /// Multiplies every element. Throws Error for bfloat16: gradients are float32.
  void scale(double factor);
  /// Makes every gradient buffer stand for zero.
  void mark_zero();

 private:
  std::vector<NamedTensor> tensors_;
  std::vector<Piece> pieces_;
  std::vector<size_t> all_pieces_;
  mutable std::vector<double> sums_;  // one per piece
  DType dtype_ = DType::float32;
};

/// Scales the gradients so that their common norm is at most `max_norm`; returns the norm before scaling.
/// Source: Pascanu et al., "On the difficulty of training recurrent neural networks", 2013.
double clip_grad_norm(TensorList& gradients, double max_norm);
template <class Model>
double clip_grad_norm(Model& gradient, double max_norm) {
  TensorList list(gradient);
  return clip_grad_norm(list, max_norm);
}

}  // namespace cladtorch
