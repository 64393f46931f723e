#include "cladtorch/train/config.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <charconv>
#include <cmath>
#include <sstream>

#include "cladtorch/data/dataset.h"
#include "cladtorch/data/loader.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/schedule.h"
#include "cladtorch/train/suggest.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::train {
namespace {

const ConfigField& find_field(const std::vector<ConfigField>& fields, const std::string& key,
                              const std::string& where) {
  std::vector<std::string> known;
  for (const ConfigField& field : fields) {
    if (field.key == key) return field;
    known.push_back(field.key);
  }
  throw UsageError(fmt::format("{}: unknown key '{}'{}", where, key, suggestion(key, known)));
}

[[noreturn]] void wrong_type(const ConfigField& field, const std::string& where, const std::string& got) {
  const char* expected[] = {"an integer", "a number", "a string"};
  throw UsageError(
      fmt::format("{}: {} expects {}, got {}", where, field.key, expected[field.value.index()], got));
}

void assign(const ConfigField& field, const toml::node& node, const std::string& where) {
  std::ostringstream shown;
  node.visit([&](const auto& value) { shown << value; });
  if (auto* const* integer = std::get_if<int64_t*>(&field.value)) {
    if (!node.is_integer()) wrong_type(field, where, shown.str());
    **integer = *node.value<int64_t>();
  } else if (auto* const* number = std::get_if<double*>(&field.value)) {
    if (!node.is_number()) wrong_type(field, where, shown.str());
    **number = *node.value<double>();
  } else {
    if (!node.is_string()) wrong_type(field, where, shown.str());
    *std::get<std::string*>(field.value) = *node.value<std::string>();
  }
}

template <class T>
void parse(const ConfigField& field, const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    wrong_type(field, "--set", "'" + text + "'");
  }
}

void expect(bool condition, const std::string& message) {
  if (!condition) throw UsageError("config: " + message);
}

std::string section_of(const std::string& key) { return key.substr(0, key.find('.')); }

}  // namespace

std::vector<ConfigField> config_fields(TrainConfig& c) {
  return {
      {"run.name", "name of the run; empty: stories, or the name of the text", &c.run.name},
      {"run.out", "folder of the run; empty: runs/<name>", &c.run.out},
      {"run.seed", "seed of initialization, shuffling, dropout and samples", &c.run.seed},
      {"run.threads", "threads; 0: all cores", &c.run.threads},
      {"run.device", "cpu", &c.run.device},
      {"run.dtype", "fp32", &c.run.dtype},
      {"data.text", "text file, folder of them, or prepared tokens; empty: built-in stories", &c.data.text},
      {"data.vocabulary", "char or byte", &c.data.vocabulary},
      {"data.sampling", "shuffled_windows or random_offsets", &c.data.sampling},
      {"data.story_bytes", "size of the built-in text", &c.data.story_bytes},
      {"model.layers", "transformer blocks", &c.model.layers},
      {"model.heads", "attention heads; must divide channels", &c.model.heads},
      {"model.channels", "width of the residual stream", &c.model.channels},
      {"model.context", "tokens the model looks back, the sequence length in training", &c.model.context},
      {"model.dropout", "probability of dropping an activation in training", &c.model.dropout},
      {"optimizer.lr", "peak learning rate", &c.optimizer.lr},
      {"optimizer.beta1", "decay of the first moment", &c.optimizer.beta1},
      {"optimizer.beta2", "decay of the second moment", &c.optimizer.beta2},
      {"optimizer.eps", "added to the root of the second moment", &c.optimizer.eps},
      {"optimizer.weight_decay", "decoupled decay of matrices", &c.optimizer.weight_decay},
      {"optimizer.clip", "largest global gradient norm; 0: no clipping", &c.optimizer.clip},
      {"schedule.kind", "constant, linear, cosine or wsd", &c.schedule.kind},
      {"schedule.warmup", "steps of linear warm-up", &c.schedule.warmup},
      {"schedule.min_lr", "learning rate at the end", &c.schedule.min_lr},
      {"schedule.decay_fraction", "wsd: part of the run that decays", &c.schedule.decay_fraction},
      {"train.steps", "optimizer updates", &c.train.steps},
      {"train.batch", "sequences per micro-batch", &c.train.batch},
      {"train.accumulate", "micro-batches per update", &c.train.accumulate},
      {"train.eval_every", "steps between evaluations", &c.train.eval_every},
      {"train.eval_batches", "batches per evaluation; 0: all of the validation text", &c.train.eval_batches},
      {"train.eval_prefix", "part of each validation window that is read but not scored",
       &c.train.eval_prefix},
      {"train.save_every", "steps between saves of last/; 0: at evaluations", &c.train.save_every},
      {"train.log_every", "steps between lines when the output is no terminal", &c.train.log_every},
      {"train.max_minutes", "shorten the run to fit this time; 0: no limit", &c.train.max_minutes},
      {"sample.count", "samples at the end", &c.sample.count},
      {"sample.tokens", "tokens per sample", &c.sample.tokens},
      {"sample.prompt", "text that samples begin with", &c.sample.prompt},
      {"sample.temperature", "0: most likely token", &c.sample.temperature},
      {"sample.top_k", "sample among the k most likely; 0: all", &c.sample.top_k},
      {"sample.top_p", "sample among the most likely that reach this probability", &c.sample.top_p},
  };
}

