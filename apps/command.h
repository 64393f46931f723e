// The commands of the program. Each registers its options and, when chosen, leaves in `action` what to do.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace cladtorch::apps {

/// Runs a command after all of the command line was understood; returns the exit code.
using Action = std::function<int()>;

void add_train(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);

}  // namespace cladtorch::apps
