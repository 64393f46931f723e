// The configuration of a training run, as TOML on disk and key=value on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::train {

/// The keys are explained in docs/training.md and by `cladtorch train --help`; the defaults train the
/// built-in stories.
struct TrainConfig {
  struct Run {
    std::string name;  // "" means "stories" or the name of the text
    std::string out;   // "" means runs/<name>
    int64_t seed = 1;
    int64_t threads = 0;  // 0 means all cores
    std::string device = "cpu";
    std::string dtype = "fp32";
  } run;
  struct Data {
    std::string text;  // "" means the built-in stories
    std::string vocabulary = "char";
    std::string sampling = "shuffled_windows";
    std::string packing = "packed";
    int64_t story_bytes = 2'000'000;
  } data;
  struct Model {
    std::string kind = "gpt2";
    int64_t layers = 4;
    int64_t heads = 4;
    int64_t kv_heads = 0;  // 0 means as many as heads
    int64_t channels = 128;
    int64_t hidden = 0;  // 0 means what hidden_size() says
    int64_t context = 128;
    int64_t window = 0;
    double rope_theta = 10000;
    std::string activation = "gelu_new";
    bool tied = true;
    double dropout = 0.0;
    bool gradient_checkpointing = false;
    std::string from = {};  // folder of a model to start from; "" means a new one
  } model;
  struct Lora {
    int64_t rank = 0;  // 0 means that the model itself is trained
    double alpha = 0;  // 0 means twice the rank
    double dropout = 0.0;
    std::string targets;  // separated by commas; "" means PEFT's for the model
    bool use_rslora = false;
  } lora;
  struct Optimizer {
    std::string kind = "adamw";
    double lr = 4e-3;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double eps = 1e-8;
    double weight_decay = 0.1;
    double momentum = 0.95;
    bool nesterov = true;
    double alpha = 0.99;
    double rmsprop_momentum = 0;
    bool centered = false;
    double lr_decay = 0;
    double initial_accumulator_value = 0;
    double momentum_decay = 4e-3;
    double clip = 1.0;
  } optimizer;
  struct ScheduleKeys {
    std::string kind = "cosine";
    int64_t warmup = 100;
    double min_lr = 1e-4;
    double decay_fraction = 0.2;
    int64_t step_size = 1000;
    double gamma = 0.1;
  } schedule;
  struct Train {
    int64_t steps = 4500;
    int64_t batch = 8;
    int64_t accumulate = 1;
    int64_t leaves = 0;  // 0 means 1, or as few as the ranks need
    int64_t eval_every = 300;
    int64_t eval_batches = 40;
    double eval_prefix = 0.5;
    int64_t save_every = 0;
    int64_t log_every = 100;
    double max_minutes = 4.75;
    int64_t patience = 0;  // 0 means no early stopping
    std::string freeze;
    std::string train_only;
  } train;
  struct Distributed {
    int64_t zero = 1;       // what ranks share: 0 nothing, 1 the optimizer, 2 also the gradients
    bool overlap = true;    // send gradients during the backward pass
    double bucket_mb = 32;  // of gradients that are sent at once
    int64_t timeout = 300;  // seconds
  } distributed;
  struct Log {
    bool tensorboard = true;
    int64_t scalars_every = 0;  // 0 means a thousandth of the run
    int64_t histograms_every = 0;
    bool samples = false;
  } log;
  struct Sample {
    int64_t count = 3;
    int64_t tokens = 400;
    std::string prompt;
    double temperature = 0.8;
    int64_t top_k = 0;
    double top_p = 1.0;
  } sample;
};

/// The defaults of `cladtorch finetune`: small steps, because the weights are good already, and larger ones
/// for an adapter, which starts at zero.
TrainConfig finetune_defaults(bool adapter = false);

/// One key: its dotted name, one line of help, where its value lives in a TrainConfig, and the range of a
/// number.
struct ConfigField {
  std::string key;
  std::string help;
  std::variant<int64_t*, double*, bool*, std::string*> value;
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};

/// Every key of `config`, in the order of the file. The pointers live as long as `config`.
std::vector<ConfigField> config_fields(TrainConfig& config);

/// The key that `name` stands for, whatever its section and case: 'lr', or as another program calls it
/// 'learning_rate' and 'learning-rate'. "" if there is none.
std::string meant_config_key(std::string_view name);

/// A key and its value.
struct Setting {
  std::string key;
  std::variant<int64_t, double, bool, std::string> value;
};
using Settings = std::vector<Setting>;

/// What the TOML file `path` names. Throws UsageError on bad syntax (with line), an unknown key (with the one
/// that was meant, or those of its section) or a value of the wrong type.
Settings read_settings(const std::filesystem::path& path);
/// "section.key=value" as it comes from --set. Throws UsageError like read_settings.
Setting parse_setting(const std::string& assignment);
/// Overwrites what the settings name; a later one replaces an earlier.
void apply_settings(const Settings& settings, TrainConfig& config);

inline void read_config(TrainConfig& config, const std::filesystem::path& path) {
  apply_settings(read_settings(path), config);
}
inline void set_config(TrainConfig& config, const std::string& assignment) {
  apply_settings({parse_setting(assignment)}, config);
}

/// Throws UsageError naming a key whose value is invalid: heads that do not divide channels, no steps, a
/// number out of its range, a name that is not UTF-8, and so on.
void check_config(const TrainConfig& config);

/// Replaces train.leaves = 0 by what so many ranks need. Throws UsageError, with settings of the same batch,
/// where there are more ranks than the micro-batches of an update can be shared by.
void resolve_leaves(TrainConfig& config, int ranks);

/// The parts of a value between commas, without spaces around them; empty parts are left out.
std::vector<std::string> split_list(const std::string& list);

/// Width of the MLP: model.hidden, or if that is 0, four times the channels for GPT-2, and two thirds of
/// that, rounded up to a multiple of 32, for the others, whose MLP has three matrices.
int64_t hidden_size(const TrainConfig::Model& model);

/// float32 for "fp32", bfloat16 for "bf16". Throws UsageError naming both, and `where`, for anything else.
DType dtype_from_string(const std::string& name, const std::string& where = "run.dtype");

/// The number formats of a run.
struct Precision {
  DType dtype = DType::float32;  ///< of parameters and activations
  bool float8 = false;           ///< whether linear layers multiply in 8 bits
};
/// The formats of dtype_from_string(), and for "fp8" bfloat16 with linear layers in 8 bits. Throws UsageError
/// for any other name.
Precision precision_from_string(const std::string& name, const std::string& where = "run.dtype");

/// "cpu", "cuda" or "cuda:N". Throws UsageError, with `where`, for any other name and for a device that does
/// not exist.
Device device_from_name(const std::string& name, const std::string& where = "run.device");

/// The file that read_config reads back into an equal config.
std::string config_toml(const TrainConfig& config);
nlohmann::ordered_json config_json(const TrainConfig& config);

}  // namespace cladtorch::train
