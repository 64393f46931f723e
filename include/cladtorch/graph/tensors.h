// The computation graph of a program of tensors: while a TensorGraph lives, the operations of its thread on
// tensors that it knows are recorded. Models run under it unchanged, for it records below their code; the
// pullbacks are those that compiled gradients call, in the same order, so that gradients have the same bits.
//
// What the graph cannot follow is refused, not a constant by accident: the elements of a recorded tensor can
// be read by operations with pullbacks only, or through clad::stop_gradient(x). The tensors of one graph
// cannot be used in another, nor on another thread while it lives. Derivatives are of first order.
#pragma once

#include <string>

#include "cladtorch/graph/draw.h"
#include "cladtorch/nn/parameters.h"
#include "cladtorch/tensor/recorder.h"

namespace cladtorch::graph {

class TensorGraph final : public Recorder {
 public:
  /// Throws Error if the thread records another graph.
  TensorGraph();
  ~TensorGraph() override;
  TensorGraph(const TensorGraph&) = delete;
  TensorGraph& operator=(const TensorGraph&) = delete;

  /// The same tensor, as a variable by which backward() differentiates. The derivative is added to *gradient,
  /// which must live until then, as to the gradients of a compiled derivative: it may be undefined or a
  /// buffer.
  Tensor variable(const Tensor& x, Tensor* gradient);

  /// Adds the derivatives of `loss` times its cotangent to the gradients of all variables, and takes the
  /// graph apart on the way. The cotangent may be undefined if the loss has one element, and is 1 then.
  /// Throws Error if the loss is not of this graph, or the graph has run backward before.
  void backward(const Tensor& loss, Tensor d_loss = {});

  /// One operation, or a variable, of which `function` is "variable".
  struct Node {
    const char* function;
    std::vector<uint32_t> arguments;  ///< places of results; 0 is a constant
    uint32_t first_result, result_count;
    RecordedPullback pullback;
  };
  /// In the order in which they were recorded, which is a topological one.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The shape of the result at this place.
  const Shape& shape(uint32_t place) const { return results_[place].shape; }

  void record(const char* operation, std::span<const Tensor* const> operands, std::span<Tensor> results,
              RecordedPullback pullback) override;

  Tensor reshape(const Tensor& x, const Shape& shape) override;
  Tensor flatten(const Tensor& x) override;
  Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) override;
  Tensor permute(const Tensor& x, const Shape& dims) override;
  Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) override;
  Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t end) override;
  Tensor select(const Tensor& x, int64_t dim, int64_t index) override;
  std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim) override;
  Tensor unsqueeze(const Tensor& x, int64_t dim) override;
  Tensor squeeze(const Tensor& x, int64_t dim) override;
  Tensor expand(const Tensor& x, const Shape& shape) override;
  Tensor contiguous(const Tensor& x) override;
  Tensor clone(const Tensor& x) override;
  Tensor to(const Tensor& x, DType dtype) override;

 private:
  struct Result {
    Shape shape;
    Tensor cotangent;
    Tensor* gradient = nullptr;  ///< of a variable
  };
  Tensor* cotangent_at(uint32_t place);
  std::vector<Node> nodes_;
  std::vector<Result> results_ = std::vector<Result>(1);
  bool used_ = false;
};

/// The operations that were recorded, with the shapes of their results.
Drawing draw(const TensorGraph& graph, size_t largest = 60);

/// f(model, arguments...), a tensor with one element, whose gradient by every parameter of the model is added
/// to *gradient (see like() and zero_grad() in nn/parameters.h).
template <class F, class Model, class... Arguments>
Tensor value_and_grad(const F& f, const Model& model, Model* gradient, const Arguments&... arguments) {
  TensorGraph graph;
  Model variables = detail::copy_of(model);
  std::vector<Tensor*> gradients;
  for_each_parameter(*gradient, [&](const std::string&, Tensor& d) { gradients.push_back(&d); });
  size_t next = 0;
  for_each_parameter(variables, [&](const std::string& name, Tensor& parameter) {
    require(next < gradients.size(), "value_and_grad: the gradient has no parameter '", name, "'");
    parameter = graph.variable(parameter, gradients[next++]);
  });
  const Tensor loss = f(variables, arguments...);
  graph.backward(loss);
  return clad::stop_gradient(loss);
}

}  // namespace cladtorch::graph
