#include "cladtorch/train/adapter.h"

#include <fmt/format.h>
#include <zlib.h>

#include <vector>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/formats/peft.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch::train {
namespace {

std::vector<NamedTensor> base_parameters(const LanguageModel& model) {
  std::vector<NamedTensor> parameters = model.parameters();
  std::erase_if(parameters, [](const NamedTensor& p) { return is_lora_parameter(p.name); });
  return parameters;
}

std::vector<std::string> adapter_names(const LanguageModel& model) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : model.parameters()) {
    if (is_lora_parameter(parameter.name)) names.push_back(parameter.name);
  }
  return names;
}

/// A layer's name in the model for its whole name in files, "transformer.h.0.attn.c_attn"; others as they
/// are.
std::string own_name(LanguageModel& model, const std::string& target) {
  for (const NamedLinear& linear : model.linear_layers()) {
    if (formats::stored_name(model, linear.name + ".weight") == target + ".weight") return linear.name;
  }
  return target;
}

uint32_t checksum(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  return static_cast<uint32_t>(
      ::crc32_z(0, static_cast<const unsigned char*>(std::as_const(dense).data()), dense.nbytes()));
}

/// FNV-1a.
uint64_t mixed(uint64_t hash, std::string_view text) {
  for (const unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::optional<AdapterRun> adapter_run(const TrainConfig& config) {
  const TrainConfig::Lora& lora = config.lora;
  if (lora.rank == 0) return {};
  const double alpha = lora.alpha > 0 ? lora.alpha : 2 * static_cast<double>(lora.rank);
  return AdapterRun{.lora = {.rank = lora.rank,
                             .alpha = alpha,
                             .dropout = lora.dropout,
                             .use_rslora = lora.use_rslora,
                             .targets = split_list(lora.targets)},
                    .base = config.model.from};
}

void adapt(std::unique_ptr<LanguageModel>& model, const LoRAConfig& lora, uint64_t seed) {
  LoRAConfig config = lora;
  for (std::string& target : config.targets) target = own_name(*model, target);
  add_lora(model, config, seed);
  for (NamedTensor& parameter : base_parameters(*model)) parameter.tensor.set_frozen(true);
}

void restore_adapter(const std::filesystem::path& checkpoint, const LoRAConfig& lora,
                     std::unique_ptr<LanguageModel>& model) {
  const std::vector<std::string> expected = adapter_names(*model);
  remove_lora(model);
  const LoRAConfig found = formats::load_adapter(checkpoint, model);
  require(found.rank == lora.rank && found.scale() == lora.scale(), "resume '", checkpoint.string(),
          "': its adapter has rank ", found.rank, " and scale ", found.scale(), ", the configuration ",
          lora.rank, " and ", lora.scale());
  require(adapter_names(*model) == expected, "resume '", checkpoint.string(),
          "': its adapter belongs to other layers than the configuration names");
  for (const NamedLinear& linear : model->linear_layers())
    linear.lora->lora_dropout.probability = lora.dropout;
}

std::string base_fingerprint(const LanguageModel& model) {
  const std::vector<NamedTensor> parameters = base_parameters(model);
  std::vector<uint32_t> sums(parameters.size());
  parallel_for(static_cast<int64_t>(sums.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      sums[i] = checksum(parameters[i].tensor);
  });
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < sums.size(); ++i)
    hash =
        mixed(hash, fmt::format("{} {} {:08x}\n", parameters[i].name, parameters[i].tensor.numel(), sums[i]));
  return fmt::format("{:016x}", hash);
}

}  // namespace cladtorch::train
