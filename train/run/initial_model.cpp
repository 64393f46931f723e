#include "train/run/initial_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/models/lora.h"
#include "cladtorch/nn/layers.h"
#include "cladtorch/train/freeze.h"
#include "cladtorch/train/trainer.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::train {
namespace {

/// Windows of a model whose context nobody chose: longer ones take memory by the length.
constexpr int64_t default_context = 256;

/// Makes the keys of [model] say what the model is.
void take_sizes(TrainConfig& config, const LanguageModel& model, const std::string& folder) {
  const ModelSizes sizes = model.sizes();
  config.model.kind = model.type();
  config.model.kv_heads = sizes.key_value_heads;
  config.model.window = sizes.window;
  config.model.layers = sizes.layers;
  config.model.heads = sizes.heads;
  config.model.channels = sizes.channels;
  if (const GPT2Config* gpt2 = config_if<GPT2Config>(model)) {
    config.model.hidden = gpt2->inner_size();
    config.model.tied = gpt2->tie_word_embeddings;
    config.model.dropout = gpt2->dropout;
    config.model.activation = nn::name_of(gpt2->activation);
  }
  if (const LlamaConfig* llama = config_if<LlamaConfig>(model)) {
    config.model.hidden = llama->intermediate_size;
    config.model.tied = llama->tie_word_embeddings;
    config.model.rope_theta = llama->rope.theta;
    config.model.dropout = 0;
    config.model.activation = nn::name_of(nn::Activation::silu);
  }
  if (config.model.context == 0) config.model.context = std::min(sizes.context, default_context);
  if (config.model.context > sizes.context)
    throw UsageError(fmt::format("config: model.context is {}, but the model in '{}' takes at most {} tokens",
                                 config.model.context, folder, sizes.context));
}

/// Whether `value` leaves the choice to the program.
bool chooses_nothing(const ConfigField& field) {
  const bool may =
      field.key == "model.context" || field.key == "model.kv_heads" || field.key == "model.hidden";
  return may && *std::get<int64_t*>(field.value) == 0;
}

/// Throws UsageError for one of the keys `given` that the model has otherwise: a model that is there keeps
/// its sizes, so the user would get another one than the one asked for.
void check_given(TrainConfig asked, TrainConfig found, const std::vector<std::string>& given,
                 const std::string& folder) {
  const auto text = [](const ConfigField& field) {
    return std::visit([](auto* pointer) { return fmt::format("{}", *pointer); }, field.value);
  };
  const std::vector<ConfigField> before = config_fields(asked), after = config_fields(found);
  for (size_t i = 0; i < before.size(); ++i) {
    if (std::ranges::find(given, before[i].key) == given.end() || chooses_nothing(before[i])) continue;
    if (text(before[i]) == text(after[i])) continue;
    throw UsageError(fmt::format("config: {} is {}, but that of the model in '{}' is {}; leave it out",
                                 before[i].key, text(before[i]), folder, text(after[i])));
  }
}

std::unique_ptr<LanguageModel> pretrained_model(TrainConfig& config, const std::vector<std::string>& given,
                                                const data::Dataset& data,
                                                const std::filesystem::path& folder) {
  std::unique_ptr<LanguageModel> model = formats::load_model(folder);
  const ModelSizes sizes = model->sizes();
  require(data.tokenizer->vocab_size() <= sizes.vocab_size, "train: the text has a tokenizer of ",
          data.tokenizer->vocab_size(), " tokens, but the model in '", folder.string(), "' only ",
          sizes.vocab_size, "; take the tokenizer of the model");
  require(!has_lora(*model), "train: '", folder.string(),
          "' holds an adapter; write the whole model with: cladtorch merge --from ", folder.string(),
          " --out FOLDER");
  const TrainConfig asked = config;
  take_sizes(config, *model, folder.string());
  check_given(asked, config, given, folder.string());
  model->set_gradient_checkpointing(config.model.gradient_checkpointing);
  return model;
}

}  // namespace

std::unique_ptr<LanguageModel> initial_model(TrainConfig& config, const std::vector<std::string>& given,
                                             const data::Dataset& data,
                                             const std::optional<std::filesystem::path>& checkpoint) {
  std::unique_ptr<LanguageModel> model;
  if (!config.model.from.empty()) {
    // Of an adapter the checkpoint holds nothing else.
    const bool whole = checkpoint && config.lora.rank == 0;
    model =
        pretrained_model(config, given, data, whole ? *checkpoint : std::filesystem::path(config.model.from));
    require(whole || std::isfinite(TensorList(model->parameters()).norm()), "train: the model in '",
            config.model.from, "' holds numbers that are not finite; is it damaged?");
  } else {
    std::optional<nn::SkipInitialization> skip;
    if (checkpoint) skip.emplace();
    model = make_model(config, data.tokenizer->vocab_size());
  }
  freeze_parameters(*model, {.freeze = config.train.freeze, .train_only = config.train.train_only});
  return model;
}

}  // namespace cladtorch::train
