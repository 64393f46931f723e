#include "cladtorch/graph/tensors.h"

#include <algorithm>
#include <ranges>
#include <sstream>

#include "cladtorch/ops/views.h"
#include "cladtorch/tensor/factories.h"

namespace cladtorch::graph {

TensorGraph::TensorGraph() {
  require(!detail::recorder,
          "TensorGraph: this thread records another graph; run that backward first, or end it");
  detail::recorder = this;
}

TensorGraph::~TensorGraph() { detail::recorder = nullptr; }

Tensor TensorGraph::variable(const Tensor& x, Tensor* gradient) {
  require(x.defined(), "variable: the tensor is undefined");
  require(is_floating(x.dtype()), "variable: a tensor of ", x.dtype(), " has no derivative");
  Tensor y = x;
  record("variable", {}, {&y, 1}, {});
  results_.back().gradient = gradient;
  return y;
}

void TensorGraph::record(const char* operation, std::span<const Tensor* const> operands,
                         std::span<Tensor> results, RecordedPullback pullback) {
  Node& node = nodes_.emplace_back(operation, std::vector<uint32_t>(), static_cast<uint32_t>(results_.size()),
                                   static_cast<uint32_t>(results.size()), std::move(pullback));
  node.arguments.reserve(operands.size());
  for (const Tensor* x : operands) node.arguments.push_back(x->recorded().place);
  for (Tensor& y : results) {
    y.set_recorded({number, static_cast<uint32_t>(results_.size())});
    results_.emplace_back(y.shape());
  }
}

Tensor* TensorGraph::cotangent_at(uint32_t place) {
  Result& result = results_[place];
  return result.gradient ? result.gradient : &result.cotangent;
}

void TensorGraph::backward(const Tensor& loss, Tensor d_loss) {
  require(loss.recorded().graph == number, "backward: the loss does not depend on a variable of this graph");
  require(!std::exchange(used_, true), "backward: the graph has run backward before; record it again");
  const NotRecorded backward;
  if (!d_loss.defined()) {
    require(loss.numel() == 1, "backward: the loss has shape ", loss.shape(),
            "; pass a cotangent of that shape");
    d_loss = full(loss.shape(), 1, loss.dtype(), loss.device());
  }
  require(d_loss.shape() == loss.shape(), "backward: the cotangent has shape ", d_loss.shape(), ", the loss ",
          loss.shape());
  cotangent_at(loss.recorded().place)->accumulate(std::move(d_loss));

  std::vector<Tensor> d_results;
  std::vector<Tensor*> d_operands;
  for (Node& node : std::views::reverse(nodes_)) {
    if (!node.pullback) continue;
    const std::span<Result> results(&results_[node.first_result], node.result_count);
    const RecordedPullback pullback = std::exchange(node.pullback, nullptr);
    if (std::ranges::none_of(results, [](const Result& y) { return y.cotangent.defined(); })) continue;
    d_results.clear();
    for (Result& y : results) d_results.push_back(std::move(y.cotangent));
    d_operands.clear();
    for (uint32_t place : node.arguments) d_operands.push_back(place == 0 ? nullptr : cotangent_at(place));
    pullback(d_results, d_operands);
  }
}

Drawing draw(const TensorGraph& graph, size_t largest) {
  std::vector<DrawnNode> nodes;
  std::vector<size_t> makers{0};  // of the result at each place
  for (const TensorGraph::Node& node : graph.nodes()) {
    DrawnNode drawn{node.function, node.function, {}, {}, false};
    for (uint32_t i = 0; i < node.result_count; ++i) {
      const Shape& shape = graph.shape(node.first_result + i);
      std::ostringstream text;
      text << shape;
      drawn.value += (i == 0 ? "" : " ") + text.str();
      makers.push_back(nodes.size());
    }
    for (const uint32_t place : node.arguments)
      if (place != 0) drawn.parents.push_back(makers[place]);
    nodes.push_back(std::move(drawn));
  }
  return draw(nodes, largest);
}

// Tensor's methods. Their derivatives are functions of `this`.
#define CLADTORCH_METHOD(name)                                                                           \
  [](const Tensor& x, auto&&... rest) {                                                                  \
    return ::clad::custom_derivatives::class_functions::name(&x, std::forward<decltype(rest)>(rest)...); \
  }
#define CLADTORCH_RECORD_METHOD(name, ...)                                                          \
  return detail::recorded(                                                                          \
      *this, #name, [](const Tensor& tensor, const auto&... rest) { return tensor.name(rest...); }, \
      CLADTORCH_METHOD(name##_pullback), __VA_ARGS__)
#define CLADTORCH_RECORD_METHOD_STATE(name, ...)               \
  return detail::recorded<::clad::pullback_state<ShapeState>>( \
      *this, #name, CLADTORCH_METHOD(name##_reverse_forw), CLADTORCH_METHOD(name##_pullback), __VA_ARGS__)

Tensor TensorGraph::reshape(const Tensor& x, const Shape& shape) {
  CLADTORCH_RECORD_METHOD_STATE(reshape, unread(x), shape);
}
Tensor TensorGraph::flatten(const Tensor& x) { CLADTORCH_RECORD_METHOD_STATE(flatten, unread(x)); }
Tensor TensorGraph::transpose(const Tensor& x, int64_t dim0, int64_t dim1) {
  CLADTORCH_RECORD_METHOD(transpose, unread(x), dim0, dim1);
}
Tensor TensorGraph::permute(const Tensor& x, const Shape& dims) {
  CLADTORCH_RECORD_METHOD(permute, unread(x), dims);
}
Tensor TensorGraph::narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
  CLADTORCH_RECORD_METHOD_STATE(narrow, unread(x), dim, start, length);
}
Tensor TensorGraph::slice(const Tensor& x, int64_t dim, int64_t start, int64_t end) {
  CLADTORCH_RECORD_METHOD_STATE(slice, unread(x), dim, start, end);
}
Tensor TensorGraph::select(const Tensor& x, int64_t dim, int64_t index) {
  CLADTORCH_RECORD_METHOD_STATE(select, unread(x), dim, index);
}
std::vector<Tensor> TensorGraph::split(const Tensor& x, int64_t size, int64_t dim) {
  CLADTORCH_RECORD_METHOD_STATE(split, unread(x), size, dim);
}
Tensor TensorGraph::unsqueeze(const Tensor& x, int64_t dim) {
  CLADTORCH_RECORD_METHOD_STATE(unsqueeze, unread(x), dim);
}
Tensor TensorGraph::squeeze(const Tensor& x, int64_t dim) {
  CLADTORCH_RECORD_METHOD_STATE(squeeze, unread(x), dim);
}
Tensor TensorGraph::expand(const Tensor& x, const Shape& shape) {
  CLADTORCH_RECORD_METHOD_STATE(expand, unread(x), shape);
}
Tensor TensorGraph::contiguous(const Tensor& x) { CLADTORCH_RECORD_METHOD(contiguous, unread(x)); }
Tensor TensorGraph::clone(const Tensor& x) { CLADTORCH_RECORD_METHOD(clone, unread(x)); }
Tensor TensorGraph::to(const Tensor& x, DType dtype) { CLADTORCH_RECORD_METHOD_STATE(to, unread(x), dtype); }

}  // namespace cladtorch::graph
