#include "cladtorch/train/adamw.h"

#include <cmath>

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "train/loops.h"

namespace cladtorch {
namespace {

/// Zeros without a pass over memory: the first step stores over them.
TensorList zeros_like_all(const TensorList& parameters) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& named : parameters)
    tensors.push_back({named.name, gradient_buffer_like(named.tensor)});
  return TensorList(std::move(tensors));
}

template <class T>
void update_all(TensorList& parameters, TensorList& gradients, TensorList& first, TensorList& second,
                const std::vector<char>& fresh, const AdamWOptions& options, int64_t steps,
                double gradient_scale) {
  const double correction1 = 1.0 - std::pow(options.beta1, static_cast<double>(steps));
  const double correction2 = 1.0 - std::pow(options.beta2, static_cast<double>(steps));
  train::AdamWCoefficients<T> plain{static_cast<T>(options.beta1),
                                    static_cast<T>(options.beta2),
                                    static_cast<T>(gradient_scale),
                                    static_cast<T>(options.lr / correction1),
                                    static_cast<T>(1.0 / std::sqrt(correction2)),
                                    static_cast<T>(options.eps),
                                    T{1}};
  train::AdamWCoefficients<T> decayed = plain;
  decayed.keep = static_cast<T>(1.0 - options.lr * options.weight_decay);

  const auto& pieces = parameters.pieces();
  parallel_for(static_cast<int64_t>(pieces.size()), 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const auto& [tensor, begin, end] = pieces[static_cast<size_t>(i)];
      Tensor& p = parameters[tensor].tensor;
      train::adamw_loop(p.data<T>() + begin, gradients[tensor].tensor.data<T>() + begin,
                        first[tensor].tensor.data<T>() + begin, second[tensor].tensor.data<T>() + begin,
                        fresh[tensor] != 0, end - begin, p.dim() >= 2 ? decayed : plain);
    }
  });
}

}  // namespace

AdamW::AdamW(TensorList parameters, AdamWOptions options)
    : parameters_(std::move(parameters)),
      first_(zeros_like_all(parameters_)),
      second_(zeros_like_all(parameters_)),
      fresh_(parameters_.size()),
      options_(options) {}

void AdamW::step(TensorList& gradients, double gradient_scale) {
  require(gradients.size() == parameters_.size(), "AdamW: ", parameters_.size(), " parameters, but ",
          gradients.size(), " gradients");
  for (size_t i = 0; i < gradients.size(); ++i) {
    const NamedTensor& p = parameters_[i];
    NamedTensor& g = gradients[i];
    require(g.tensor.shape() == p.tensor.shape() && g.tensor.dtype() == p.tensor.dtype(),
            "AdamW: parameter '", p.name, "' is ", p.tensor.shape(), " ", p.tensor.dtype(), ", its gradient ",
            g.tensor.shape(), " ", g.tensor.dtype());
    // Reading a buffer that only stands for zero writes the zeros: once, here, and not from several threads.
    if (g.tensor.is_marked_zero()) g.tensor.data();
    fresh_[i] = first_[i].tensor.is_marked_zero() && second_[i].tensor.is_marked_zero();
    if (!fresh_[i]) continue;
    accumulate_into(&first_[i].tensor, p.tensor.shape(), p.tensor.dtype());
    accumulate_into(&second_[i].tensor, p.tensor.shape(), p.tensor.dtype());
  }
  ++steps_;
  if (parameters_.dtype() == DType::float32) {
    update_all<float>(parameters_, gradients, first_, second_, fresh_, options_, steps_, gradient_scale);
  } else {
    update_all<double>(parameters_, gradients, first_, second_, fresh_, options_, steps_, gradient_scale);
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].tensor.is_gradient_buffer()) gradients[i].tensor.mark_zero();
  }
}

}  // namespace cladtorch
