// --from and --adapter: the model that a command works with.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cladtorch/models/language_model.h"

namespace cladtorch::apps {

struct OpenedModel {
  std::unique_ptr<LanguageModel> model;
  std::filesystem::path folder;  ///< that holds its tokenizer
};

/// The model at `from`, a run, a checkpoint, an adapter or a folder of transformers, with the adapter at
/// `adapter` unless that is empty. Throws Error.
OpenedModel open_model(const std::filesystem::path& from, const std::filesystem::path& adapter, DType dtype);

/// Adds --adapter.
void add_adapter(CLI::App* command, std::filesystem::path& adapter);

}  // namespace cladtorch::apps
