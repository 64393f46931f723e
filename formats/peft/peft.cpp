#include "cladtorch/formats/peft.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "cladtorch/io/conversion.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/quote.h"
#include "formats/peft/adapter_config.h"
#include "formats/peft/names.h"
#include "formats/values.h"

namespace cladtorch::formats {
namespace fs = std::filesystem;
namespace {

constexpr const char* weights_file = "adapter_model.safetensors";
constexpr const char* pickled_file = "adapter_model.bin";

io::SafetensorsFile open_weights(const fs::path& folder) {
  require(fs::exists(folder / weights_file) || !fs::exists(folder / pickled_file), "read '",
          (folder / pickled_file).string(),
          "': pickled adapters are not read; save it again with PEFT's default, safe_serialization");
  return io::SafetensorsFile(folder / weights_file);
}

/// An adapter in the file and the layer that it belongs to.
struct Match {
  NamedLinear linear;
  const io::StoredTensor *a, *b;
};

/// Which tensors of the file belong to which layer of the model.
class Adapter {
 public:
  Adapter(const io::SafetensorsFile& file, const AdapterConfig& config, LanguageModel& model)
      : file_(file),
        config_(config),
        architecture_(architecture_of(model.type(), file.path().string())),
        where_("read '" + file.path().string() + "': ") {
    for (const NamedLinear& linear : model.linear_layers()) match(linear);
    for (const auto& [name, stored] : file.tensors()) {
      require(used_.contains(name), where_, "it holds the tensor ", in_quotes(name),
              ", which is not an adapter of a ", model.type(), "'s linear layers; is it for another model?");
    }
    require(!matches_.empty(), where_, "it holds no adapter");
  }

  const std::vector<Match>& matches() const { return matches_; }

 private:
  void match(const NamedLinear& linear) {
    const std::string layer = stored_layer_name(architecture_, linear.name);
    const auto *a = find(layer + ".lora_A.weight"), *b = find(layer + ".lora_B.weight");
    require((a == nullptr) == (b == nullptr), where_, "of ", in_quotes(layer),
            " it holds only one of lora_A and lora_B, expected both");
    require(a != nullptr || !config_.expects(layer), where_, in_quotes(layer),
            " is one of target_modules, but has no lora_A and lora_B");
    if (a == nullptr) return;
    const int64_t out = linear.layer->weight.size(0), in = linear.layer->weight.size(1);
    check_shape(*a, {config_.lora.rank, in}, layer + ".lora_A.weight");
    check_shape(*b, {out, config_.lora.rank}, layer + ".lora_B.weight");
    matches_.push_back({linear, a, b});
  }

  /// PEFT's name begins with the model's prefix unless the adapted model had no head.
  const io::StoredTensor* find(const std::string& name) {
    const std::string& prefix = architecture_.prefix;
    for (const std::string& candidate :
         {name, name.starts_with(prefix) ? name.substr(prefix.size()) : name}) {
      const auto found = file_.tensors().find(adapter_prefix + candidate);
      if (found == file_.tensors().end()) continue;
      used_.insert(found->first);
      return &found->second;
    }
    return nullptr;
  }

  void check_shape(const io::StoredTensor& stored, const Shape& expected, const std::string& name) const {
    const Shape found(std::span<const int64_t>(stored.shape));
    require(found == expected, where_, in_quotes(name), " is ", found, ", expected ", expected,
            " for the model and r = ", config_.lora.rank);
    require(io::converts_to_float32(stored.type), where_, in_quotes(name), " is ",
            io::stored_name(stored.type), ", expected a floating type such as F32, F16 or BF16");
  }

  const io::SafetensorsFile& file_;
  const AdapterConfig& config_;
  const Architecture& architecture_;
  std::string where_;
  std::set<std::string> used_;
  std::vector<Match> matches_;
};

void require_finite(const Tensor& tensor, const std::string& where) {
  const Tensor values = tensor.to(DType::float32).contiguous();
  const float* begin = values.data<float>();
  require(std::all_of(begin, begin + values.numel(), [](float value) { return std::isfinite(value); }), where,
          " holds numbers that are not finite; is the file damaged?");
}

/// The layers of a model that have an adapter, and whether a target names just those.
struct AdaptedLayers {
  std::vector<std::string> names;
  std::vector<std::string> all;  ///< every layer with a weight

