#include "apps/help.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/command_tree.h"
#include "apps/examples.h"
#include "apps/run_options.h"

namespace cladtorch::apps {
namespace {

class Formatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return (type.empty() ? "" : " " + type) + (option->get_items_expected_max() > 1 ? " ..." : "");
  }
  std::string make_option_desc(const CLI::Option* option) const override { return describe(*option); }
};

std::string footer(const CLI::App& command) {
  std::string text;
  if (const auto defaults = default_config(path_of(command))) {
    text = "Keys of --config and --set:\n";
    for (const KeyHelp& key : describe_keys(*defaults))
      text += fmt::format("  {:<28} {:<18} {}\n", key.name, key.value, key.help);
    text += "\n";
  }
  text += "Examples:\n";
  for (const std::string& example : examples_of(command)) text += "  " + example + "\n";
  return text;
}

}  // namespace

void format_help(CLI::App& command) {
  command.formatter(std::make_shared<Formatter>())->footer(footer(command));
  for (CLI::App* sub : command.get_subcommands({})) format_help(*sub);
}

}  // namespace cladtorch::apps
