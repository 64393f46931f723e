#include "cladtorch/formats/hugging_face.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "cladtorch/formats/peft.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/safetensors_folder.h"
#include "cladtorch/quote.h"
#include "formats/hugging_face/architecture.h"
#include "formats/hugging_face/extras.h"
#include "formats/peft/names.h"
#include "formats/values.h"

namespace cladtorch::formats {
namespace fs = std::filesystem;
namespace {

constexpr const char* config_file = "config.json";

/// Keys that say how a model is kept or trained, not which it is.
constexpr const char* free_keys[] = {"dtype",      "torch_dtype", "resid_pdrop",      "embd_pdrop",
                                     "attn_pdrop", "use_cache",   "attention_dropout"};

const char* dtype_name(io::StoredType type) {
  switch (type) {
    case io::StoredType::f16:
      return "float16";
    case io::StoredType::bf16:
      return "bfloat16";
    case io::StoredType::f64:
      return "float64";
    default:
      return "float32";
  }
}

/// A folder that holds a model, its config read and its kind known.
struct Folder {
  fs::path path;
  std::string config_path;
  io::Json config;
  const Architecture* architecture;

  explicit Folder(const fs::path& folder)
      : path(folder),
        config_path((folder / config_file).string()),
        config(io::read_json(config_path)),
        architecture(
            &architecture_of(io::json_field<std::string>(config, "model_type", config_path), config_path)) {
    const auto quantized = config.find("quantization_config");
    require(quantized == config.end() || quantized->is_null(), "read '", config_path,
            "': quantization_config says that the weights are quantized, which is not implemented; take the "
            "folder that they were quantized from, or save it with transformers' dequantize()");
  }

  std::unique_ptr<LanguageModel> make(DType dtype) const {
    const nn::SkipInitialization weights_come_from_the_file;
    return architecture->make(config, config_path, dtype);
  }
};

/// Refuses a configuration far larger than the file before memory is asked for.
void check_size(double described, const io::StoredTensors& file) {
  double stored = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    stored += static_cast<double>(io::element_count(tensor));
  }
  require(described <= 4 * stored + 1e6, "read '", file.path().string(), "': it holds ", stored,
          " numbers, but config.json describes a model of ", described, "; is it another model's file?");
}

/// Finds the stored tensors of a model's parameters and notes which were asked for.
class Parameters {
 public:
  Parameters(const Architecture& architecture, const io::StoredTensors& file)
      : architecture_(architecture), file_(file) {}

  void read_into(const NamedTensor& parameter, bool tied) {
    const std::string stored_name = architecture_.stored_name(parameter.name);
    const auto* found = find(stored_name);
    // A tied tensor may have been stored under its other name only.
    if (found == nullptr && tied && parameter.name == architecture_.embedding) found = find(head_name);
    require(found != nullptr, "read '", file_.path().string(), "': there is no tensor ",
            in_quotes(stored_name), "; is it another model's file?");
    Tensor values = parameter.tensor;
    read_values(found->second, architecture_.stored_transposed(parameter.name), values,
                "read '" + file_.path().string() + "': '" + found->first + "'");
  }

  /// Throws Error unless all of the file was asked for, but for what is known to be there twice.
  void check_rest(const LanguageModel& model, bool tied) {
    if (tied) check_tied();
    for (const auto& [name, stored] : file_.tensors()) {
      require(used_.contains(name) || architecture_.redundant(name), "read '", file_.path().string(),
              "': it holds the tensor ", in_quotes(name), ", which a ", model.type(), " of ",
              describe(model.sizes()), " does not have; is it another model's file?");
    }
  }

 private:
  using Entry = std::pair<const std::string, io::StoredTensor>;

  const Entry* find(const std::string& name) {
    const std::string& prefix = architecture_.prefix;
    for (const std::string& candidate :
         {name, name.starts_with(prefix) ? name.substr(prefix.size()) : name}) {
      const auto found = file_.tensors().find(candidate);
      if (found == file_.tensors().end()) continue;
      used_.insert(candidate);
      return &*found;
    }
    return nullptr;
  }

  /// Some versions store a tied tensor under both names.
  void check_tied() {
    const auto* head = find(head_name);
    if (head == nullptr) return;
    const auto* table = find(architecture_.stored_name(architecture_.embedding));
    require(table == nullptr || (table->second.data.size() == head->second.data.size() &&
                                 std::memcmp(table->second.data.data(), head->second.data.data(),
                                             head->second.data.size()) == 0),
            "read '", file_.path().string(), "': '", head_name, "' differs from the embeddings, but ",
            config_file, " ties them; expected ", tied_key, " to be false");
  }

  const Architecture& architecture_;
  const io::StoredTensors& file_;
  std::set<std::string> used_;
};

void read_parameters(const Folder& folder, const io::StoredTensors& file, LanguageModel& model) {
  Parameters parameters(*folder.architecture, file);
  const std::vector<NamedTensor> list = model.parameters();
  bool tied = true;
  for (const NamedTensor& parameter : list) tied = tied && parameter.name != head_name;
  for (const NamedTensor& parameter : list) parameters.read_into(parameter, tied);
  parameters.check_rest(model, tied);
}

/// What transformers asks of the metadata.
const std::map<std::string, std::string> pytorch_layout = {{"format", "pt"}};

/// The parameters of a model as its file names and lays them out, made one at a time.
class ParametersToStore {
 public:
  explicit ParametersToStore(const LanguageModel& model, const SaveOptions& options = {})
      : architecture_(architecture_of(model.type(), config_file)),
        parameters_(model.parameters()),
        options_(options) {}

