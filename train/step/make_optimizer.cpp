#include "train/step/make_optimizer.h"

#include "cladtorch/train/adamw.h"
#include "cladtorch/train/muon.h"
#include "cladtorch/train/sgd.h"

namespace cladtorch::train {

std::unique_ptr<Optimizer> make_optimizer(const TrainConfig::Optimizer& config, TensorList parameters,
                                          TensorList masters) {
  if (config.kind == "muon")
    return std::make_unique<Muon>(std::move(parameters), std::move(masters),
                                  MuonOptions{.lr = config.lr,
                                              .momentum = config.momentum,
                                              .nesterov = config.nesterov,
                                              .weight_decay = config.weight_decay,
                                              .beta1 = config.beta1,
                                              .beta2 = config.beta2,
                                              .eps = config.eps});
  if (config.kind == "sgd")
    return std::make_unique<SGD>(std::move(parameters), std::move(masters),
                                 SGDOptions{.lr = config.lr,
                                            .momentum = config.momentum,
                                            .nesterov = config.nesterov,
                                            .weight_decay = config.weight_decay});
  return std::make_unique<AdamW>(std::move(parameters), std::move(masters),
                                 AdamWOptions{.lr = config.lr,
                                              .beta1 = config.beta1,
                                              .beta2 = config.beta2,
                                              .eps = config.eps,
                                              .weight_decay = config.weight_decay});
}

}  // namespace cladtorch::train
