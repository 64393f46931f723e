#include "cladtorch/train/adamw.h"

#include <cmath>

#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "tensor/dispatch.h"
#include "train/loops.h"
#include "train/optimizer_on_device.h"

namespace cladtorch {
namespace {

/// Zeros without a pass over memory: the first step stores over them.
TensorList zeros_like_all(const TensorList& parameters) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& named : parameters)
    tensors.push_back({named.name, gradient_buffer_like(named.tensor)});
  return TensorList(std::move(tensors));
}

/// The parameters, or float32 copies of bfloat16 ones.
TensorList masters_of(const TensorList& parameters) {
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& named : parameters)
    tensors.push_back({named.name, named.tensor.to(detail::computed_in(named.tensor.dtype()))});
  return TensorList(std::move(tensors));
}

/// To be written by several threads. The tensor was told of it before, by data(), which only one thread may
/// call.
template <class T>
T* elements(const Tensor& tensor) {
  return const_cast<T*>(tensor.data<T>());
}

/// `rounded` are the bfloat16 copies of the masters, or the masters themselves.
template <class T>
void update_all(TensorList& masters, TensorList& rounded, TensorList& gradients, TensorList& first,
                TensorList& second, const std::vector<char>& fresh, const AdamWOptions& options,
                int64_t steps, double gradient_scale) {
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

  const auto& pieces = masters.pieces();
  parallel_for(static_cast<int64_t>(pieces.size()), 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const auto& [tensor, begin, end] = pieces[static_cast<size_t>(i)];
      T* const p = elements<T>(masters[tensor].tensor) + begin;
      T* const m = elements<T>(first[tensor].tensor) + begin;
      T* const v = elements<T>(second[tensor].tensor) + begin;
      const T* const g = elements<T>(gradients[tensor].tensor) + begin;
      const bool is_fresh = fresh[tensor] != 0;
      const train::AdamWCoefficients<T>& c = masters[tensor].tensor.dim() >= 2 ? decayed : plain;
      if constexpr (std::is_same_v<T, float>) {
        const bool copy = rounded.dtype() == DType::bfloat16;
        bfloat16* const out = copy ? elements<bfloat16>(rounded[tensor].tensor) + begin : nullptr;
        train::adamw_loop(p, g, m, v, out, is_fresh, end - begin, c);
      } else {
        train::adamw_loop(p, g, m, v, is_fresh, end - begin, c);
      }
    }
  });
}

void mark_zero(TensorList& gradients) {
  for (NamedTensor& gradient : gradients)
    if (gradient.tensor.is_gradient_buffer()) gradient.tensor.mark_zero();
}

}  // namespace

AdamW::AdamW(TensorList parameters, AdamWOptions options)
    : AdamW(parameters, masters_of(parameters), options) {}

AdamW::AdamW(TensorList parameters, TensorList masters, AdamWOptions options)
    : parameters_(std::move(parameters)),
      masters_(std::move(masters)),
      first_(zeros_like_all(masters_)),
      second_(zeros_like_all(masters_)),
      fresh_(masters_.size()),
      options_(options) {
  require(masters_.size() == parameters_.size(), "AdamW: ", parameters_.size(), " parameters, but ",
          masters_.size(), " masters");
  for (size_t i = 0; i < masters_.size(); ++i) {
    Tensor& p = parameters_[i].tensor;
    const Tensor& master = masters_[i].tensor;
    require(master.shape() == p.shape() && master.dtype() == detail::computed_in(p.dtype()),
            "AdamW: parameter '", parameters_[i].name, "' is ", p.shape(), " ", p.dtype(), ", its master ",
            master.shape(), " ", master.dtype());
    if (p.dtype() == DType::bfloat16) {
      p.copy_from(master);
    } else {
      require(p.shares_storage_with(master), "AdamW: parameter '", parameters_[i].name, "' is ", p.dtype(),
              ", so it must be its own master");
    }
  }
}

void AdamW::check(const TensorList& gradients) const {
  require(gradients.size() == masters_.size(), "AdamW: ", masters_.size(), " parameters, but ",
          gradients.size(), " gradients");
  for (size_t i = 0; i < gradients.size(); ++i) {
    const NamedTensor &p = masters_[i], &g = gradients[i];
    require(g.tensor.shape() == p.tensor.shape() && g.tensor.dtype() == p.tensor.dtype() &&
                g.tensor.device() == p.tensor.device(),
            "AdamW: parameter '", p.name, "' is ", p.tensor.shape(), " ", p.tensor.dtype(), " on ",
            p.tensor.device(), ", its gradient ", g.tensor.shape(), " ", g.tensor.dtype(), " on ",
            g.tensor.device());
  }
}

void AdamW::step(TensorList& gradients, double gradient_scale) {
  check(gradients);
  if (gradients[0].tensor.is_cuda()) {
    const Device device = gradients[0].tensor.device();
    const train::StepInput input = train::step_input(options_, steps_ + 1, 0, 1);
    const train::StepOutput output{0, 0, gradient_scale};
    step_on_device(gradients, train::to_device(input, device), train::to_device(output, device));
    return;
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    const NamedTensor& p = masters_[i];
    NamedTensor& g = gradients[i];
    // Reading a buffer that only stands for zero writes the zeros: once, here, and not from several threads.
    if (g.tensor.is_marked_zero()) g.tensor.data();
    fresh_[i] = first_[i].tensor.is_marked_zero() && second_[i].tensor.is_marked_zero();
    if (fresh_[i]) {
      accumulate_into(&first_[i].tensor, p.tensor.shape(), p.tensor.dtype());
      accumulate_into(&second_[i].tensor, p.tensor.shape(), p.tensor.dtype());
    }
    for (TensorList* written : {&masters_, &parameters_, &first_, &second_}) (*written)[i].tensor.data();
  }
  ++steps_;
  detail::dispatch_floating("AdamW", masters_.dtype(), [&]<class T>(T) {
    update_all<T>(masters_, parameters_, gradients, first_, second_, fresh_, options_, steps_,
                  gradient_scale);
  });
  mark_zero(gradients);
}

void AdamW::step_on_device(TensorList& gradients, const Tensor& input, const Tensor& output) {
  check(gradients);
  if (!tables_) tables_ = std::make_shared<train::OptimizerTables>();
  tables_->point_to(masters_, parameters_, gradients, first_, second_);
  ++steps_;
  const train::AdamWConstants constants{options_.beta1, options_.beta2, options_.eps,
                                        options_.stochastic_rounding};
  train::adamw_on_device(*tables_, constants, input, output);
  mark_zero(gradients);
}

}  // namespace cladtorch
