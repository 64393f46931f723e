// Scripts that complete command lines of the program in a shell, written from the declared commands and
// options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::apps {

std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

/// "run.seed=", for the keys of --set.
std::vector<std::string> key_words();

/// In single quotes, as bash and zsh read them.
std::string shell_quoted(std::string_view text);

}  // namespace cladtorch::apps
