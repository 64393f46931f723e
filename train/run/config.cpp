#include "cladtorch/train/config.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "cladtorch/data/dataset.h"
#include "cladtorch/data/loader.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/nn/transformer.h"
#include "cladtorch/quote.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/schedule.h"
#include "cladtorch/train/suggest.h"
#include "cladtorch/train/usage_error.h"
#include "data/text/utf8.h"
#include "train/run/unknown_key.h"
#include "train/step/make_optimizer.h"

namespace cladtorch::train {
namespace {

/// Far beyond any run, and small enough that products of the numbers of a configuration do not overflow.
constexpr int64_t most_steps = 1'000'000'000'000;

std::vector<std::string> keys_of(const std::vector<ConfigField>& fields) {
  std::vector<std::string> keys;
  for (const ConfigField& field : fields) keys.push_back(field.key);
  return keys;
}

const ConfigField& find_field(const std::vector<ConfigField>& fields, const std::string& key,
                              const std::string& where) {
  for (const ConfigField& field : fields) {
    if (field.key == key) return field;
  }
  throw UsageError(
      fmt::format("{}: unknown key {}{}", where, in_quotes(key), unknown_key_hint(key, keys_of(fields))));
}

[[noreturn]] void wrong_type(const ConfigField& field, const std::string& where, const std::string& got) {
  const char* expected[] = {"an integer", "a number", "true or false", "a string"};
  throw UsageError(
      fmt::format("{}{} expects {}, got {}", where, field.key, expected[field.value.index()], got));
}

Setting setting_of(const ConfigField& field, const toml::node& node, const std::string& where) {
  std::ostringstream shown;
  node.visit([&](const auto& value) { shown << value; });
  const auto require_type = [&](bool is_right) {
    if (!is_right) wrong_type(field, where + ": ", shortened(shown.str()));
  };
  if (std::holds_alternative<int64_t*>(field.value)) {
    require_type(node.is_integer());
    return {field.key, *node.value<int64_t>()};
  }
  if (std::holds_alternative<double*>(field.value)) {
    require_type(node.is_number());
    return {field.key, *node.value<double>()};
  }
  if (std::holds_alternative<bool*>(field.value)) {
    require_type(node.is_boolean());
    return {field.key, *node.value<bool>()};
  }
  require_type(node.is_string());
  return {field.key, *node.value<std::string>()};
}

template <class T>
T parse(const ConfigField& field, const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) wrong_type(field, "", in_quotes(text));
  return value;
}

void expect(bool condition, const std::string& message) {
  if (!condition) throw UsageError("config: " + message);
}

/// What a key's value must be, whatever the other keys are.
void check_field(const ConfigField& field) {
  const bool limited = field.most < std::numeric_limits<int64_t>::max();
  const std::string range =
      limited ? fmt::format("{} to {}", field.least, field.most) : fmt::format("{} or more", field.least);
  if (auto* const* integer = std::get_if<int64_t*>(&field.value)) {
    expect(**integer >= field.least && **integer <= field.most,
           fmt::format("{} is {}, expected {}", field.key, **integer, range));
  } else if (auto* const* number = std::get_if<double*>(&field.value)) {
    expect(std::isfinite(**number) && **number >= static_cast<double>(field.least) &&
               (!limited || **number <= static_cast<double>(field.most)),
           fmt::format("{} is {}, expected {}", field.key, **number, range));
  } else if (auto* const* text = std::get_if<std::string*>(&field.value)) {
    expect(data::utf8::is_valid(**text),
           fmt::format("{} is not UTF-8, as config.toml must be; choose another name", field.key));
  }
}

std::string toml_value(bool value) { return value ? "true" : "false"; }
std::string toml_value(int64_t value) { return std::to_string(value); }

/// The fewest digits that read back as the same number.
std::string toml_value(double value) {
  const std::string digits = fmt::format("{}", value);
  return digits.find_first_not_of("-0123456789") == std::string::npos ? digits + ".0" : digits;
}

/// On one line. (toml++ 3.3 loses a newline at the beginning.)
std::string toml_value(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text + "\"";
}

std::string section_of(const std::string& key) { return key.substr(0, key.find('.')); }

}  // namespace

