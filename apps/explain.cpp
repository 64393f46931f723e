#include "apps/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/command_tree.h"
#include "apps/examples.h"
#include "apps/run_options.h"
#include "cladtorch/quote.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/suggest.h"

namespace cladtorch::apps {
namespace {

/// The command that the user chose, or the program itself.
const CLI::App& chosen(const CLI::App& command) {
  const auto below = command.get_subcommands();
  return below.empty() ? command : chosen(*below.front());
}

/// The option of `command` that is nearest to `word`, or the commands that have one of this name.
std::string suggest_option(const CLI::App& program, const CLI::App& command, const std::string& word) {
  if (default_config(path_of(command))) {
    const std::string key =
        train::meant_config_key(word.substr(std::min(word.find_first_not_of('-'), word.size())));
    if (!key.empty()) return " (did you mean '" + option_of_key(command, key) + "'?)";
  }
  std::vector<std::string> known, owners;
  for (const CLI::Option* option : options_of(command)) {
    for (const std::string& name : names_of(*option)) known.push_back(name);
  }
  if (std::string hint = train::suggestion(word, known); !hint.empty()) return hint;
  for (const CLI::App* other : all_commands(program)) {
    for (const CLI::Option* option : options_of(*other)) {
      const auto names = names_of(*option);
      if (std::find(names.begin(), names.end(), word) != names.end()) owners.push_back(path_of(*other));
    }
  }
  return owners.empty() ? "" : fmt::format(" (an option of {})", train::enumeration(owners, "and"));
}

/// The command below `command` that is nearest to `word`, also by its own name alone.
std::string suggest_command(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* sub : subcommands_of(command)) names.push_back(sub->get_name());
  if (std::string hint = train::suggestion(word, names); !hint.empty()) return hint;
  names.clear();
  for (const CLI::App* sub : all_commands(command)) {
    if (sub->get_name() == word) names.push_back("'" + path_of(*sub) + "'");
  }
  return names.empty() ? "" : fmt::format(" (did you mean {}?)", train::enumeration(names, "or"));
}

std::string explain_unknown(const CLI::App& program, const CLI::App& command, const std::string& argument) {
  const std::string word = argument.substr(0, argument.find('='));
  if (word.starts_with("-"))
    return fmt::format("unknown option {}{}", in_quotes(word), suggest_option(program, command, word));
  if (subcommands_of(command).empty()) return fmt::format("unexpected argument {}", in_quotes(argument));
  return fmt::format("unknown command {}{}", in_quotes(argument), suggest_command(command, argument));
}

/// As --help shows it: "--from FOLDER", or the name of an argument.
std::string label(const CLI::Option& option) {
  if (option.get_positional()) return option.get_type_name();
  return option.get_name() + " " + option.get_type_name();
}

/// The option or argument that CLI11 names at the beginning of a message.
const CLI::Option* named(const CLI::App& command, const std::string& message) {
  for (const CLI::Option* option : command.get_options({})) {
    if (message.starts_with(option->get_name() + ":") || message.starts_with(option->get_name() + " "))
      return option;
  }
  return nullptr;
}

std::string for_example(const CLI::App& command) {
  const auto examples = examples_of(command);
  return examples.empty() ? "" : ", for example: " + examples.front();
}

std::string explain_missing(const CLI::App& command, const CLI::RequiredError& error) {
  std::vector<std::string> names;
  for (const CLI::App* sub : subcommands_of(command)) names.push_back(sub->get_name());
  if (!names.empty())
    return fmt::format("a command is missing: {}{}", train::enumeration(names, "or"), for_example(command));
  const CLI::Option* option = named(command, error.what());
  if (option == nullptr) return error.what();
  return fmt::format("{} is missing ({}){}", label(*option), option->get_description(), for_example(command));
}

std::string explain_known(const CLI::App& command, const CLI::ParseError& error) {
  const std::string message = error.what();
  if (const auto* missing = dynamic_cast<const CLI::RequiredError*>(&error))
    return explain_missing(command, *missing);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const CLI::Option* option = named(command, message))
      return fmt::format("{} needs a value: {}", label(*option), option->get_description());
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const size_t middle = message.find(" excludes ");
    return fmt::format("give either {} or {}, not both", message.substr(0, middle),
                       message.substr(middle + std::string_view(" excludes ").size()));
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    for (const CLI::Option* option : command.get_options({})) {
      const std::string before = "Could not convert: " + option->get_name() + " = ";
      if (message.starts_with(before))
        return fmt::format(
            "{}: {}{}{}", option->get_name(), values_of(*option).none ? "it takes no value, got " : "",
            in_quotes(message.substr(before.size())), values_of(*option).none ? "" : " is not a number");
    }
  }
  return message;
}

}  // namespace

std::string explain(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = chosen(program);
  const std::vector<std::string> extras = program.remaining(true);
  const std::string what =
      extras.empty() ? explain_known(command, error) : explain_unknown(program, command, extras.front());
  const std::string path = path_of(command);
  return fmt::format("{}{}; see {} --help", path.empty() ? "" : path + ": ", what, full_name(command));
}

}  // namespace cladtorch::apps
