#include "cladtorch/formats/state_dict.h"

#include <set>
#include <string_view>
#include <utility>

#include "cladtorch/io/conversion.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/quote.h"
#include "cladtorch/tensor/factories.h"
#include "formats/values.h"

namespace cladtorch {
namespace {

/// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i ? ", " : "") + shortened(names[i]);
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

/// That the stored tensor can become the parameter.
void check(const io::StoredTensor& stored, const NamedTensor& parameter, const std::filesystem::path& path) {
  const auto& [name, tensor] = parameter;
  const Shape shape(std::span<const int64_t>(stored.shape));
  require(shape == tensor.shape(), "load '", path.string(), "': '", name, "' is ", shape,
          ", but the model's is ", tensor.shape());
  const io::StoredType expected = formats::stored_type(tensor.dtype());
  require(stored.type == expected || (is_floating(tensor.dtype()) && io::converts_to_float32(stored.type)),
          "load '", path.string(), "': '", name, "' is ", io::stored_name(stored.type),
          ", which does not convert to the model's ", io::stored_name(expected));
}

/// Whether the name's last part is num_batches_tracked.
bool counts_batches(std::string_view name) {
  return name.substr(name.rfind('.') + 1) == "num_batches_tracked";
}

void check_names(const LoadResult& result, const std::filesystem::path& path) {
  if (result.missing.empty() && result.unexpected.empty()) return;
  std::string differences;
  if (!result.missing.empty()) differences += " it has no " + listed(result.missing) + ";";
  if (!result.unexpected.empty()) differences += " the model has no " + listed(result.unexpected) + ";";
  fail("load '", path.string(), "': the names differ:", differences,
       " load(path, model, {.strict = false}) takes what both have");
}

}  // namespace

void save(const std::vector<NamedTensor>& parameters, const std::filesystem::path& path) {
  std::vector<io::TensorEntry> entries;
  for (const auto& [name, tensor] : parameters) {
    entries.push_back(
        {name, formats::stored_type(tensor.dtype()), {tensor.shape().begin(), tensor.shape().end()}});
  }
  formats::StoredBytes bytes;
  const auto data = [&](size_t i) { return bytes.of(parameters[i].tensor.to(Device{}), entries[i].type); };
  io::write_safetensors(path, entries, data, {{"format", "pt"}});
}

LoadResult load(const std::filesystem::path& path, const std::vector<NamedTensor>& parameters,
                const LoadOptions& options) {
  const io::SafetensorsFile file(path);
  LoadResult result;
  std::set<std::string> known;
  for (const NamedTensor& parameter : parameters) {
    known.insert(parameter.name);
    const auto found = file.tensors().find(parameter.name);
    if (found == file.tensors().end()) {
      result.missing.push_back(parameter.name);
    } else {
      check(found->second, parameter, path);
    }
  }
  for (const auto& [name, stored] : file.tensors())
    if (!known.contains(name)) (counts_batches(name) ? result.ignored : result.unexpected).push_back(name);
  if (options.strict) check_names(result, path);

  for (const auto& [name, tensor] : parameters) {
    const auto found = file.tensors().find(name);
    if (found == file.tensors().end()) continue;
    Tensor values =
        tensor.is_cuda() || !tensor.is_contiguous() ? empty(tensor.shape(), tensor.dtype()) : tensor;
    formats::read_values(found->second, false, values, "load '" + path.string() + "': '" + name + "'");
    if (!values.shares_storage_with(tensor)) Tensor(tensor).copy_from(values);
  }
  return result;
}

}  // namespace cladtorch
