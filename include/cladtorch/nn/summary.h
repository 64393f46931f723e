// A table of the layers of a model, and what its forward pass costs.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "cladtorch/nn/parameters.h"

namespace cladtorch {

struct LayerSummary {
  struct Parameter {
    std::string name;
    Shape shape;
  };

  std::string name;  ///< as named_parameters() has it, without the parameter; empty for the model itself
  std::string kind;  ///< the class, without its namespace
  std::vector<Parameter> parameters;  ///< its own, not those of layers in it
  int64_t count = 0;                  ///< elements of these
  int64_t trained = 0;                ///< those of tensors that are not frozen
};

/// Of one forward pass.
struct ForwardSummary {
  int64_t operations = 0;      ///< as op_count() counts them
  int64_t flops = 0;           ///< of products and convolutions, as flop_count() counts them
  size_t allocated_bytes = 0;  ///< of all tensors that were made
  size_t peak_bytes = 0;       ///< the most that were alive at once, each in whole blocks of 64
  std::optional<Shape> output;
};

struct ModelSummary {
  std::vector<LayerSummary> layers;  ///< the model itself, and then all its layers in their order
  int64_t count = 0;                 ///< as parameter_count()
  int64_t trained = 0;
  size_t bytes = 0;  ///< of all parameters
  Device device;     ///< of the first parameter
  std::optional<ForwardSummary> forward;

  /// One line for each layer, and the totals.
  std::string to_string() const;
};

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary);

namespace detail {

/// The name of a class without its namespaces, as one writes it: "Conv2d".
std::string kind_of_layer(const std::type_info& type);

/// Calls `run`, which returns the shape of its result if that is a tensor.
ForwardSummary measure_forward(Device device, const std::function<std::optional<Shape>()>& run);

/// Hears of layers, by visit_member(), and of their parameters.
class SummaryVisitor {
 public:
  explicit SummaryVisitor(ModelSummary& summary) : summary_(summary) {}

  template <class Layer>
  void enter(const std::string& name, const Layer&) {
    open_.push_back(summary_.layers.size());
    summary_.layers.push_back({name, kind_of_layer(typeid(Layer)), {}});
  }
  void leave() { open_.pop_back(); }
  void operator()(const std::string& name, const Tensor& parameter);

 private:
  ModelSummary& summary_;
  std::vector<size_t> open_;  // layers, each in the one before
};

}  // namespace detail

/// The layers of a model with their parameters, as Keras' model.summary(): std::cout << summary(model).
template <class Model>
ModelSummary summary(const Model& model) {
  ModelSummary result;
  detail::SummaryVisitor visitor(result);
  visitor.enter(std::string(), model);
  detail::visit_model(model, visitor);
  visitor.leave();
  return result;
}

/// The same with what forward(model) costs, as torchinfo.summary(): it is called once, in a Workspace::Step.
/// Memory is that of the device of the parameters, and of tensors that do not outlive the call.
///
///     std::cout << summary(model, [&](const Model& m) { return m.forward(x); });
template <class Model, class Forward>
ModelSummary summary(const Model& model, Forward&& forward) {
  ModelSummary result = summary(model);
  result.forward = detail::measure_forward(result.device, [&]() -> std::optional<Shape> {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(forward(model))>, Tensor>) {
      return forward(model).shape();
    } else {
      forward(model);
      return std::nullopt;
    }
  });
  return result;
}

}  // namespace cladtorch
