// cladtorch: train, sample and measure models from the shell.
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#include "apps/command.h"
#include "apps/explain.h"
#include "apps/help.h"
#include "apps/process.h"
#include "cladtorch/comm/communicator.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/system_info.h"
#include "cladtorch/train/usage_error.h"

namespace {

constexpr int runtime_error_code = 1;
constexpr int usage_error_code = 2;

/// Time that the first rank has to say what all ranks found, before another says it.
constexpr std::chrono::milliseconds first_word{700};

/// One line, whatever the names in it hold. One of several ranks ends the others.
int report(int code, std::string message) {
  cladtorch::comm::Communicator& ranks = cladtorch::comm::started();
  const int rank = cladtorch::comm::launched_rank();
  if (rank > 0) {
    std::this_thread::sleep_for(first_word);
    const std::string where = ranks.size() > 1 ? " on " + ranks.host(rank) : "";
    message = "rank " + std::to_string(rank) + where + ": " + message;
  }
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  cladtorch::apps::print_error("cladtorch: error: " + message + "\n");
  if (ranks.size() > 1) ranks.abort(code);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("Train, finetune and run language models whose backward pass is written by the compiler.",
               "cladtorch");
  app.set_version_flag("--version", cladtorch::train::version_text,
                       "Print the version and what it was built with");
  app.require_subcommand(1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  cladtorch::apps::Action action;
  cladtorch::apps::add_train(app, action);
  cladtorch::apps::add_finetune(app, action);
  cladtorch::apps::add_generate(app, action);
  cladtorch::apps::add_eval(app, action);
  cladtorch::apps::add_data(app, action);
  cladtorch::apps::add_tokenizer(app, action);
  cladtorch::apps::add_import(app, action);
  cladtorch::apps::add_export(app, action);
  cladtorch::apps::add_merge(app, action);
  cladtorch::apps::add_info(app, action);
  cladtorch::apps::add_report(app, action);
  cladtorch::apps::add_bench(app, action);
  cladtorch::apps::add_plan(app, action);
  cladtorch::apps::add_completion(app, action);
  cladtorch::apps::add_man(app, action);
  cladtorch::apps::format_help(app);
  if (argc == 1) {
    cladtorch::apps::print_output(app.help());
    return usage_error_code;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      app.exit(error, text, text);
      cladtorch::apps::print_output(text.str());
      return 0;
    }
    return report(usage_error_code, cladtorch::apps::explain(app, error));
  }
  const bool trains = app.got_subcommand("train") || app.got_subcommand("finetune");
  if (!trains && cladtorch::comm::in_world())
    throw cladtorch::train::UsageError(app.get_subcommands().front()->get_name() +
                                       ": runs in one process; start it without a launcher of several");
  return action();
}

int run_and_check_output(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    cladtorch::apps::check_output();
    return code;
  } catch (const std::system_error& error) {  // of fmt::print
    if (std::ferror(stdout) == 0) throw;
    cladtorch::apps::fail_output(error.code().value());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    cladtorch::apps::prepare_process();
    const int code = run_and_check_output(argc, argv);
    cladtorch::comm::leave_world();
    return code;
  } catch (const cladtorch::train::UsageError& error) {
    return report(usage_error_code, error.what());
  } catch (const std::bad_alloc&) {
    return report(runtime_error_code, "out of memory; choose a smaller model, batch or context");
  } catch (const std::filesystem::filesystem_error& error) {
    return report(runtime_error_code,
                  cladtorch::io::describe_failure("open", error.path1(), error.code().value()));
  } catch (const std::exception& error) {
    return report(runtime_error_code, error.what());
  }
}
