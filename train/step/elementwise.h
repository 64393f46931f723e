// The loop of all optimizers that update each number by itself. One is written as its formula, a
// specialization of UpdateRule, and
//
//     template class ElementwiseOptimizer<SGDOptions>;
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cladtorch/train/elementwise_optimizer.h"
#include "tensor/dispatch.h"
#include "train/step/best_instructions.h"
#include "train/step/update.h"

namespace cladtorch {
namespace train {

/// What a formula reads beside the options.
struct UpdateNumbers {
  double lr, weight_decay;  ///< the decay is 0 for biases and norms
  int64_t steps;            ///< with this one
};

/// The formula of an optimizer. A specialization has
///
///     name             of the optimizer in files
///     state(options)   PyTorch's names of what is kept for each number, in an array; null for what these
///                      options do without, which is zero when the formula begins
///     always_kept      how many of them are never null
///     decays_gradient  whether weight_decay p is added to the gradient of p
///     step<T>(options, numbers)
///                      a function object for one step, whose operator()(T& p, T g, T&...), always_inline,
///                      updates p and what is kept from the scaled gradient g
template <class Options>
struct UpdateRule;

/// Elements of one parameter.
template <class T, size_t N>
struct UpdatedElements {
  T* p;
  const T* g;
  std::array<T*, N> kept;  ///< or null
  bfloat16* rounded;       ///< receives p in bfloat16, unless null
  int64_t count;
  T gradient_scale, decay;
};

template <bool Kept, class T>
[[gnu::always_inline]] inline T& kept_element(T* elements, int64_t i, T&& zero) {
  if constexpr (Kept) return elements[i];
  return zero;
}

template <bool DecaysGradient, bool Rounded, bool... Kept, class Step, class T, class... State>
[[gnu::always_inline]] inline void update_loop(std::integer_sequence<bool, Kept...>, const Step step,
                                               T* __restrict__ p, const T* __restrict__ g,
                                               bfloat16* __restrict__ rounded, int64_t count,
                                               T gradient_scale, T decay, State* __restrict__... kept) {
  for (int64_t i = 0; i < count; ++i) {
    T gradient = g[i] * gradient_scale;
    if constexpr (DecaysGradient) gradient = g[i] * gradient_scale + decay * p[i];
    step(p[i], gradient, kept_element<Kept>(kept, i, T(0))...);
    if constexpr (Rounded) rounded[i] = bfloat16(static_cast<float>(p[i]));
  }
}

/// Compiles the loop for each choice of what is kept. Float traffic of AdamW is 28 bytes an element: the
/// gradient is read, the parameter and both moments are read and written; 30 with the rounded copy.
template <class Rule, bool... Kept, class Step, class T, size_t N>
void update_elements(const Step& step, const UpdatedElements<T, N>& at) {
  constexpr size_t next = sizeof...(Kept);
  if constexpr (next < N) {
    if constexpr (next >= Rule::always_kept)
      if (at.kept[next] == nullptr) return update_elements<Rule, Kept..., false>(step, at);
    update_elements<Rule, Kept..., true>(step, at);
  } else {
    const auto run = [&](auto rounded, auto*... kept) {
      const auto loop = [&]() __attribute__((always_inline)) {
        update_loop<Rule::decays_gradient, decltype(rounded)::value>(std::integer_sequence<bool, Kept...>(),
                                                                     step, at.p, at.g, at.rounded, at.count,
                                                                     at.gradient_scale, at.decay, kept...);
      };
      if constexpr (std::is_same_v<T, float>) return with_best_instructions(loop);
      loop();
    };
    std::apply(
        [&](auto*... kept) { at.rounded ? run(std::true_type(), kept...) : run(std::false_type(), kept...); },
        at.kept);
  }
}

}  // namespace train

template <class Options>
ElementwiseOptimizer<Options>::ElementwiseOptimizer(TensorList parameters, Options options)
    : Optimizer(train::UpdateRule<Options>::name, std::move(parameters), options.lr), options_(options) {
  make_state();
}

template <class Options>
ElementwiseOptimizer<Options>::ElementwiseOptimizer(TensorList parameters, TensorList masters,
                                                    Options options)
    : Optimizer(train::UpdateRule<Options>::name, std::move(parameters), std::move(masters), options.lr),
      options_(options) {
  make_state();
}

template <class Options>
void ElementwiseOptimizer<Options>::make_state() {
  for (const char* name : train::UpdateRule<Options>::state(options_)) {
    kept_.emplace_back();
    if (name) kept_.back() = {name, zero_state(masters_), std::vector<char>(masters_.size())};
    if constexpr (requires { options_.initial_accumulator_value; })
      if (options_.initial_accumulator_value != 0)
        for (NamedTensor& named : kept_.back()->values)
          named.tensor.fill_(options_.initial_accumulator_value);
  }
}

template <class Options>
std::vector<OptimizerState> ElementwiseOptimizer<Options>::state() const {
  std::vector<OptimizerState> all;
  for (const std::optional<Kept>& kept : kept_)
    if (kept) all.push_back({kept->name, &kept->values});
  return all;
}

template <class Options>
void ElementwiseOptimizer<Options>::update(TensorList& gradients, double gradient_scale) {
  using Rule = train::UpdateRule<Options>;
  constexpr size_t states = std::tuple_size_v<decltype(Rule::state(options_))>;
  for (std::optional<Kept>& kept : kept_)
    for (size_t i = 0; kept && i < gradients.size(); ++i)
      kept->fresh[i] = train::take_fresh({&kept->values[i].tensor});
  detail::dispatch_floating(Rule::name, masters_.dtype(), [&]<class T>(T) {
    const auto step_with = [&](double weight_decay) {
      return Rule::template step<T>(options_, train::UpdateNumbers{lr(), weight_decay, steps()});
    };
    const auto plain = step_with(0), decayed = step_with(options_.weight_decay);
    train::for_each_piece(masters_, share_, [&](size_t tensor, int64_t begin, int64_t end) {
      const bool is_decayed = masters_[tensor].tensor.dim() >= 2;
      bfloat16* const rounded = train::rounded_elements(parameters_[tensor].tensor);
      train::UpdatedElements<T, states> at{
          .p = train::elements<T>(masters_[tensor].tensor) + begin,
          .g = train::elements<T>(gradients[tensor].tensor) + begin,
          .kept = {},
          .rounded = rounded ? rounded + begin : nullptr,
          .count = end - begin,
          .gradient_scale = static_cast<T>(gradient_scale),
          .decay = static_cast<T>(is_decayed ? options_.weight_decay : 0),
      };
      for (size_t k = 0; k < states; ++k) {
        if (!kept_[k]) continue;
        at.kept[k] = train::elements<T>(kept_[k]->values[tensor].tensor) + begin;
        if (kept_[k]->fresh[tensor]) std::fill_n(at.kept[k], at.count, T(0));
      }
      train::update_elements<Rule>(is_decayed ? decayed : plain, at);
    });
  });
}

}  // namespace cladtorch
