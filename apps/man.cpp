// `cladtorch man`: manual pages, written from the declared commands and options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <filesystem>
#include <memory>

#include "apps/command.h"
#include "apps/command_tree.h"
#include "apps/examples.h"
#include "apps/run_options.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/system_info.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

/// Text that roff takes for nothing but text.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
      if (c == '|') result += "\\:";  // a line may end here
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string item(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + text + "\n";
}

std::string synopsis(const CLI::App& command) {
  std::string text = bold(full_name(command));
  if (!subcommands_of(command).empty()) return text + " " + italic("COMMAND") + " ...";
  for (const CLI::Option* option : options_of(command)) {
    if (option->get_required())
      text += " " + bold(option->get_name()) + " " + italic(option->get_type_name());
  }
  text += " [" + italic("OPTIONS") + "]";
  for (const CLI::Option* argument : arguments_of(command)) {
    const std::string name =
        italic(argument->get_type_name()) + (argument->get_items_expected_max() > 1 ? " ..." : "");
    text += argument->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string options_section(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* argument : arguments_of(command))
    text += item(italic(argument->get_type_name()), roff(describe(*argument)));
  for (const CLI::Option* option : options_of(command)) {
    std::string term;
    for (const std::string& name : names_of(*option)) term += (term.empty() ? "" : ", ") + bold(name);
    if (!values_of(*option).none) term += " " + italic(option->get_type_name());
    text += item(term, roff(describe(*option)));
  }
  return ".SH OPTIONS\n" + text;
}

std::string keys_section(const CLI::App& command) {
  const auto defaults = default_config(path_of(command));
  if (!defaults) return "";
  std::string text = ".SH KEYS\nOf " + bold("--config") + " and " + bold("--set") + ".\n";
  for (const KeyHelp& key : describe_keys(*defaults)) {
    text += item(bold(key.name),
                 roff(key.value == "-" ? key.help : fmt::format("{} (default: {})", key.help, key.value)));
  }
  return text;
}

std::string examples_section(const CLI::App& command) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : examples_of(command)) text += roff(example) + "\n";
  return text + ".fi\n";
}

constexpr const char* exit_status = R"(.SH "EXIT STATUS"
.TP
0
Success.
.TP
1
A file, a disk or a number is at fault.
.TP
2
There is a mistake on the command line or in a configuration.
.TP
130
The command was stopped by Ctrl\-C.
)";

std::string reference(const CLI::App& command) { return bold(full_name(command, "-")) + "(1)"; }

std::string page(const CLI::App& command) {
  const std::string name = full_name(command, "-");
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = fmt::format(".TH {} 1 \"\" \"cladtorch {}\" \"cladtorch manual\"\n.ad l\n", roff(title),
                                 train::version());
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.get_description()));
  text += fmt::format(".SH SYNOPSIS\n{}\n", synopsis(command));
  const auto subs = subcommands_of(command);
  if (!subs.empty()) text += ".SH COMMANDS\n";
  for (const CLI::App* sub : subs) text += item(reference(*sub), roff(sub->get_description()));
  text += options_section(command) + keys_section(command) + examples_section(command) + exit_status;
  if (command.get_parent() != nullptr) text += ".SH \"SEE ALSO\"\n" + reference(*command.get_parent()) + "\n";
  return text;
}

const CLI::App& find(const CLI::App& program, const std::string& path) {
  for (const CLI::App* command : all_commands(program)) {
    if (path_of(*command) == path) return *command;
  }
  throw train::UsageError(fmt::format("man: there is no command '{}'", path));
}

}  // namespace

void add_man(CLI::App& app, Action& action) {
  struct Options {
    std::vector<std::string> words;
    std::filesystem::path out;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("man", "Print the manual page of a command, or write all of them");
  command->group("");  // for whoever builds or packages the program
  command->add_option("command", options->words, "the command (default: the program)")->type_name("COMMAND");
  command->add_option("--out", options->out, "folder to write the pages of all commands into")
      ->type_name("FOLDER");
  command->callback([=, &app, &action] {
    action = [=, &app] {
      if (options->out.empty()) {
        fmt::print("{}", page(find(app, fmt::format("{}", fmt::join(options->words, " ")))));
        return 0;
      }
      std::filesystem::create_directories(options->out);
      for (const CLI::App* each : all_commands(app))
        io::write_file(options->out / (full_name(*each, "-") + ".1"), page(*each));
      return 0;
    };
  });
}

}  // namespace cladtorch::apps
