// The optimizer that a configuration names.
#pragma once

#include <memory>
#include <string>

#include "cladtorch/train/config.h"
#include "cladtorch/train/optimizer.h"

namespace cladtorch::train {

/// Values of optimizer.kind.
inline constexpr const char* optimizer_kinds[] = {"adamw",   "adam", "muon",   "sgd",   "rmsprop",
                                                  "adagrad", "lion", "adamax", "nadam", "radam"};
/// "adamw, adam or lion", with all of them.
std::string optimizer_kind_choices();

/// Throws UsageError, which begins with `what`, unless this is one of them.
void check_optimizer_kind(const std::string& kind, const std::string& what);

/// `masters` are the float32 weights of `parameters`; see AdamW. The configuration is checked.
std::unique_ptr<Optimizer> make_optimizer(const TrainConfig::Optimizer& config, TensorList parameters,
                                          TensorList masters);

}  // namespace cladtorch::train
