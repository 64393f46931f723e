// The lines with which a training run introduces itself.
#pragma once

#include <string>

#include "cladtorch/data/dataset.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/run_record.h"
#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

/// Where the text is from, how much of it there is, and its entropy where that is known.
std::string describe_text(const TrainConfig& config, const data::Dataset& data);
/// "gpt2 (4 layers, 4 heads, 128 channels: 818k parameters)".
std::string describe_model(const LanguageModel& model);
/// "parameters 3.3 MB  gradients ...".
/// What would fit, where the activations of a step do not fit the memory of its CUDA device: the error that
/// is thrown then.
std::string describe_lack(const TrainConfig& config, Trainer& trainer, const MemoryUse& use);

std::string describe_memory(const MemoryUse& use);
/// "ranks   4 on 2 machines, 8 leaves: a rank sends its gradient once in each update"; and how to give them
/// more threads where they leave cores of this machine unused.
std::string describe_ranks(const TrainConfig& config, const comm::Communicator& ranks);
/// "train   295k of 124M parameters"; "" where all are trained.
std::string describe_trained(const Trainer& trainer);
/// A warning where an adapter's rank is above that of every matrix; "" elsewhere.
std::string describe_rank(const TrainConfig& config, const LanguageModel& model);
/// At the end of a run from weights that were there: what was trained, on how much and for how long.
std::string describe_finetuning(const RunRecord& run);
/// "1 thread", "2 threads".
std::string describe_threads();

}  // namespace cladtorch::train
