// --from, --adapter, --dtype and --device: the model that a command works with.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "cladtorch/models/language_model.h"

namespace cladtorch::apps {

struct OpenedModel {
  std::unique_ptr<LanguageModel> model;
  std::filesystem::path folder;  ///< that holds its tokenizer
};

struct ModelOptions {
  std::filesystem::path from, adapter;
  std::string dtype = "fp32", device = "cpu";
};

/// Adds --adapter.
void add_adapter(CLI::App* command, std::filesystem::path& adapter);
/// Adds --from, which is required, and --adapter.
void add_model(CLI::App* command, ModelOptions& options);
/// Adds --dtype and --device.
void add_arithmetic(CLI::App* command, ModelOptions& options);

/// Throws UsageError for an unknown dtype or device, or a device that is not there.
void check(const ModelOptions& options, const std::string& command);

/// The model at `from`, a run, a checkpoint, an adapter or a folder of transformers, with the adapter at
/// `adapter` unless that is empty. Throws Error.
OpenedModel open_model(const ModelOptions& options);

}  // namespace cladtorch::apps
