// The named parameters of a model, declared by one line per struct. The names are those of Hugging Face
// checkpoints.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cladtorch/tensor/tensor.h"

/// Lists the members of a struct that are parameters (Tensor), layers (structs with this line), or
/// std::vector, std::array, std::optional or smart pointers of those: CLADTORCH_PARAMETERS(weight, bias). A
/// member that holds tensors and is not listed is an error in a derivative, unless it is marked
/// CLAD_CONSTANT.
#define CLADTORCH_PARAMETERS(...)                                                   \
  template <class Visitor>                                                          \
  CLAD_MEMBERS("CLADTORCH_PARAMETERS")                                              \
  void visit_parameters(Visitor&& visitor, const std::string& prefix) {             \
    ::cladtorch::detail::visit_members(#__VA_ARGS__, visitor, prefix, __VA_ARGS__); \
  }                                                                                 \
  template <class Visitor>                                                          \
  void visit_parameters(Visitor&& visitor, const std::string& prefix) const {       \
    ::cladtorch::detail::visit_members(#__VA_ARGS__, visitor, prefix, __VA_ARGS__); \
  }

namespace cladtorch {
namespace detail {

template <class T>
struct is_sequence : std::false_type {};
template <class T>
struct is_sequence<std::vector<T>> : std::true_type {};
template <class T, size_t N>
struct is_sequence<std::array<T, N>> : std::true_type {};

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
struct is_owner : std::false_type {};
template <class T>
struct is_owner<std::unique_ptr<T>> : std::true_type {};
template <class T>
struct is_owner<std::shared_ptr<T>> : std::true_type {};

/// Whether the class has the line CLADTORCH_PARAMETERS, or a member function that does the same.
template <class Model>
concept HasParameters = requires(Model& model, void (&visit)(const std::string&, const Tensor&)) {
  model.visit_parameters(visit, std::string());
};
// These are never complete. As classes, they are reported once, however often parameters are walked.
template <class Member>
struct NoParameter {
  static_assert(
      HasParameters<Member>,
      "CLADTORCH_PARAMETERS names a member that holds no parameters: a Tensor, a struct with a public "
      "CLADTORCH_PARAMETERS line of its own, or a std::vector, std::array, std::optional, std::shared_ptr or "
      "std::unique_ptr of those can be named; keep layers in one of these, not in a std::map, a std::list or "
      "behind a pointer that owns nothing");
};
template <class Model>
struct NoModel {
  static_assert(HasParameters<Model>,
                "this class has no parameters to walk: write CLADTORCH_PARAMETERS(first, second) with the "
                "names of its members into the public part of the class");
};

inline std::string joined(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
}

/// Passes layers of one kind to `visit` and skips the parameters of all others.
template <class WantedLayer, class Visit>
struct LayerVisitor {
  using Layer = WantedLayer;
  Visit& visit;
  void operator()(const std::string&, const Tensor&) const {}
};

/// Gives each smart pointer an object of its own, a copy.
struct OwnCopies {
  using Owns = void;
  void operator()(const std::string&, const Tensor&) const {}
};

template <class Visitor, class Member>
concept VisitsLayer = requires { typename Visitor::Layer; } &&
                      std::is_same_v<typename Visitor::Layer, std::remove_const_t<Member>>;

/// Whether the visitor is told in which layers the parameters lie.
template <class Visitor, class Layer>
concept HearsOfLayers = requires(Visitor& visitor, const std::string& name, Layer& layer) {
  visitor.enter(name, layer);
  visitor.leave();
};

template <class Visitor, class Member>
void visit_member(Visitor& visitor, const std::string& name, Member& member) {
  using Plain = std::remove_const_t<Member>;
  if constexpr (VisitsLayer<std::remove_const_t<Visitor>, Plain>) {
    visitor.visit(name, member);
  } else if constexpr (std::is_same_v<Plain, Tensor>) {
    if (member.defined()) visitor(name, member);
  } else if constexpr (is_sequence<Plain>::value) {
    for (size_t i = 0; i < member.size(); ++i)
      visit_member(visitor, joined(name, std::to_string(i)), member[i]);
  } else if constexpr (is_optional<Plain>::value) {
    if (member) visit_member(visitor, name, *member);
  } else if constexpr (is_owner<Plain>::value) {
    if (!member) return;
    if constexpr (requires { typename std::remove_cvref_t<Visitor>::Owns; })
      member = Plain(new typename Plain::element_type(*member));
    if constexpr (std::is_const_v<Member>)
      visit_member(visitor, name, std::as_const(*member));
    else
      visit_member(visitor, name, *member);
  } else if constexpr (HasParameters<Plain>) {
    if constexpr (HearsOfLayers<Visitor, Member>) visitor.enter(name, member);
    member.visit_parameters(visitor, name);
    if constexpr (HearsOfLayers<Visitor, Member>) visitor.leave();
  } else {
    NoParameter<Plain>();
  }
}

template <class Model, class Visitor>
void visit_model(Model& model, Visitor&& visitor) {
  if constexpr (HasParameters<Model>)
    model.visit_parameters(visitor, std::string());
  else
    NoModel<std::remove_const_t<Model>>();
}

/// `names` is the macro's argument text: "a, b, c".
template <class Visitor, class... Members>
void visit_members(std::string_view names, Visitor& visitor, const std::string& prefix, Members&... members) {
  const auto next_name = [&names] {
    const size_t comma = names.find(',');
    std::string_view name = names.substr(0, comma);
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    name.remove_prefix(name.find_first_not_of(" \t\n"));
    return name.substr(0, name.find_last_not_of(" \t\n") + 1);
  };
  (visit_member(visitor, joined(prefix, next_name()), members), ...);
}

}  // namespace detail

namespace detail {

/// Never complete, so that it is reported once.
template <class Model>
struct NoCopy {
  static_assert(std::is_copy_constructible_v<Model>,
                "this model cannot be copied, and a gradient is a copy of it: hold layers by value, or by "
                "std::shared_ptr in place of std::unique_ptr");
};

/// A copy of the model whose tensors share their storage with the model's, and which shares no layer with it.
template <class Model>
Model copy_of(const Model& model) {
  if constexpr (std::is_copy_constructible_v<Model>) {
    Model copy = model;
    visit_model(copy, OwnCopies());
    return copy;
  } else {
    NoCopy<Model>();
    return std::move(const_cast<Model&>(model));
  }
}

}  // namespace detail

/// Calls visit(name, tensor) for every defined parameter in declaration order; `tensor` is const if `model`
/// is. Names are dotted paths: "h.0.attn.c_attn.weight".
template <class Model, class Visit>
void for_each_parameter(Model& model, Visit&& visit) {
  detail::visit_model(model, visit);
}

/// Calls visit(name, layer) for every layer of the type `Layer`, in declaration order, including those
/// without parameters; `layer` is const if `model` is. Names are dotted paths: "h.0.attn.c_attn".
template <class Layer, class Model, class Visit>
void for_each_layer(Model& model, Visit&& visit) {
  detail::visit_model(model, detail::LayerVisitor<Layer, std::remove_reference_t<Visit>>{visit});
}

struct NamedTensor {
  std::string name;
  Tensor tensor;  ///< shares its storage with the model's own handle
};

/// Handles on every parameter, in the order of for_each_parameter.
template <class Model>
std::vector<NamedTensor> named_parameters(Model& model) {
  std::vector<NamedTensor> parameters;
  for_each_parameter(
      model, [&](const std::string& name, const Tensor& tensor) { parameters.push_back({name, tensor}); });
  return parameters;
}

/// Number of parameter elements; a tied tensor is one parameter.
template <class Model>
int64_t parameter_count(const Model& model) {
  int64_t count = 0;
  for_each_parameter(model, [&](const std::string&, const Tensor& parameter) { count += parameter.numel(); });
  return count;
}

/// A model of the same structure whose parameters are gradient buffers marked zero, or sinks for frozen
/// parameters.
template <class Model>
Model like(const Model& model) {
  Model gradient = detail::copy_of(model);
  for_each_parameter(
      gradient, [](const std::string&, Tensor& parameter) { parameter = gradient_buffer_like(parameter); });
  return gradient;
}

/// Calls f(parameter, offset) for each parameter that is not frozen, where `offset` counts the elements
/// before it in memory that holds all their gradients. Each begins a cache line. Returns how many elements
/// that memory has.
template <class Model, class F>
int64_t for_each_gradient_place(Model& model, const F& f) {
  constexpr int64_t line = 16;  // elements of float32
  int64_t offset = 0;
  for_each_parameter(model, [&](const std::string&, auto& parameter) {
    if (!parameter.defined() || parameter.is_frozen()) return;
    f(parameter, offset);
    offset += (parameter.numel() + line - 1) / line * line;
  });
  return offset;
}

/// like(model), of which all gradients lie one after the other in `memory`, at the places that
/// for_each_gradient_place() names.
template <class Model>
Model like(const Model& model, const Tensor& memory) {
  Model gradient = detail::copy_of(model);
  for_each_gradient_place(gradient, [&](Tensor& parameter, int64_t offset) {
    parameter = gradient_buffer_in(memory, offset, parameter.shape());
  });
  for_each_parameter(gradient, [](const std::string&, Tensor& parameter) {
    if (parameter.defined() && parameter.is_frozen()) parameter = gradient_buffer_like(parameter);
  });
  return gradient;
}

/// The same model with its parameters in another dtype; shares those that have it already.
template <class Model>
Model with_dtype(const Model& model, DType dtype) {
  Model converted = detail::copy_of(model);
  for_each_parameter(converted,
                     [dtype](const std::string&, Tensor& parameter) { parameter = parameter.to(dtype); });
  return converted;
}

/// The same model with its parameters on another device; shares those that are there already.
template <class Model>
Model on_device(const Model& model, Device device) {
  Model moved = detail::copy_of(model);
  for_each_parameter(moved,
                     [device](const std::string&, Tensor& parameter) { parameter = parameter.to(device); });
  return moved;
}

/// Makes every gradient stand for zero without writing memory: the next contributions are stored instead of
/// added.
template <class Model>
void zero_grad(Model& gradient) {
  for_each_parameter(gradient, [](const std::string&, Tensor& buffer) { buffer.mark_zero(); });
}

}  // namespace cladtorch
