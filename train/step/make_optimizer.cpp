#include "train/step/make_optimizer.h"

#include <algorithm>

#include "cladtorch/quote.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/muon.h"
#include "cladtorch/train/sgd.h"
#include "cladtorch/train/suggest.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::train {

void check_optimizer_kind(const std::string& kind, const std::string& what) {
  if (std::ranges::find(optimizer_kinds, kind) == std::end(optimizer_kinds))
    throw UsageError(what + " is " + in_quotes(kind) + ", expected adamw, muon or sgd" +
                     suggestion(kind, {std::begin(optimizer_kinds), std::end(optimizer_kinds)}));
}

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
