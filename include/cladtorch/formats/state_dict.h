// A model of your own in a file: its parameters by name, in the safetensors format.
#pragma once

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "cladtorch/nn/parameters.h"

namespace cladtorch {

struct LoadOptions {
  /// Whether the names in the file must be those of the model.
  bool strict = true;
};

/// The names that only one side has, each in its own order: `missing` and `unexpected` are empty where strict
/// is on.
struct LoadResult {
  std::vector<std::string> missing;     ///< parameters that the file does not hold; they keep their values
  std::vector<std::string> unexpected;  ///< tensors of the file that are none of the parameters
  /// The same of the name num_batches_tracked, which are allowed: PyTorch's layers of BatchNorm count batches
  /// in them, and nothing here needs that.
  std::vector<std::string> ignored;
};

/// Writes the tensors atomically: where that fails, what was there before is still there. Each keeps its
/// dtype; a tensor on a device is copied from there. Throws Error naming the file.
void save(const std::vector<NamedTensor>& parameters, const std::filesystem::path& path);

/// Copies the file's tensors into the storage of `parameters`, converted to their dtypes. Throws Error before
/// anything is written: for a file that cannot be read, a shape that differs, integers where numbers are
/// expected or the reverse, and with `strict` a list of the names that only one side has.
LoadResult load(const std::filesystem::path& path, const std::vector<NamedTensor>& parameters,
                const LoadOptions& options = {});

/// Saves a model's parameters under the names that CLADTORCH_PARAMETERS gives them, "h.0.ln_1.weight":
///
///     save(model, "model.safetensors");
///     load("model.safetensors", fresh);   // into a model of the same structure
///
/// Python reads the file with safetensors.torch.load_file.
template <class Model>
void save(const Model& model, const std::filesystem::path& path) {
  save(named_parameters(model), path);
}
template <class Model>
  requires(!std::is_convertible_v<Model&, const std::vector<NamedTensor>&>)
LoadResult load(const std::filesystem::path& path, Model& model, const LoadOptions& options = {}) {
  return load(path, named_parameters(model), options);
}

}  // namespace cladtorch
