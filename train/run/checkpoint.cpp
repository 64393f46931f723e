#include "cladtorch/train/checkpoint.h"

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "cladtorch/formats/peft.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/atomic_folder.h"
#include "cladtorch/io/json.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/quote.h"
#include "train/step/update.h"

namespace cladtorch::train {
namespace fs = std::filesystem;
namespace {

constexpr const char* optimizer_file = "optimizer.safetensors";
constexpr const char* float8_file = "float8.safetensors";
constexpr const char* float8_amax = "amax";
constexpr const char* state_file = "trainer_state.json";
/// The optimizer of checkpoints that do not name theirs.
constexpr const char* usual_optimizer = "AdamW";

/// float32 tensors that are written; `here` holds those that come from another device.
struct State {
  std::vector<std::pair<std::string, io::StoredTensor>> stored;
  std::vector<Tensor> here;

  void append(const std::string& name, const Tensor& values) {
    const Tensor tensor = here.emplace_back(values.to(Device{}));
    stored.push_back({name,
                      {io::StoredType::f32,
                       {tensor.shape().begin(), tensor.shape().end()},
                       {static_cast<const std::byte*>(tensor.data()), tensor.nbytes()}}});
  }
};

/// Reads elements begin to end - 1; the others stay as they are, and take no memory where nobody wrote them.
/// Elements of one tensor.
struct Range {
  int64_t begin, end;
};

/// Of each of the tensors of a state, those that an optimizer updates.
std::vector<std::vector<Range>> updated_elements(const Optimizer& optimizer, const TensorList& state) {
  std::vector<std::vector<Range>> ranges(state.size());
  // The state of some parameters alone, as of matrices, is whole.
  const bool whole = state.size() != optimizer.masters().size();
  for (const size_t i : whole ? state.all_pieces() : optimizer.share()) {
    const auto& [tensor, begin, end] = state.pieces()[i];
    std::vector<Range>& of_tensor = ranges[tensor];
    if (!of_tensor.empty() && of_tensor.back().end == begin)
      of_tensor.back().end = end;
    else
      of_tensor.push_back({begin, end});
  }
  return ranges;
}

void read_state(const io::SafetensorsFile& file, const std::string& name, Tensor values,
                const std::vector<Range>& ranges) {
  const io::StoredTensor& stored = file.at(name);
  const Shape shape(std::span<const int64_t>(stored.shape));
  require(stored.type == io::StoredType::f32 && shape == values.shape(), "read '", file.path().string(),
          "': ", in_quotes(name), " is ", io::stored_name(stored.type), " ", shape, ", expected F32 ",
          values.shape());
  if (ranges.empty()) return;
  if (ranges.front().begin > 0 || ranges.front().end < values.numel()) {
    take_fresh({&values});
    for (const auto& [begin, end] : ranges)
      std::memcpy(values.data<float>() + begin,
                  stored.data.data() + static_cast<size_t>(begin) * sizeof(float),
                  static_cast<size_t>(end - begin) * sizeof(float));
    return;
  }
  Tensor read = Tensor::empty(shape, DType::float32);
  std::memcpy(read.data(), stored.data.data(), stored.data.size());
  values.copy_from(read);
}

std::string stored_name(const OptimizerState& part, const NamedTensor& of) {
  return part.name + "." + of.name;
}

io::Json to_json(const TrainerState& state) {
  nlohmann::json loader = state.loader;
  io::Json json = {{"step", state.step},
                   {"steps", state.steps},
                   {"configured_steps", state.configured_steps},
                   {"best_step", state.best_step},
                   {"evaluations_since_best", state.evaluations_since_best},
                   {"tokens", state.tokens},
                   {"seconds", state.seconds},
                   {"train_tokens", state.train_tokens},
                   {"loader", loader}};
  if (!state.base_fingerprint.empty()) json["base_fingerprint"] = state.base_fingerprint;
  if (state.best_val) json["best_val"] = *state.best_val;
  if (state.val_loss) json["val_loss"] = *state.val_loss;
  if (state.first_val) json["first_val"] = *state.first_val;
  return json;
}

}  // namespace

formats::FolderExtras extras_of(const data::Tokenizer& tokenizer) {
  formats::FolderExtras extras;
  extras.files = tokenizer.files();
  const data::SpecialTokens& special = tokenizer.special_tokens();
  for (const auto& [key, token] : {std::pair{"bos_token_id", special.begin_of_text},
                                   {"eos_token_id", special.end_of_text},
                                   {"pad_token_id", special.padding}}) {
    if (token) extras.config[key] = *token;
  }
  return extras;
}

data::TokenizerPtr load_tokenizer(const fs::path& checkpoint, const LanguageModel& model) {
  data::TokenizerPtr tokenizer = data::load_tokenizer(checkpoint);
  require(tokenizer->vocab_size() <= model.sizes().vocab_size, "open '", checkpoint.string(),
          "': its tokenizer has ", tokenizer->vocab_size(), " tokens, but its model only ",
          model.sizes().vocab_size, "; is the tokenizer another model's?");
  return tokenizer;
}

void save_checkpoint(const fs::path& path, const LanguageModel& model, const Optimizer& optimizer,
                     const TrainerState& state, const formats::FolderExtras& extras,
                     const AdapterRun* adapter, const Float8Layers* float8, const WholeState& whole) {
  // Makes no parents: a run's folder that somebody removed must not come back with half of its files.
  io::AtomicFolder folder(path);
  const fs::path& fresh = folder.path();
  const std::unique_ptr<LanguageModel> here = model.to(Device{});
  if (adapter != nullptr) {
    formats::save_adapter(*here, adapter->lora, adapter->base.string(), fresh);
    for (const auto& [name, content] : extras.files) io::write_file(fresh / name, content);
  } else {
    formats::save_model(*here, fresh, {.extras = &extras});
  }
  std::vector<io::TensorEntry> entries;
  std::vector<std::pair<const TensorList*, size_t>> kept;
  for (const OptimizerState& part : optimizer.state())
    for (size_t i = 0; i < part.tensors->size(); ++i) {
      const NamedTensor& named = (*part.tensors)[i];
      entries.push_back({stored_name(part, named),
                         io::StoredType::f32,
                         {named.tensor.shape().begin(), named.tensor.shape().end()}});
      kept.emplace_back(part.tensors, i);
    }
  std::map<std::string, std::string> metadata = {{"steps", std::to_string(optimizer.steps())}};
  if (optimizer.name() != usual_optimizer) metadata["optimizer"] = optimizer.name();
  Tensor written;  // at the moment
  const auto values = [&](size_t index) {
    const auto& [list, tensor] = kept[index];
    written = (whole ? whole(*list, tensor) : (*list)[tensor].tensor).to(Device{});
    return std::span(static_cast<const std::byte*>(written.data()), written.nbytes());
  };
  io::write_safetensors(fresh / optimizer_file, entries, values, metadata);
  if (float8 != nullptr) {
    State remembered;
    remembered.append(float8_amax, float8->amax());
    io::write_safetensors(fresh / float8_file, remembered.stored, {});
  }
  io::write_json(fresh / state_file, to_json(state));
  folder.commit();
}

TrainerState load_trainer_state(const fs::path& checkpoint) {
  const std::string where = (checkpoint / state_file).string();
  const io::Json json = io::read_json(where);
  TrainerState state;
  const auto count = [&](const char* key) {
    const auto value = io::json_field<int64_t>(json, key, where);
    require(value >= 0, "read '", where, "': key '", key, "' is ", value,
            ", expected a number of at least 0");
    return value;
  };
  const auto count_if_there = [&](const char* key) { return json.contains(key) ? count(key) : 0; };
  state.step = count("step");
  state.steps = count("steps");
  state.configured_steps = count("configured_steps");
  state.best_step = count("best_step");
  require(state.best_step <= state.step, "read '", where, "': the best step ", state.best_step,
          " lies beyond step ", state.step);
  state.tokens = count_if_there("tokens");
  state.evaluations_since_best = count_if_there("evaluations_since_best");
  state.seconds = io::json_field<double>(json, "seconds", where);
  require(state.seconds >= 0, "read '", where, "': key 'seconds' is ", state.seconds,
          ", expected a number of at least 0");
  state.train_tokens = io::json_field<uint64_t>(json, "train_tokens", where);
  state.base_fingerprint = io::json_field_or<std::string>(json, "base_fingerprint", where, "");
  if (json.contains("best_val")) state.best_val = io::json_field<double>(json, "best_val", where);
  if (json.contains("val_loss")) state.val_loss = io::json_field<double>(json, "val_loss", where);
  if (json.contains("first_val")) state.first_val = io::json_field<double>(json, "first_val", where);
  const nlohmann::json loader = io::json_field<io::Json>(json, "loader", where);
  try {
    state.loader = loader.get<data::LoaderState>();
  } catch (const Error& error) {
    fail("read '", where, "': ", error.what());
  }
  return state;
}

void load_optimizer(const fs::path& checkpoint, Optimizer& optimizer) {
  const io::SafetensorsFile file(checkpoint / optimizer_file);
  const auto steps = file.metadata().find("steps");
  require(steps != file.metadata().end() &&
              steps->second.find_first_not_of("0123456789") == std::string::npos && !steps->second.empty() &&
              steps->second.size() < 19,
          "read '", file.path().string(), "': its metadata do not give the number of steps");
  const auto named = file.metadata().find("optimizer");
  const std::string written = named == file.metadata().end() ? usual_optimizer : named->second;
  require(written == optimizer.name(), "read '", file.path().string(), "': it is the state of ",
          in_quotes(written), ", not of ", optimizer.name(), "; a run keeps its optimizer.kind");
  size_t expected = 0;
  for (const OptimizerState& part : optimizer.state()) expected += part.tensors->size();
  require(file.tensors().size() == expected, "read '", file.path().string(), "': it holds ",
          file.tensors().size(), " tensors, but ", optimizer.name(), " keeps ", expected, " for the ",
          optimizer.masters().size(),
          " parameters that are trained; were train.freeze, train.train_only or optimizer.momentum changed?");
  for (const OptimizerState& part : optimizer.state()) {
    const std::vector<std::vector<Range>> ranges = updated_elements(optimizer, *part.tensors);
    for (size_t i = 0; i < part.tensors->size(); ++i) {
      const NamedTensor& values = (*part.tensors)[i];
      read_state(file, stored_name(part, values), values.tensor, ranges[i]);
    }
  }
  optimizer.set_steps(std::stoll(steps->second));
}

void load_float8(const fs::path& checkpoint, Float8Layers& float8) {
  if (!fs::exists(checkpoint / float8_file)) return;
  read_state(io::SafetensorsFile(checkpoint / float8_file), float8_amax, float8.amax(),
             {{0, float8.amax().numel()}});
}

fs::path find_checkpoint(const fs::path& path) {
  for (const fs::path& candidate : {path, path / "best", path / "last"}) {
    if (formats::holds_model(candidate)) return candidate;
  }
  require(fs::exists(path), "open '", path.string(),
          "': there is no such folder; expected a run or a checkpoint");
  fail("open '", path.string(),
       "': there is no model.safetensors or adapter_config.json in it, in best/ or in last/; expected a run "
       "or a checkpoint");
}

}  // namespace cladtorch::train
