// The optimizer that a configuration names.
#pragma once

#include <memory>

#include "cladtorch/train/config.h"
#include "cladtorch/train/optimizer.h"

namespace cladtorch::train {

/// Values of optimizer.kind.
inline constexpr const char* optimizer_kinds[] = {"adamw", "muon", "sgd"};

/// `masters` are the float32 weights of `parameters`; see AdamW. The configuration is checked.
std::unique_ptr<Optimizer> make_optimizer(const TrainConfig::Optimizer& config, TensorList parameters,
                                          TensorList masters);

}  // namespace cladtorch::train
