#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/command_tree.h"
#include "apps/completion.h"

namespace cladtorch::apps {
namespace {

std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// ":message:action" of _arguments.
std::string value_spec(const CLI::Option& option) {
  const Values values = values_of(option);
  if (values.none) return "";
  std::string action = " ";
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  if (values.keys) {
    action = " _cladtorch_keys";
  } else if (values.files) {
    action = values.words.empty() ? "_files" : " _cladtorch_words_or_files " + words;
  } else if (!values.words.empty()) {
    action = "(" + words + ")";
  }
  return ":" + escaped(option.get_type_name(), ":") + ":" + action;
}

std::string option_specs(const CLI::Option& option) {
  std::string specs;
  const bool repeated = option.get_items_expected_max() > 1;
  for (const std::string& name : names_of(option)) {
    const bool equals = name.starts_with("--") && !values_of(option).none;
    specs +=
        fmt::format(" \\\n    {}",
                    shell_quoted(fmt::format("{}{}{}[{}]{}", repeated ? "*" : "", name, equals ? "=" : "",
                                             escaped(option.get_description(), "[]"), value_spec(option))));
  }
  return specs;
}

std::string function_name(const CLI::App& command) { return "_" + full_name(command, "_"); }

/// The function that completes one command, and those of the commands below it.
std::string function(const CLI::App& command) {
  std::string specs, words, calls, below;
  for (const CLI::Option* option : options_of(command)) specs += option_specs(*option);
  for (const CLI::Option* argument : arguments_of(command)) {
    const bool many = argument->get_items_expected_max() > 1;
    specs += " \\\n    " + shell_quoted((many ? "*" : "1") + value_spec(*argument));
  }
  for (const CLI::App* sub : subcommands_of(command)) {
    words += "\n        " + shell_quoted(escaped(sub->get_name(), ":") + ":" + sub->get_description());
    calls += fmt::format("        {}) {} ;;\n", sub->get_name(), function_name(*sub));
    below += function(*sub);
  }
  if (words.empty()) return fmt::format("{}() {{\n  _arguments{}\n}}\n\n", function_name(command), specs);
  return fmt::format(R"({}() {{
  local curcontext="$curcontext" state line
  _arguments -C{} \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands
      commands=({})
      _describe command commands ;;
    argument)
      case $line[1] in
{}      esac ;;
  esac
}}

)",
                     function_name(command), specs, words, calls) +
         below;
}

}  // namespace

std::string zsh_completion(const CLI::App& program) {
  return fmt::format(R"(#compdef cladtorch
# zsh completion for cladtorch, written by 'cladtorch completion zsh'.

_cladtorch_keys() {{
  compadd -S '' -- {}
}}

_cladtorch_words_or_files() {{
  compadd -- "$@"
  _files
}}

)",
                     fmt::join(key_words(), " ")) +
         function(program) + R"(if [[ $funcstack[1] == _cladtorch ]]; then
  _cladtorch "$@"
else
  compdef _cladtorch cladtorch
fi
)";
}

}  // namespace cladtorch::apps
