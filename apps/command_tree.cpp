#include "apps/command_tree.h"

#include <algorithm>
#include <cctype>

namespace cladtorch::apps {

std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "";
  const std::string above = path_of(*command.get_parent());
  return above.empty() ? command.get_name() : above + " " + command.get_name();
}

std::string full_name(const CLI::App& command, std::string_view separator) {
  if (command.get_parent() == nullptr) return command.get_name();
  return full_name(*command.get_parent(), separator) + std::string(separator) + command.get_name();
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<const CLI::App*> all_commands(const CLI::App& command) {
  std::vector<const CLI::App*> all = {&command};
  for (const CLI::App* sub : subcommands_of(command)) {
    const auto below = all_commands(*sub);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options(
      [](const CLI::Option* option) { return !option->get_group().empty() && !option->get_positional(); });
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string describe(const CLI::Option& option) {
  const std::string value = option.get_default_str();
  const std::string end = option.get_required() ? " (required)"
                          : value.empty()       ? ""
                                                : " (default: " + value + ")";
  return option.get_description() + end;
}

Values values_of(const CLI::Option& option) {
  Values values;
  if (option.get_items_expected_max() == 0) {
    values.none = true;
    return values;
  }
  const std::string type = option.get_type_name();
  for (size_t begin = 0; begin <= type.size();) {
    const size_t end = std::min(type.find('|', begin), type.size());
    const std::string part = type.substr(begin, end - begin);
    if (part == "PATH" || part == "FILE" || part == "FOLDER" || part == "RUN") values.files = true;
    if (part == "KEY=VALUE") values.keys = true;
    const auto is_upper = [](unsigned char c) { return std::isupper(c) != 0; };
    if (std::none_of(part.begin(), part.end(), is_upper)) values.words.push_back(part);
    begin = end + 1;
  }
  return values;
}

}  // namespace cladtorch::apps
