#include "apps/completion.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "apps/command.h"
#include "apps/run_options.h"

namespace cladtorch::apps {

std::vector<std::string> key_words() {
  std::vector<std::string> words;
  for (const KeyHelp& key : describe_keys({})) words.push_back(key.name + "=");
  return words;
}

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

void add_completion(CLI::App& app, Action& action) {
  const std::map<std::string, std::string (*)(const CLI::App&)> scripts = {
      {"bash", bash_completion}, {"fish", fish_completion}, {"zsh", zsh_completion}};
  CLI::App* command = app.add_subcommand(
      "completion", "Print a script that makes a shell complete this program's command lines");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "the shell that reads the script")
      ->type_name("bash|zsh|fish")
      ->check(name_of(scripts))
      ->required();
  command->callback([=, &app, &action] {
    action = [=, &app] {
      fmt::print("{}", scripts.at(*shell)(app));
      return 0;
    };
  });
}

}  // namespace cladtorch::apps
