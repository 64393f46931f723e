// How --help shows a command.
#pragma once

#include <CLI/CLI.hpp>

namespace cladtorch::apps {

/// Shows defaults behind what an option does, and ends the help of every command with its keys, where it
/// takes some, and its examples. For all commands below `program` when they are declared.
void format_help(CLI::App& program);

}  // namespace cladtorch::apps
