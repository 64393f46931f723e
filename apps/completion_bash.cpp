#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/command_tree.h"
#include "apps/completion.h"

namespace cladtorch::apps {
namespace {

constexpr const char* head = R"(# bash completion for cladtorch, written by 'cladtorch completion bash'.
_cladtorch()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command="" words="" files="" i
    COMPREPLY=()
    # bash makes a word of its own of the = in --dtype=bf16.
    if [[ $current == "=" || $previous == "=" ]]; then
        if [[ $current == "=" ]]; then current=""; else previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
        [[ $previous == -* ]] || return 0
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$command/${COMP_WORDS[i]}" in
)";

constexpr const char* tail = R"(    esac
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    fi
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -F _cladtorch cladtorch
)";

/// Sets `words` and `files` to what may stand for `values`.
std::string assignments(const Values& values) {
  const auto words = values.keys ? key_words() : values.words;
  std::string text;
  if (!words.empty())
    text += fmt::format("words={}; ", shell_quoted(fmt::format("{}", fmt::join(words, " "))));
  if (values.files) text += "files=yes; ";
  if (values.keys) text += "compopt -o nospace 2>/dev/null; ";
  return text;
}

/// The values of one option.
std::string option_case(const std::string& path, const CLI::Option& option) {
  const Values values = values_of(option);
  if (values.none) return "";
  std::vector<std::string> patterns;
  for (const std::string& name : names_of(option)) patterns.push_back(shell_quoted(path + ":" + name));
  return fmt::format("        {}) {};;\n", fmt::join(patterns, " | "), assignments(values));
}

/// What stands where no value of an option does.
std::string word_case(const CLI::App& command) {
  const std::string path = path_of(command);
  std::vector<std::string> options, words;
  bool files = false;
  for (const CLI::Option* option : options_of(command)) {
    const auto names = names_of(*option);
    options.insert(options.end(), names.begin(), names.end());
    files = files || (option->get_items_expected_max() > 1 && values_of(*option).files);
  }
  for (const CLI::App* sub : subcommands_of(command)) words.push_back(sub->get_name());
  for (const CLI::Option* argument : arguments_of(command)) {
    const Values values = values_of(*argument);
    words.insert(words.end(), values.words.begin(), values.words.end());
    files = files || values.files;
  }
  std::string text = fmt::format("        {}-*) words={} ;;\n", shell_quoted(path + ":"),
                                 shell_quoted(fmt::format("{}", fmt::join(options, " "))));
  const std::string other = assignments({.words = words.empty() && !files ? options : words, .files = files});
  return text + fmt::format("        {}*) {};;\n", shell_quoted(path + ":"), other);
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::string text = head, values, words;
  for (const CLI::App* command : all_commands(program)) {
    const std::string path = path_of(*command);
    if (!path.empty()) {
      text += fmt::format("            {}) command={} ;;\n",
                          shell_quoted(path_of(*command->get_parent()) + "/" + command->get_name()),
                          shell_quoted(path));
    }
    for (const CLI::Option* option : options_of(*command)) values += option_case(path, *option);
    words += word_case(*command);
  }
  text += "        esac\n    done\n    case \"$command:$previous\" in\n" + values;
  return text + "        *) case \"$command:$current\" in\n" + words + "        esac ;;\n" + tail;
}

}  // namespace cladtorch::apps
