#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/command_tree.h"
#include "apps/completion.h"

namespace cladtorch::apps {
namespace {

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') result += '\\';
    result += c;
  }
  return result + "'";
}

/// The options of `complete` for what may stand for `values`.
std::string value_flags(const Values& values) {
  const auto words = values.keys ? key_words() : values.words;
  std::string flags = values.files ? " -r -F" : " -x";
  if (!words.empty()) flags += " -a " + fish_quoted(fmt::format("{}", fmt::join(words, " ")));
  return flags;
}

std::string completions(const CLI::App& command) {
  const std::string at =
      "complete -c cladtorch -n " + fish_quoted("__cladtorch_at " + fish_quoted(path_of(command)));
  std::string text;
  for (const CLI::App* sub : subcommands_of(command))
    text += fmt::format("{} -a {} -d {}\n", at, sub->get_name(), fish_quoted(sub->get_description()));
  for (const CLI::Option* option : options_of(command)) {
    const Values values = values_of(*option);
    text += at;
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    text += (values.none ? "" : value_flags(values)) + " -d " + fish_quoted(option->get_description()) + "\n";
  }
  for (const CLI::Option* argument : arguments_of(command)) {
    const Values values = values_of(*argument);
    if (values.files) text += at + " -F\n";
    if (!values.words.empty())
      text += fmt::format("{} -a {}\n", at, fish_quoted(fmt::format("{}", fmt::join(values.words, " "))));
  }
  return text;
}

}  // namespace

std::string fish_completion(const CLI::App& program) {
  std::string cases, text;
  for (const CLI::App* command : all_commands(program)) {
    text += completions(*command);
    if (command->get_parent() == nullptr) continue;
    cases += fmt::format("            case {}\n                set command {}\n",
                         fish_quoted(path_of(*command->get_parent()) + "/" + command->get_name()),
                         fish_quoted(path_of(*command)));
  }
  return fmt::format(R"(# fish completion for cladtorch, written by 'cladtorch completion fish'.
function __cladtorch_at
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command/$word"
{}        end
    end
    test "$command" = "$argv"
end

complete -c cladtorch -f
)",
                     cases) +
         text;
}

}  // namespace cladtorch::apps
