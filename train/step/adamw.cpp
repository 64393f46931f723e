#include "cladtorch/train/adamw.h"

#include <cmath>

#include "tensor/dispatch.h"
#include "train/step/loops.h"
#include "train/step/optimizer_on_device.h"
#include "train/step/update.h"

namespace cladtorch {
namespace {

template <class T>
train::AdamWCoefficients<T> coefficients(const AdamWOptions& options, double lr, int64_t steps,
                                         double gradient_scale) {
  const double correction1 = 1.0 - std::pow(options.beta1, static_cast<double>(steps));
  const double correction2 = 1.0 - std::pow(options.beta2, static_cast<double>(steps));
  return {static_cast<T>(options.beta1),
          static_cast<T>(options.beta2),
          static_cast<T>(gradient_scale),
          static_cast<T>(lr / correction1),
          static_cast<T>(1.0 / std::sqrt(correction2)),
          static_cast<T>(options.eps),
          T{1}};
}

}  // namespace

AdamW::AdamW(TensorList parameters, AdamWOptions options)
    : Optimizer("AdamW", std::move(parameters), options.lr),
      first_(zero_state(masters_)),
      second_(zero_state(masters_)),
      fresh_(masters_.size()),
      options_(options) {}

AdamW::AdamW(TensorList parameters, TensorList masters, AdamWOptions options)
    : Optimizer("AdamW", std::move(parameters), std::move(masters), options.lr),
      first_(zero_state(masters_)),
      second_(zero_state(masters_)),
      fresh_(masters_.size()),
      options_(options) {}

std::vector<OptimizerState> AdamW::state() const { return {{"exp_avg", &first_}, {"exp_avg_sq", &second_}}; }

void AdamW::update(TensorList& gradients, double gradient_scale) {
  for (size_t i = 0; i < gradients.size(); ++i)
    fresh_[i] = train::take_fresh({&first_[i].tensor, &second_[i].tensor});
  detail::dispatch_floating("AdamW", masters_.dtype(), [&]<class T>(T) {
    const train::AdamWCoefficients<T> plain = coefficients<T>(options_, lr(), steps(), gradient_scale);
    train::AdamWCoefficients<T> decayed = plain;
    decayed.keep = static_cast<T>(1.0 - lr() * options_.weight_decay);
    train::for_each_piece(masters_, share_, [&](size_t tensor, int64_t begin, int64_t end) {
      T* const p = train::elements<T>(masters_[tensor].tensor) + begin;
      T* const m = train::elements<T>(first_[tensor].tensor) + begin;
      T* const v = train::elements<T>(second_[tensor].tensor) + begin;
      const T* const g = train::elements<T>(gradients[tensor].tensor) + begin;
      const bool fresh = fresh_[tensor] != 0;
      const train::AdamWCoefficients<T>& c = masters_[tensor].tensor.dim() >= 2 ? decayed : plain;
      if constexpr (std::is_same_v<T, float>) {
        bfloat16* const out = train::rounded_elements(parameters_[tensor].tensor);
        train::adamw_loop(p, g, m, v, out ? out + begin : nullptr, fresh, end - begin, c);
      } else {
        train::adamw_loop(p, g, m, v, fresh, end - begin, c);
      }
    });
  });
}

train::StepInput AdamW::device_input(double clip, double weight) const {
  const auto step = static_cast<double>(steps() + 1);
  return {.step_size = lr() / (1.0 - std::pow(options_.beta1, step)),
          .second_scale = 1.0 / std::sqrt(1.0 - std::pow(options_.beta2, step)),
          .decay = lr() * options_.weight_decay,
          .clip = clip,
          .weight = weight,
          .step = step};
}

void AdamW::update_on_device(TensorList& gradients, const Tensor& input, const Tensor& output) {
  if (!tables_) tables_ = std::make_shared<train::OptimizerTables>();
  tables_->point_to(masters_, parameters_, gradients, first_, second_);
  const train::AdamWConstants constants{options_.beta1, options_.beta2, options_.eps,
                                        options_.stochastic_rounding};
  train::adamw_on_device(*tables_, constants, input, output);
}

}  // namespace cladtorch
