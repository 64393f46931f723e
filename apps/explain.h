// What CLI11 found wrong with a command line, in one line of our own.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace cladtorch::apps {

/// Names the command, the word and the way out.
std::string explain(const CLI::App& program, const CLI::ParseError& error);

}  // namespace cladtorch::apps