  std::vector<io::TensorEntry> entries() const {
    std::vector<io::TensorEntry> result;
    for (const auto& [name, tensor] : parameters_) {
      std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
      if (architecture_.stored_transposed(name)) std::reverse(shape.begin(), shape.end());
      result.push_back({stored_name(name), type_of(name, tensor), std::move(shape)});
    }
    return result;
  }

  io::TensorData data() {
    return [this](size_t index) {
      const auto& [name, tensor] = parameters_[index];
      return bytes_.of(tensor, type_of(name, tensor), architecture_.stored_transposed(name));
    };
  }

 private:
  std::string stored_name(const std::string& name) const {
    return is_lora_parameter(name) ? stored_adapter_name(architecture_, name)
                                   : architecture_.stored_name(name);
  }
  io::StoredType type_of(const std::string& name, const Tensor& tensor) const {
    const auto found = options_.types.find(stored_name(name));
    if (found != options_.types.end()) return found->second;
    return options_.type.value_or(stored_type(tensor.dtype()));
  }

  const Architecture& architecture_;
  std::vector<NamedTensor> parameters_;
  SaveOptions options_;
  StoredBytes bytes_;
};

std::unique_ptr<LanguageModel> load_without_adapter(const fs::path& path, DType dtype) {
  const Folder folder(path);
  const io::SafetensorsFolder file(path);
  check_size(folder.architecture->numbers(folder.config, folder.config_path), file);
  std::unique_ptr<LanguageModel> model = folder.make(dtype);
  read_parameters(folder, file, *model);
  return model;
}

/// The configuration of `model` without the keys that may differ.
io::Json identity(const LanguageModel& model) {
  io::Json config = config_json(model);
  for (const char* key : free_keys) config.erase(key);
  return config;
}

}  // namespace

const Architecture& architecture_of(const std::string& type, const std::string& where) {
  std::string names;
  for (const Architecture* architecture : {&gpt2_architecture, &llama_architecture}) {
    for (const std::string& known : architecture->types) {
      if (known == type) return *architecture;
      names += (names.empty() ? "" : ", ") + known;
    }
  }
  fail("read '", where, "': model_type is ", in_quotes(type), ", which is not implemented; known are ",
       names);
}

bool holds_model(const fs::path& folder) {
  return io::SafetensorsFolder::exists(folder) || holds_adapter(folder);
}

fs::path base_folder(const fs::path& folder) {
  if (!holds_adapter(folder)) return folder;
  const std::string base = adapter_base(folder);
  require(io::SafetensorsFolder::exists(base), "read '", folder.string(), "': it holds an adapter of ",
          in_quotes(base),
          ", which is not a folder with a model.safetensors; name that with --from and this with --adapter");
  return base;
}

std::unique_ptr<LanguageModel> load_model(const fs::path& path, DType dtype) {
  const fs::path base = base_folder(path);
  std::unique_ptr<LanguageModel> model = load_without_adapter(base, dtype);
  if (holds_adapter(path)) load_adapter(path, model);
  return model;
}

std::unique_ptr<LanguageModel> model_without_weights(const fs::path& folder) {
  return Folder(folder).make(DType::float32);
}

std::string difference(const fs::path& path, const LanguageModel& model) {
  const Folder folder(path);
  const io::Json expected = identity(model);
  // Only the keys are compared; a model of absurd size must not be made for that.
  if (folder.architecture->numbers(folder.config, folder.config_path) >
      4 * static_cast<double>(model.parameter_count()) + 1e6)
    return "the model is far smaller";
  const io::Json found = identity(*folder.make(model.dtype()));
  for (const auto& [key, value] : expected.items()) {
    if (found.contains(key) && found[key] == value) continue;
    return fmt::format("{} is {}, but the model has {}", key,
                       found.contains(key) ? found[key].dump() : "absent", value.dump());
  }
  return {};
}

void load_parameters(const fs::path& path, LanguageModel& model) {
  const Folder folder(path);
  const io::SafetensorsFolder file(path);
  const std::string differs = difference(path, model);
  require(differs.empty(), "read '", folder.config_path, "': ", differs, "; is it another model's folder?");
  read_parameters(folder, file, model);
}

std::string stored_name(const LanguageModel& model, const std::string& parameter) {
  return architecture_of(model.type(), config_file).stored_name(parameter);
}

void save_parameters(const LanguageModel& model, const fs::path& file) {
  ParametersToStore parameters(model);
  io::write_safetensors(file, parameters.entries(), parameters.data(), pytorch_layout);
}

void save_model(const LanguageModel& model, const fs::path& folder, const SaveOptions& options) {
  require(!has_lora(model), "save: the model has adapters; merge them into it, or save the adapter alone");
  io::Json config = config_json(model);
  if (options.type) config["torch_dtype"] = dtype_name(*options.type);
  if (options.extras != nullptr) {
    config = with_keys_of(options.extras->config, config);
    for (const auto& [name, content] : options.extras->files) io::write_file(folder / name, content);
  }
  ParametersToStore parameters(model, options);
  io::write_safetensors_folder(folder, parameters.entries(), parameters.data(), pytorch_layout,
                               options.shard_bytes);
  io::write_json(folder / config_file, config);
}

io::Json config_json(const LanguageModel& model) {
  io::Json config = architecture_of(model.type(), config_file).config(model);
  config["torch_dtype"] =
      dtype_name(stored_type(model.dtype()));  // which newer versions call dtype, and read as both
  return config;
}

}  // namespace cladtorch::formats