void read_config(TrainConfig& config, const std::filesystem::path& path) {
  const std::string where = path.string();
  toml::table parsed;
  try {
    parsed = toml::parse(io::read_file(path), where);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: {}", where, error.source().begin.line, error.description()));
  }
  const auto fields = config_fields(config);
  for (const auto& [section, content] : parsed) {
    const std::string name(section.str());
    const auto* table = content.as_table();
    if (table == nullptr) {
      find_field(fields, name, where);  // no key is without a section, so this throws with the closest one
    }
    for (const auto& [key, value] : *table) {
      const std::string at = fmt::format("{}:{}", where, value.source().begin.line);
      assign(find_field(fields, name + "." + std::string(key.str()), at), value, at);
    }
  }
}

void set_config(TrainConfig& config, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) {
    throw UsageError(fmt::format("--set expects section.key=value, got '{}'", assignment));
  }
  const auto fields = config_fields(config);
  const ConfigField& field = find_field(fields, assignment.substr(0, equals), "--set");
  const std::string text = assignment.substr(equals + 1);
  if (auto* const* integer = std::get_if<int64_t*>(&field.value)) {
    parse(field, text, **integer);
  } else if (auto* const* number = std::get_if<double*>(&field.value)) {
    parse(field, text, **number);
  } else {
    *std::get<std::string*>(field.value) = text;
  }
}

void check_config(const TrainConfig& c) {
  TrainConfig copy = c;
  for (const ConfigField& field : config_fields(copy)) {
    if (auto* const* integer = std::get_if<int64_t*>(&field.value)) {
      expect(**integer >= 0, fmt::format("{} is {}, expected 0 or more", field.key, **integer));
    }
    if (auto* const* number = std::get_if<double*>(&field.value)) {
      expect(std::isfinite(**number) && **number >= 0,
             fmt::format("{} is {}, expected 0 or more", field.key, **number));
    }
  }
  const std::pair<const char*, int64_t> counts[] = {
      {"model.layers", c.model.layers},         {"model.heads", c.model.heads},
      {"model.channels", c.model.channels},     {"model.context", c.model.context},
      {"train.steps", c.train.steps},           {"train.batch", c.train.batch},
      {"train.accumulate", c.train.accumulate}, {"train.eval_every", c.train.eval_every},
      {"train.log_every", c.train.log_every},   {"data.story_bytes", c.data.story_bytes}};
  for (const auto& [key, value] : counts) expect(value > 0, fmt::format("{} is 0, expected 1 or more", key));
  expect(
      c.model.channels % c.model.heads == 0,
      fmt::format("model.heads = {} does not divide model.channels = {}", c.model.heads, c.model.channels));
  expect(c.model.dropout < 1, fmt::format("model.dropout is {}, expected less than 1", c.model.dropout));
  expect(c.optimizer.beta1 < 1,
         fmt::format("optimizer.beta1 is {}, expected less than 1", c.optimizer.beta1));
  expect(c.optimizer.beta2 < 1,
         fmt::format("optimizer.beta2 is {}, expected less than 1", c.optimizer.beta2));
  expect(c.optimizer.eps > 0, "optimizer.eps is 0, expected a positive number");
  expect(c.schedule.min_lr <= c.optimizer.lr,
         fmt::format("schedule.min_lr = {} is above optimizer.lr = {}", c.schedule.min_lr, c.optimizer.lr));
  expect(c.schedule.decay_fraction <= 1, "schedule.decay_fraction is above 1");
  expect(c.train.eval_prefix < 1,
         fmt::format("train.eval_prefix is {}, expected less than 1", c.train.eval_prefix));
  expect(c.sample.top_p > 0 && c.sample.top_p <= 1,
         fmt::format("sample.top_p is {}, expected 0 to 1", c.sample.top_p));
  expect(c.run.threads <= 1024, fmt::format("run.threads is {}, expected at most 1024", c.run.threads));
  expect(c.run.device == "cpu", fmt::format("run.device is '{}', expected cpu", c.run.device));
  expect(c.run.dtype == "fp32", fmt::format("run.dtype is '{}', expected fp32", c.run.dtype));
  try {
    schedule_kind_from_string(c.schedule.kind);
    data::vocabulary_from_string(c.data.vocabulary);
    data::sampling_from_string(c.data.sampling);
  } catch (const Error& error) {
    throw UsageError(std::string("config: ") + error.what());
  }
}

std::string config_toml(const TrainConfig& config) {
  TrainConfig copy = config;
  std::string text, section;
  for (const ConfigField& field : config_fields(copy)) {
    if (section_of(field.key) != section) {
      section = section_of(field.key);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    toml::array value;
    std::visit([&](auto* pointer) { value.push_back(*pointer); }, field.value);
    std::ostringstream shown;
    value[0].visit([&](const auto& node) { shown << node; });
    text += fmt::format("{} = {}  # {}\n", field.key.substr(section.size() + 1), shown.str(), field.help);
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
