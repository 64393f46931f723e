#include "cladtorch/train/sgd.h"

#include "tensor/dispatch.h"
#include "train/step/loops.h"
#include "train/step/update.h"

namespace cladtorch {

SGD::SGD(TensorList parameters, SGDOptions options)
    : Optimizer("SGD", std::move(parameters), options.lr), options_(options), fresh_(masters_.size()) {
  if (options_.momentum != 0) buffers_ = zero_state(masters_);
}

SGD::SGD(TensorList parameters, TensorList masters, SGDOptions options)
    : Optimizer("SGD", std::move(parameters), std::move(masters), options.lr),
      options_(options),
      fresh_(masters_.size()) {
  if (options_.momentum != 0) buffers_ = zero_state(masters_);
}

std::vector<OptimizerState> SGD::state() const {
  if (!buffers_) return {};
  return {{"momentum_buffer", &*buffers_}};
}

void SGD::update(TensorList& gradients, double gradient_scale) {
  for (size_t i = 0; buffers_ && i < gradients.size(); ++i)
    fresh_[i] = train::take_fresh({&(*buffers_)[i].tensor});
  detail::dispatch_floating("SGD", masters_.dtype(), [&]<class T>(T) {
    train::for_each_piece(masters_, share_, [&](size_t tensor, int64_t begin, int64_t end) {
      const bool decayed = masters_[tensor].tensor.dim() >= 2;
      const train::SGDCoefficients<T> c{.gradient_scale = static_cast<T>(gradient_scale),
                                        .decay = static_cast<T>(decayed ? options_.weight_decay : 0),
                                        .momentum = static_cast<T>(options_.momentum),
                                        .lr = static_cast<T>(lr()),
                                        .of_gradient = static_cast<T>(options_.nesterov || !buffers_ ? 1 : 0),
                                        .of_buffer = static_cast<T>(!buffers_           ? 0
                                                                    : options_.nesterov ? options_.momentum
                                                                                        : 1)};
      bfloat16* const out = train::rounded_elements(parameters_[tensor].tensor);
      train::sgd_loop(train::elements<T>(masters_[tensor].tensor) + begin,
                      train::elements<T>(gradients[tensor].tensor) + begin,
                      buffers_ ? train::elements<T>((*buffers_)[tensor].tensor) + begin : nullptr,
                      out ? out + begin : nullptr, fresh_[tensor] != 0, end - begin, c);
    });
  });
}

}  // namespace cladtorch
