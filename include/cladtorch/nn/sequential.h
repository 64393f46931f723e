// Layers one after the other, and functions as layers.
#pragma once

#include <string>
#include <utility>

#include "cladtorch/nn/layers.h"

namespace cladtorch::nn {

namespace detail {
/// Visits the parameters of a layer as those of number `index`, and of the rest as those of the numbers after
/// it.
template <class Visitor, class First, class Rest>
void visit_sequence(Visitor& visitor, const std::string& prefix, int index, First& first, Rest& rest) {
  using namespace ::cladtorch::detail;
  if constexpr (HasParameters<std::remove_const_t<First>>) {
    visit_member(visitor, joined(prefix, std::to_string(index)), first);
  } else if constexpr (HearsOfLayers<Visitor, First>) {
    visitor.enter(joined(prefix, std::to_string(index)), first);
    visitor.leave();
  }
  rest.visit_from(visitor, prefix, index + 1);
}
}  // namespace detail

/// Layers of any types, each a class with `Tensor forward(const Tensor& x) const`. Their parameters are named
/// by their numbers, as in PyTorch: "0.weight".
///
///     nn::Sequential net(nn::Conv2d(1, 16, 3, random), nn::ReLU(), nn::Flatten(), nn::Linear(16 * 26 * 26,
///     10, random));
template <class... Layers>
struct Sequential {
  Tensor forward(const Tensor& x) const { return x; }
  template <class Visitor>
  void visit_from(Visitor&, const std::string&, int) const {}
};

template <class First, class... Rest>
struct Sequential<First, Rest...> {
  First first;
  Sequential<Rest...> rest;

  Sequential() = default;
  explicit Sequential(First layer, Rest... others) : first(std::move(layer)), rest(std::move(others)...) {}

  Tensor forward(const Tensor& x) const { return rest.forward(first.forward(x)); }
  Tensor operator()(const Tensor& x) const { return forward(x); }

  /// Layer number `index`.
  template <int index>
  auto& get() {
    if constexpr (index == 0) {
      return first;
    } else {
      return rest.template get<index - 1>();
    }
  }
  template <int index>
  const auto& get() const {
    return const_cast<Sequential*>(this)->template get<index>();
  }

  template <class Visitor>
  CLAD_MEMBERS("Sequential")
  void visit_parameters(Visitor&& visitor, const std::string& prefix) {
    detail::visit_sequence(visitor, prefix, 0, first, rest);
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor, const std::string& prefix) const {
    detail::visit_sequence(visitor, prefix, 0, first, rest);
  }
  template <class Visitor>
  void visit_from(Visitor& visitor, const std::string& prefix, int index) {
    detail::visit_sequence(visitor, prefix, index, first, rest);
  }
  template <class Visitor>
  void visit_from(Visitor& visitor, const std::string& prefix, int index) const {
    detail::visit_sequence(visitor, prefix, index, first, rest);
  }
};
template <class... Layers>
Sequential(Layers...) -> Sequential<Layers...>;

#define CLADTORCH_FUNCTION_LAYER(Name, function)                    \
  struct Name {                                                     \
    Tensor forward(const Tensor& x) const { return function(x); }   \
    Tensor operator()(const Tensor& x) const { return forward(x); } \
  };
CLADTORCH_FUNCTION_LAYER(ReLU, relu)
CLADTORCH_FUNCTION_LAYER(ReLU6, relu6)
CLADTORCH_FUNCTION_LAYER(GELU, gelu_erf)
CLADTORCH_FUNCTION_LAYER(SiLU, silu)
CLADTORCH_FUNCTION_LAYER(Sigmoid, sigmoid)
CLADTORCH_FUNCTION_LAYER(Tanh, ::cladtorch::tanh)
CLADTORCH_FUNCTION_LAYER(Hardswish, hardswish)
CLADTORCH_FUNCTION_LAYER(Mish, mish)
CLADTORCH_FUNCTION_LAYER(Softplus, softplus)
CLADTORCH_FUNCTION_LAYER(Softmax, softmax)
CLADTORCH_FUNCTION_LAYER(LogSoftmax, log_softmax)
#undef CLADTORCH_FUNCTION_LAYER

struct LeakyReLU {
  CLAD_CONSTANT double slope = 0.01;

  Tensor forward(const Tensor& x) const { return leaky_relu(x, slope); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};
struct ELU {
  CLAD_CONSTANT double alpha = 1;

  Tensor forward(const Tensor& x) const { return elu(x, alpha); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};

}  // namespace cladtorch::nn