std::vector<ConfigField> config_fields(TrainConfig& c) {
  return {
      {"run.name", "name of the run; empty: stories, or the name of the text", &c.run.name},
      {"run.out", "folder of the run; empty: runs/<name>", &c.run.out},
      {"run.seed", "seed of initialization, shuffling, dropout and samples", &c.run.seed},
      {"run.threads", "threads; 0: all cores", &c.run.threads, 0, most_threads},
      {"run.device", "where to compute: cpu, cuda or cuda:N", &c.run.device},
      {"run.dtype",
       "number format of the computation: fp32, bf16, or fp8 (bf16, with linear layers in 8 bits)",
       &c.run.dtype},
      {"data.text", "text file, folder of text files, or prepared tokens; empty: the built-in stories",
       &c.data.text},
      {"data.vocabulary", "char, byte, or the file or folder of a tokenizer", &c.data.vocabulary},
      {"data.sampling", "shuffled_windows or random_offsets", &c.data.sampling},
      {"data.packing", "packed, or documents: no window crosses the end of a document", &c.data.packing},
      {"data.story_bytes", "size of the built-in text", &c.data.story_bytes, 1, 1'000'000'000},
      {"model.kind", "gpt2, llama or mistral", &c.model.kind},
      {"model.layers", "transformer blocks", &c.model.layers, 1, 10'000},
      {"model.heads", "attention heads; must divide channels", &c.model.heads, 1, 1'000'000},
      {"model.kv_heads",
       "llama, mistral: heads of keys and values, which several heads share; 0: as many as heads",
       &c.model.kv_heads, 0, 1'000'000},
      {"model.channels", "width of the residual stream", &c.model.channels, 1, 1'000'000},
      {"model.hidden", "width of the MLP; 0: four times channels, or two thirds of that for llama, mistral",
       &c.model.hidden, 0, 10'000'000},
      {"model.context", "tokens the model looks back, the sequence length in training", &c.model.context, 0,
       1'000'000},
      {"model.window", "mistral: positions that attention looks back; 0: all", &c.model.window, 0, 1'000'000},
      {"model.rope_theta", "llama, mistral: base of the rotary embedding's wavelengths", &c.model.rope_theta},
      {"model.activation", "gpt2: nonlinearity of the MLP, gelu_new, gelu, relu or silu",
       &c.model.activation},
      {"model.tied", "whether the output layer shares the table of token embeddings", &c.model.tied},
      {"model.dropout", "gpt2: probability of dropping an activation in training", &c.model.dropout},
      {"model.gradient_checkpointing",
       "compute each block again in the backward pass, which takes less memory",
       &c.model.gradient_checkpointing},
      {"model.from", "folder of a model to continue training, which gives kind and sizes; empty: a new model",
       &c.model.from},
      {"lora.rank", "train LoRA adapters of this rank instead of the model; 0: the model", &c.lora.rank, 0,
       1 << 20},
      {"lora.alpha", "scale adapters by alpha / rank; 0: twice the rank", &c.lora.alpha},
      {"lora.dropout", "probability of dropping an input of an adapter in training", &c.lora.dropout},
      {"lora.targets",
       "layers that get an adapter, separated by commas, or all-linear; empty: c_attn or q_proj,v_proj",
       &c.lora.targets},
      {"lora.use_rslora", "scale adapters by alpha / sqrt(rank) instead of alpha / rank", &c.lora.use_rslora},
      {"optimizer.kind", optimizer_kind_choices(), &c.optimizer.kind},
      {"optimizer.lr", "peak learning rate", &c.optimizer.lr},
      {"optimizer.beta1", "decay of the first moment: of adamw, adam, adamax, nadam, radam, muon and lion",
       &c.optimizer.beta1},
      {"optimizer.beta2", "decay of the second moment: of the same, and of Lion's only one",
       &c.optimizer.beta2},
      {"optimizer.eps", "added to the root that divides: of all but sgd and lion", &c.optimizer.eps},
      {"optimizer.weight_decay", "decay of matrices", &c.optimizer.weight_decay},
      {"optimizer.momentum", "muon, sgd: decay of the momentum", &c.optimizer.momentum},
      {"optimizer.nesterov", "muon, sgd: step from where the momentum leads", &c.optimizer.nesterov},
      {"optimizer.alpha", "rmsprop: decay of the mean square", &c.optimizer.alpha},
      {"optimizer.rmsprop_momentum", "rmsprop: decay of the momentum; 0: none",
       &c.optimizer.rmsprop_momentum},
      {"optimizer.centered", "rmsprop: divide by the deviation of the gradient", &c.optimizer.centered},
      {"optimizer.lr_decay", "adagrad: the learning rate is divided by 1 + lr_decay * updates",
       &c.optimizer.lr_decay},
      {"optimizer.initial_accumulator_value", "adagrad: where the sum of squares starts",
       &c.optimizer.initial_accumulator_value},
      {"optimizer.momentum_decay", "nadam: how fast its momentum reaches beta1", &c.optimizer.momentum_decay},
      {"optimizer.clip", "largest global gradient norm; 0: no clipping", &c.optimizer.clip},
      {"schedule.kind", "constant, linear, cosine, wsd, step, exponential or one_cycle", &c.schedule.kind},
      {"schedule.warmup", "steps of warm-up", &c.schedule.warmup, 0, most_steps},
      {"schedule.min_lr", "learning rate at the end", &c.schedule.min_lr},
      {"schedule.decay_fraction", "wsd: share of the run over which the learning rate falls",
       &c.schedule.decay_fraction},
      {"schedule.step_size", "step: updates after which the learning rate falls", &c.schedule.step_size, 1,
       most_steps},
      {"schedule.gamma", "step: what the learning rate is multiplied by then", &c.schedule.gamma},
      {"train.steps", "optimizer updates", &c.train.steps, 1, most_steps},
      {"train.batch", "sequences per micro-batch", &c.train.batch, 1, 100'000},
      {"train.accumulate", "micro-batches per update", &c.train.accumulate, 1, 100'000},
      {"train.leaves", "groups of micro-batches that ranks share; 0: as few as the ranks need",
       &c.train.leaves, 0, 100'000},
      {"train.eval_every", "steps between evaluations", &c.train.eval_every, 1, most_steps},
      {"train.eval_batches", "batches per evaluation; 0: all of the validation text", &c.train.eval_batches,
       0, most_steps},
      {"train.eval_prefix", "share of each validation window that is read but not scored",
       &c.train.eval_prefix},
      {"train.save_every", "steps between saves of last/; 0: at evaluations", &c.train.save_every, 0,
       most_steps},
      {"train.log_every", "steps between lines when the output is not a terminal", &c.train.log_every, 1,
       most_steps},
      {"train.max_minutes", "shorten the run to fit this time; 0: no limit", &c.train.max_minutes, 0,
       1'000'000'000},
      {"train.patience", "stop after this many evaluations without a lower loss; 0: never", &c.train.patience,
       0, most_steps},
      {"train.freeze", "parameters that are not trained: globs, separated by commas", &c.train.freeze},
      {"train.train_only", "the only parameters that are trained: globs; empty: all", &c.train.train_only},
      {"distributed.zero",
       "what ranks share of the memory: 0 nothing, 1 the optimizer's state, 2 also the gradients",
       &c.distributed.zero, 0, 2},
      {"distributed.overlap", "send gradients while the backward pass computes the rest",
       &c.distributed.overlap},
      {"distributed.bucket_mb", "megabytes of gradients that ranks exchange at once",
       &c.distributed.bucket_mb},
      {"distributed.timeout", "seconds that a rank waits for another before all end", &c.distributed.timeout,
       1, 1'000'000},
      {"log.tensorboard", "write TensorBoard event files into the folder of the run", &c.log.tensorboard},
      {"log.scalars_every", "steps between TensorBoard's points; 0: a thousandth of the run",
       &c.log.scalars_every, 0, most_steps},
      {"log.histograms_every", "steps between TensorBoard's histograms of weights and gradients; 0: none",
       &c.log.histograms_every, 0, most_steps},
      {"log.samples", "draw a sample for TensorBoard at every evaluation", &c.log.samples},
      {"sample.count", "samples at the end", &c.sample.count, 0, 1'000},
      {"sample.tokens", "tokens per sample", &c.sample.tokens, 0, 1'000'000},
      {"sample.prompt", "text that samples begin with", &c.sample.prompt},
      {"sample.temperature", "randomness of the choice of tokens; 0: always the most likely",
       &c.sample.temperature},
      {"sample.top_k", "choose among the k most likely tokens; 0: all", &c.sample.top_k},
      {"sample.top_p", "choose among the most likely tokens that together reach this probability",
       &c.sample.top_p},
  };
}

std::string meant_config_key(std::string_view name) {
  TrainConfig config;
  return meant_key(name, keys_of(config_fields(config)));
}

TrainConfig finetune_defaults(bool adapter) {
  TrainConfig config;
  config.data.vocabulary.clear();  // that of the model
  config.model.context = 0;
  config.optimizer = {.lr = adapter ? 2e-4 : 5e-5,
                      .beta1 = 0.9,
                      .beta2 = 0.999,
                      .eps = 1e-8,
                      .weight_decay = 0.0,
                      .clip = 1.0};
  config.schedule = {.kind = "cosine", .warmup = 10, .min_lr = 0.0};
  config.train.steps = 500;
  config.train.batch = 4;
  config.train.eval_every = 50;
  config.train.eval_batches = 20;
  config.train.eval_prefix = 0.0;
  config.train.log_every = 10;
  config.train.max_minutes = 0;
  config.train.patience = 3;
  config.sample.tokens = 100;
  return config;
}

Settings read_settings(const std::filesystem::path& path) {
  const std::string where = path.string();
  toml::table parsed;
  try {
    parsed = toml::parse(io::read_file(path), where);
  } catch (const toml::parse_error& error) {
    throw UsageError(
        fmt::format("{}:{}: {}", where, error.source().begin.line, shortened(error.description(), 200)));
  }
  TrainConfig any;
  const auto fields = config_fields(any);
  Settings settings;
  for (const auto& [section, content] : parsed) {
    const std::string name(section.str());
    const auto* table = content.as_table();
    if (table == nullptr) {
      find_field(fields, name, where);
      throw UsageError(
          fmt::format("{}: {} must stand in its section, not in quotes", where, in_quotes(name)));
    }
    for (const auto& [key, value] : *table) {
      const std::string at = fmt::format("{}:{}", where, value.source().begin.line);
      settings.push_back(setting_of(find_field(fields, name + "." + std::string(key.str()), at), value, at));
    }
  }
  return settings;
}

Setting parse_setting(const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("--set expects section.key=value, got {}", in_quotes(assignment)));
  }
  TrainConfig any;
  const auto fields = config_fields(any);
  const ConfigField& field = find_field(fields, assignment.substr(0, equals), "--set");
  const std::string text = assignment.substr(equals + 1);
  if (std::holds_alternative<int64_t*>(field.value)) return {field.key, parse<int64_t>(field, text)};
  if (std::holds_alternative<double*>(field.value)) return {field.key, parse<double>(field, text)};
  if (std::holds_alternative<std::string*>(field.value)) return {field.key, text};
  if (text != "true" && text != "false") wrong_type(field, "", in_quotes(text));
  return {field.key, text == "true"};
}

void apply_settings(const Settings& settings, TrainConfig& config) {
  const auto fields = config_fields(config);
  for (const Setting& setting : settings) {
    const ConfigField& field = find_field(fields, setting.key, "config");
    std::visit([&]<class T>(const T& value) { *std::get<T*>(field.value) = value; }, setting.value);
  }
}

int64_t hidden_size(const TrainConfig::Model& model) {
  if (model.hidden > 0) return model.hidden;
  if (model.kind == "gpt2") return 4 * model.channels;
  constexpr int64_t multiple = 32;
  return (8 * model.channels + 3 * multiple - 1) / (3 * multiple) * multiple;
}

namespace {

/// The keys of [model] that not every kind of model has.
void check_model(const TrainConfig::Model& model) {
  expect(model.kind == "gpt2" || model.kind == "llama" || model.kind == "mistral",
         fmt::format("model.kind is {}, expected gpt2, llama or mistral", in_quotes(model.kind)));
  expect(model.channels % model.heads == 0,
         fmt::format("model.heads = {} does not divide model.channels = {}", model.heads, model.channels));
  expect(model.window == 0 || model.kind == "mistral",
         fmt::format("model.window is {}, but a {} has no window; expected model.kind mistral", model.window,
                     model.kind));
  if (model.kind == "gpt2") {
    expect(model.kv_heads == 0 || model.kv_heads == model.heads,
           fmt::format("model.kv_heads is {}, but in a gpt2 each head has its own keys; expected 0",
                       model.kv_heads));
    expect(nn::activation_named(model.activation).has_value(),
           fmt::format("model.activation is {}, expected gelu_new, gelu, relu or silu",
                       in_quotes(model.activation)));
    return;
  }
  expect(model.kv_heads == 0 || model.heads % model.kv_heads == 0,
         fmt::format("model.kv_heads = {} does not divide model.heads = {}", model.kv_heads, model.heads));
  expect(model.channels / model.heads % 2 == 0,
         fmt::format(
             "model.channels / model.heads is {}, expected an even number, as rotary embeddings rotate pairs",
             model.channels / model.heads));
  expect(model.activation == TrainConfig::Model{}.activation,
         fmt::format("model.activation is {}, but the MLP of a {} has its own, silu; leave it out",
                     in_quotes(model.activation), model.kind));
  expect(model.rope_theta > 0, "model.rope_theta is 0, expected a positive number");
  expect(model.dropout == 0,
         fmt::format("model.dropout is {}, but a {} has no dropout; expected 0", model.dropout, model.kind));
}

}  // namespace

void check_config(const TrainConfig& c) {
  TrainConfig copy = c;
  for (const ConfigField& field : config_fields(copy)) check_field(field);
  expect(c.run.name.find('/') == std::string::npos && c.run.name != "." && c.run.name != "..",
         fmt::format("run.name is '{}', expected a name without '/'; run.out takes a path", c.run.name));
  expect(c.model.context > 0 || !c.model.from.empty(), "model.context is 0, expected 1 or more");
  if (c.model.from.empty()) check_model(c.model);
  check_optimizer_kind(c.optimizer.kind, "config: optimizer.kind");
  expect(c.optimizer.kind == "adamw" || c.run.device == "cpu",
         fmt::format("optimizer.kind = {} runs on the CPU only; set run.device=cpu or optimizer.kind=adamw",
                     c.optimizer.kind));
  expect(c.train.leaves == 0 || c.train.accumulate % c.train.leaves == 0,
         fmt::format("train.leaves is {}, expected a divisor of train.accumulate = {}", c.train.leaves,
                     c.train.accumulate));
  expect(c.distributed.bucket_mb > 0 && c.distributed.bucket_mb <= 65536,
         fmt::format("distributed.bucket_mb is {}, expected more than 0 and at most 65536",
                     c.distributed.bucket_mb));
  expect(c.optimizer.eps > 0, "optimizer.eps is 0, expected a positive number");
  expect(c.schedule.min_lr <= c.optimizer.lr,
         fmt::format("schedule.min_lr = {} is above optimizer.lr = {}", c.schedule.min_lr, c.optimizer.lr));
  expect(c.schedule.min_lr > 0 || c.schedule.kind != "exponential",
         "schedule.min_lr is 0, which an exponential schedule never comes to; expected a positive number");
  for (const auto& [key, value] : {std::pair{"schedule.decay_fraction", c.schedule.decay_fraction},
                                   {"schedule.gamma", c.schedule.gamma}})
    expect(value <= 1, fmt::format("{} is {}, expected at most 1", key, value));
  expect(c.sample.top_p > 0 && c.sample.top_p <= 1,
         fmt::format("sample.top_p is {}, expected more than 0 and at most 1", c.sample.top_p));
  expect(c.lora.rank == 0 || !c.model.from.empty(), "lora.rank needs a model to adapt: model.from");
  expect(c.lora.rank > 0 || (c.lora.alpha == 0 && c.lora.dropout == 0 && c.lora.targets.empty()),
         "lora.alpha, lora.dropout and lora.targets belong to an adapter; set lora.rank too");
  expect(c.lora.rank == 0 || (c.train.freeze.empty() && c.train.train_only.empty()),
         "lora.rank trains adapters alone; leave out train.freeze and train.train_only");
  const std::pair<const char*, double> shares[] = {
      {"model.dropout", c.model.dropout},
      {"lora.dropout", c.lora.dropout},
      {"optimizer.beta1", c.optimizer.beta1},
      {"optimizer.beta2", c.optimizer.beta2},
      {"optimizer.momentum", c.optimizer.momentum},
      {"optimizer.alpha", c.optimizer.alpha},
      {"optimizer.rmsprop_momentum", c.optimizer.rmsprop_momentum},
      {"train.eval_prefix", c.train.eval_prefix}};
  for (const auto& [key, value] : shares) {
    expect(value < 1, fmt::format("{} is {}, expected less than 1", key, value));
  }
  device_from_name(c.run.device, "config: run.device");
  precision_from_string(c.run.dtype, "config: run.dtype");
  try {
    schedule_kind_from_string(c.schedule.kind);
    // A resumed run takes the tokenizer of the model from its checkpoint.
    if (c.model.from.empty() || c.data.vocabulary != c.model.from) data::Vocabulary{c.data.vocabulary};
    data::sampling_from_string(c.data.sampling);
    data::packing_from_string(c.data.packing);
  } catch (const Error& error) {
    throw UsageError(std::string("config: ") + error.what());
  }
  expect(c.data.packing == "packed" || c.data.sampling == "shuffled_windows",
         "data.packing = 'documents' needs data.sampling = 'shuffled_windows'");
}

/// The smallest divisor of `number` that is not below `least`; `number` itself is not.
static int64_t divisor_from(int64_t least, int64_t number) {
  while (number % least != 0) ++least;
  return least;
}

void resolve_leaves(TrainConfig& config, int ranks) {
  TrainConfig::Train& train = config.train;
  if (ranks > train.accumulate) {
    const int64_t sequences = train.batch * train.accumulate;
    const std::string ours =
        fmt::format("{} ranks need {} micro-batches per update, but train.accumulate is {}", ranks, ranks,
                    train.accumulate);
    if (ranks > sequences)
      throw UsageError(
          fmt::format("{}, of {} sequences; start at most {} ranks", ours, train.batch, sequences));
    const int64_t accumulate = divisor_from(ranks, sequences);
    throw UsageError(fmt::format("{}; train.accumulate={} train.batch={} is the same batch", ours, accumulate,
                                 sequences / accumulate));
  }
  if (train.leaves == 0) train.leaves = ranks == 1 ? 1 : divisor_from(ranks, train.accumulate);
  if (ranks > train.leaves)
    throw UsageError(fmt::format(
        "{} ranks need train.leaves of {} or more, but this run has {}, on which its numbers depend; "
        "start {}, or a new run",
        ranks, ranks, train.leaves,
        train.leaves == 1 ? "one process" : fmt::format("at most {} ranks", train.leaves)));
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> result;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const size_t first = list.find_first_not_of(' ', begin);
    if (first < end) result.push_back(list.substr(first, list.find_last_not_of(' ', end - 1) + 1 - first));
    begin = end + 1;
  }
  return result;
}

Device device_from_name(const std::string& name, const std::string& where) {
  try {
    const Device device = device_from_string(name);
    require_available(device);
    return device;
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", where, error.what()));
  }
}

DType dtype_from_string(const std::string& name, const std::string& where) {
  if (name == "fp32") return DType::float32;
  if (name == "bf16") return DType::bfloat16;
  throw UsageError(fmt::format("{} is {}, expected fp32 or bf16", where, in_quotes(name)));
}

Precision precision_from_string(const std::string& name, const std::string& where) {
  if (name == "fp32") return {DType::float32};
  if (name == "bf16") return {DType::bfloat16};
  if (name == "fp8") return {DType::bfloat16, true};
  throw UsageError(fmt::format("{} is {}, expected fp32, bf16 or fp8", where, in_quotes(name)));
}

std::string config_toml(const TrainConfig& config) {
  TrainConfig copy = config;
  std::string text, section;
  for (const ConfigField& field : config_fields(copy)) {
    if (section_of(field.key) != section) {
      section = section_of(field.key);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    const std::string value = std::visit([](auto* pointer) { return toml_value(*pointer); }, field.value);
    text += fmt::format("{} = {}  # {}\n", field.key.substr(section.size() + 1), value, field.help);
  }
  return text;
}

nlohmann::ordered_json config_json(const TrainConfig& config) {
  TrainConfig copy = config;
  nlohmann::ordered_json json;
  for (const ConfigField& field : config_fields(copy)) {
    const std::string section = section_of(field.key);
    std::visit([&](auto* pointer) { json[section][field.key.substr(section.size() + 1)] = *pointer; },
               field.value);
  }
  return json;
}

}  // namespace cladtorch::train
