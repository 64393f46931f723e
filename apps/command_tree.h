// The commands and options as they were declared, for what is written from them: explanations of mistakes,
// completions of shells, manual pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::apps {

/// "data prepare"; "" for the program itself.
std::string path_of(const CLI::App& command);

/// "cladtorch data prepare", with `separator` between the words.
std::string full_name(const CLI::App& command, std::string_view separator = " ");

/// The commands directly below that --help shows.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);

/// `command` and all below it that --help shows, each before those below it.
std::vector<const CLI::App*> all_commands(const CLI::App& command);

/// Options that --help shows: those with names, then the arguments without.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
std::vector<const CLI::Option*> arguments_of(const CLI::App& command);

/// "-h", "--help".
std::vector<std::string> names_of(const CLI::Option& option);

/// Its description, with its default or that it is required.
std::string describe(const CLI::Option& option);

/// What an option takes, as its type name says: "fp32|bf16" are words to choose from, "char|byte|PATH" words
/// or a file, "KEY=VALUE" the keys of a configuration. Names in capitals stand for what the user makes up.
struct Values {
  bool none = false;  ///< it is a flag
  std::vector<std::string> words;
  bool files = false;
  bool keys = false;
};
Values values_of(const CLI::Option& option);

}  // namespace cladtorch::apps
