#include "train/step/make_optimizer.h"

#include <algorithm>

#include "cladtorch/quote.h"
#include "cladtorch/train/adagrad.h"
#include "cladtorch/train/adam.h"
#include "cladtorch/train/adamax.h"
#include "cladtorch/train/adamw.h"
#include "cladtorch/train/lion.h"
#include "cladtorch/train/muon.h"
#include "cladtorch/train/nadam.h"
#include "cladtorch/train/radam.h"
#include "cladtorch/train/rmsprop.h"
#include "cladtorch/train/sgd.h"
#include "cladtorch/train/suggest.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::train {

namespace {

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all = {std::begin(optimizer_kinds), std::end(optimizer_kinds)};
  return all;
}

/// The options of a kind that have a key.
template <class Options>
Options options_of(const TrainConfig::Optimizer& config) {
  Options options;
  options.lr = config.lr;
  options.weight_decay = config.weight_decay;
  if constexpr (requires { options.beta1; }) options.beta1 = config.beta1;
  if constexpr (requires { options.beta2; }) options.beta2 = config.beta2;
  if constexpr (requires { options.eps; }) options.eps = config.eps;
  if constexpr (requires { options.alpha; }) options.alpha = config.alpha;
  if constexpr (requires { options.nesterov; }) {
    options.momentum = config.momentum;
    options.nesterov = config.nesterov;
  }
  if constexpr (requires { options.centered; }) {
    options.momentum = config.rmsprop_momentum;
    options.centered = config.centered;
  }
  if constexpr (requires { options.lr_decay; }) {
    options.lr_decay = config.lr_decay;
    options.initial_accumulator_value = config.initial_accumulator_value;
  }
  if constexpr (requires { options.momentum_decay; }) options.momentum_decay = config.momentum_decay;
  return options;
}

template <class Kind, class Options>
std::unique_ptr<Optimizer> make(const TrainConfig::Optimizer& config, TensorList& parameters,
                                TensorList& masters) {
  return std::make_unique<Kind>(std::move(parameters), std::move(masters), options_of<Options>(config));
}

}  // namespace

std::string optimizer_kind_choices() { return enumeration(kinds(), "or"); }

void check_optimizer_kind(const std::string& kind, const std::string& what) {
  if (std::ranges::find(kinds(), kind) == kinds().end())
    throw UsageError(what + " is " + in_quotes(kind) + ", expected " + optimizer_kind_choices() +
                     suggestion(kind, kinds()));
}

std::unique_ptr<Optimizer> make_optimizer(const TrainConfig::Optimizer& config, TensorList parameters,
                                          TensorList masters) {
  TensorList &p = parameters, &m = masters;
  if (config.kind == "adam") return make<Adam, AdamOptions>(config, p, m);
  if (config.kind == "adamax") return make<Adamax, AdamaxOptions>(config, p, m);
  if (config.kind == "nadam") return make<NAdam, NAdamOptions>(config, p, m);
  if (config.kind == "radam") return make<RAdam, RAdamOptions>(config, p, m);
  if (config.kind == "muon") return make<Muon, MuonOptions>(config, p, m);
  if (config.kind == "sgd") return make<SGD, SGDOptions>(config, p, m);
  if (config.kind == "rmsprop") return make<RMSprop, RMSpropOptions>(config, p, m);
  if (config.kind == "adagrad") return make<Adagrad, AdagradOptions>(config, p, m);
  if (config.kind == "lion") return make<Lion, LionOptions>(config, p, m);
  return make<AdamW, AdamWOptions>(config, p, m);
}

}  // namespace cladtorch::train