  explicit AdaptedLayers(const LanguageModel& model) {
    const auto layer_of = [](const std::string& parameter) {
      return parameter.substr(0, parameter.rfind('.'));
    };
    for (const NamedTensor& parameter : model.parameters()) {
      if (parameter.name.ends_with(".lora_A")) names.push_back(layer_of(parameter.name));
      if (parameter.name.ends_with(".weight")) all.push_back(layer_of(parameter.name));
    }
  }

  /// The last parts of the names where these mean the same layers, else the whole names in the file.
  std::vector<std::string> targets(const Architecture& architecture) const {
    std::set<std::string> ends;
    for (const std::string& name : names) ends.insert(name.substr(name.rfind('.') + 1));
    const std::vector<std::string> short_names(ends.begin(), ends.end());
    const auto meant = std::count_if(
        all.begin(), all.end(), [&](const std::string& name) { return is_lora_target(name, short_names); });
    if (meant == static_cast<int64_t>(names.size())) return short_names;
    std::vector<std::string> whole;
    for (const std::string& name : names) whole.push_back(stored_layer_name(architecture, name));
    return whole;
  }
};

}  // namespace

std::string stored_layer_name(const Architecture& architecture, const std::string& layer) {
  const std::string weight = architecture.stored_name(layer + ".weight");
  return weight.substr(0, weight.rfind('.'));
}

std::string stored_adapter_name(const Architecture& architecture, const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return adapter_prefix + stored_layer_name(architecture, parameter.substr(0, dot)) + parameter.substr(dot) +
         ".weight";
}

bool holds_adapter(const fs::path& folder) { return fs::is_regular_file(folder / adapter_config_file); }

std::string adapter_base(const fs::path& folder) { return read_adapter_config(folder).base; }

LoRAConfig load_adapter(const fs::path& folder, std::unique_ptr<LanguageModel>& model) {
  require(!has_lora(*model), "read '", folder.string(),
          "': the model has adapters already; merge them first");
  AdapterConfig config = read_adapter_config(folder);
  const io::SafetensorsFile file = open_weights(folder);
  std::unique_ptr<LanguageModel> adapted = model->with_lora_layers();
  const Adapter adapter(file, config, *adapted);
  const nn::SkipInitialization weights_come_from_the_file;
  Random unused;
  config.lora.targets.clear();
  for (const auto& [linear, a, b] : adapter.matches()) {
    nn::LoRALinear& layer = *linear.lora;
    layer.add_lora({.rank = config.lora.rank, .scale = config.lora.scale(), .dropout = config.lora.dropout},
                   unused);
    const std::string where = "read '" + file.path().string() + "': the adapter of '" + linear.name + "'";
    read_values(*a, false, layer.lora_A, where);
    read_values(*b, false, layer.lora_B, where);
    for (const Tensor& values : {layer.lora_A, layer.lora_B}) require_finite(values, where);
    config.lora.targets.push_back(linear.name);
  }
  model = std::move(adapted);
  return config.lora;
}

void save_adapter(const LanguageModel& model, const LoRAConfig& config, const std::string& base,
                  const fs::path& folder) {
  const Architecture& architecture = architecture_of(model.type(), adapter_config_file);
  const AdaptedLayers layers(model);
  require(!layers.names.empty(), "save: the model has no adapter");
  std::vector<io::TensorEntry> entries;
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : model.parameters()) {
    if (!is_lora_parameter(name)) continue;
    const int64_t rank = tensor.size(name.ends_with(".lora_A") ? 0 : 1);
    require(rank == config.rank, "save: ", in_quotes(name), " has rank ", rank, ", the configuration ",
            config.rank);
    entries.push_back({stored_adapter_name(architecture, name),
                       stored_type(tensor.dtype()),
                       {tensor.shape().begin(), tensor.shape().end()}});
    tensors.push_back(tensor);
  }
  StoredBytes bytes;
  io::write_safetensors(folder / weights_file, entries,
                        [&](size_t index) { return bytes.of(tensors[index], entries[index].type); },
                        {{"format", "pt"}});
  AdapterConfig written{.lora = config, .base = base};
  written.lora.targets = layers.targets(architecture);
  written.fan_in_fan_out = architecture.stored_transposed(layers.names.front() + ".weight");
  write_adapter_config(folder, written);
}

}  // namespace cladtorch::formats
