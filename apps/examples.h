// Command lines that --help, the manual pages and errors show.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cladtorch::apps {

/// Of a command; the first is the simplest.
std::vector<std::string> examples_of(const CLI::App& command);

}  // namespace cladtorch::apps
