#include "cladtorch/train/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/command.h"
#include "apps/run_options.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/nn/layers.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/presets.h"
#include "cladtorch/train/trainer.h"
#include "cladtorch/train/training_run.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

constexpr int64_t most_ranks = 16384;
/// Longer sequences are planned where somebody asks for them.
constexpr int64_t usual_context = 8192;
constexpr double most_rate = 1e6;  // GB/s

struct Request {
  train::TrainRequest run;
  std::string model, device, tokens = "10B";
  bool measure = false, json = false;
  int64_t ranks = 1;
  std::optional<int64_t> per_node;
  std::optional<double> network, latency, jitter, mfu;
};

/// 1e10 for "10B"; nothing if the text is no number of at least 1.
std::optional<double> number_of_tokens(std::string text) {
  double factor = 1;
  constexpr std::pair<char, double> suffixes[] = {
      {'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
  for (const auto& [suffix, value] : suffixes)
    if (text.ends_with(suffix)) factor = value;
  if (factor != 1) text.pop_back();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fits =
      error == std::errc{} && end == text.data() + text.size() && value * factor >= 1 && value <= 1e18;
  return fits ? std::optional(value * factor) : std::nullopt;
}

CLI::Validator count_of_tokens() {
  return {[](const std::string& text) {
            return number_of_tokens(text) ? std::string()
                                          : "'" + text + "' is not a number of tokens, such as 300M or 10B";
          },
          ""};
}

/// The configuration, in which keys that nobody set have what a plan assumes.
struct Configured {
  train::TrainConfig config;
  std::vector<std::string> given;  ///< keys
  bool sets(const std::string& key) const { return std::ranges::find(given, key) != given.end(); }
};

Configured configure(const Request& request) {
  train::Settings settings;
  if (request.run.config) settings = train::read_settings(*request.run.config);
  for (const std::string& assignment : request.run.set) settings.push_back(train::parse_setting(assignment));
  Configured result;
  train::apply_settings(settings, result.config);
  for (const train::Setting& setting : settings) result.given.push_back(setting.key);
  train::TrainConfig& config = result.config;
  config.run.device = "cpu";  // no GPU computes a plan
  if (!result.sets("train.accumulate"))
    config.train.accumulate = std::max(request.ranks, config.train.leaves);
  if (config.lora.rank > 0 || !config.train.freeze.empty() || !config.train.train_only.empty())
    throw train::UsageError(
        "plan: it knows runs that train all of a model; leave out lora.rank, train.freeze and "
        "train.train_only");
  if (!result.sets("run.dtype") && !request.device.empty()) config.run.dtype = "bf16";
  if (config.run.dtype == "fp8")
    throw train::UsageError("plan: --dtype is 'fp8'; expected fp32, or bf16, which takes the same memory");
  return result;
}

/// Its numbers are not there.
std::unique_ptr<LanguageModel> model_of(const Request& request, Configured& configured) {
  const nn::SkipInitialization only_sizes;
  train::TrainConfig& config = configured.config;
  const std::string name = request.model.empty() ? config.model.from : request.model;
  if (name.empty()) {
    train::check_config(config);
    const data::Vocabulary vocabulary(config.data.vocabulary);
    const data::Dataset data =
        config.data.text.empty()
            ? data::stories_dataset(static_cast<size_t>(config.data.story_bytes), 1, vocabulary)
            : data::open_dataset(config.data.text, vocabulary);
    return train::make_model(config, data.tokenizer->vocab_size());
  }
  const int64_t asked = configured.sets("model.context") ? config.model.context : 0;
  const bool is_folder = std::filesystem::is_directory(name);
  std::unique_ptr<LanguageModel> model =
      is_folder ? formats::model_without_weights(
                      std::filesystem::exists(std::filesystem::path(name) / "config.json")
                          ? std::filesystem::path(name)
                          : train::find_checkpoint(name))
                : train::preset_model(name, asked, "plan: --model is no folder, and");
  const int64_t longest = model->sizes().context;
  if (asked > longest)
    throw train::UsageError(fmt::format(
        "plan: --context is {}, but the model in '{}' takes at most {} tokens", asked, name, longest));
  config.model.context = asked > 0 ? asked : std::min(longest, usual_context);
  model->set_gradient_checkpointing(config.model.gradient_checkpointing);
  train::check_config(config);
  return model;
}

train::PlanMachine machine_of(const Request& request, const LanguageModel& model,
                              const train::TrainConfig& config) {
  const DType dtype = train::precision_from_string(config.run.dtype).dtype;
  train::PlanMachine machine;
  if (!request.device.empty()) {
    machine = train::published_machine(request.device, dtype);
  } else {
    const int64_t per_node = request.per_node.value_or(1);
    const int64_t share = std::max<int64_t>(1, num_threads() / per_node);
    const int64_t threads = config.run.threads > 0 ? config.run.threads : share;
    machine = train::measured_machine(model, config, static_cast<int>(threads), per_node);
  }
  if (request.per_node) machine.per_node = *request.per_node;
  if (request.network) machine.network = 1e9 * *request.network;
  if (request.latency) machine.latency = 1e-6 * *request.latency;
  if (request.jitter) machine.jitter = 0.01 * *request.jitter;
  if (request.mfu) machine.peak_share = 0.01 * *request.mfu;
  return machine;
}

int run(const Request& request) {
  Configured configured = configure(request);
  const std::unique_ptr<LanguageModel> model = model_of(request, configured);
  const train::TrainConfig& config = configured.config;
  const auto ranks = static_cast<int>(request.ranks);
  train::TrainConfig resolved = config;
  train::resolve_leaves(resolved, ranks);  // throws before anything is measured
  const std::vector<train::Plan> plans =
      train::make_plans(*model, config, ranks, machine_of(request, *model, config));
  const double tokens = *number_of_tokens(request.tokens);
  if (request.json) {
    nlohmann::ordered_json json = train::plan_json(plans.back(), tokens);
    json["scaling"] = train::scaling_json(plans, tokens);
    fmt::print("{}\n", json.dump());
    return 0;
  }
  fmt::print("{}", train::plan_text(plans.back(), tokens));
  if (ranks > 1) fmt::print("\n{}", train::to_text(train::scaling_table(plans, tokens)));
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("plan", "Predict memory and speed of training on many ranks, by formulas");
  const auto request = std::make_shared<Request>();
  const auto add = [&](const char* name, auto& value, const std::string& type, const std::string& help) {
    return command->add_option(name, value, help)->type_name(type);
  };
  add("--model", request->model, "NAME|FOLDER",
      fmt::format("{}, or the folder of a model (default: what the configuration describes)",
                  fmt::join(train::preset_names(), ", ")));
  add_config_options(command, request->run,
                     {"train.batch", "model.context", "train.leaves", "run.dtype", "run.threads"});
  add("--ranks", request->ranks, "N", "processes that train together")
      ->check(whole_number(1, most_ranks))
      ->capture_default_str();
  CLI::Option* device =
      add("--device", request->device, fmt::format("{}", fmt::join(train::published_machines(), "|")),
          "plan for this accelerator, by its published figures");
  command
      ->add_flag("--machine", request->measure,
                 "plan for machines like this one, which is measured (the default)")
      ->excludes(device);
  add("--per-node", request->per_node, "N", "ranks in one node (default: 8 of a device, or 1)")
      ->check(whole_number(1, most_ranks));
  add("--network", request->network, "GB/S",
      "what a rank sends to other nodes (default: 80 % of the device's adapter, or 1.1, a 10-Gigabit "
      "Ethernet)")
      ->check(number_between(1e-6, most_rate));
  add("--latency", request->latency, "US",
      "microseconds that a message takes (default: 5 for a device, or 30)")
      ->check(number_between(0, 1e6));
  add("--jitter", request->jitter, "PERCENT", "how much the computing time of ranks deviates (default: 1)")
      ->check(number_between(0, 100));
  add("--mfu", request->mfu, "PERCENT",
      "what one rank reaches of the peak (default: 40 for a device, or what is measured)")
      ->check(number_between(0.01, 100));
  add("--tokens", request->tokens, "N", "length of the run whose time is shown")
      ->check(count_of_tokens())
      ->capture_default_str();
  command->add_flag("--json", request->json, "print one JSON object instead of a table");
  command->callback([=, &action] { action = [=] { return run(*request); }; });
}

}  // namespace cladtorch::apps
