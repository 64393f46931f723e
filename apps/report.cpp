#include "cladtorch/train/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "apps/command.h"
#include "apps/process.h"

namespace cladtorch::apps {
namespace {

struct Options {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;
};

int run(const Options& options) {
  std::vector<train::RunRecord> runs;
  for (const std::filesystem::path& path : options.runs) runs.push_back(train::read_run(path));
  for (const train::RunRecord& record : runs) {
    if (!record.warning.empty()) print_error("cladtorch: warning: " + record.warning + "\n");
  }
  const bool one = runs.size() == 1;
  fmt::print("{}", train::report_text(runs));
  if (one) fmt::print("\n{}", train::evaluation_text(runs[0]));
  const std::filesystem::path out = options.out.empty() && one ? runs[0].path / "report.html" : options.out;
  if (out.empty()) return 0;
  train::write_report(out, runs);
  fmt::print("\nreport {}\n", out.string());
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("report", "Show what runs reached, and compare them on one page");
  auto options = std::make_shared<Options>();
  command->add_option("runs", options->runs, "folders of runs, finished or not")
      ->type_name("RUN")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--out", options->out,
                   "HTML page to write (default: report.html in the folder of a single run)")
      ->type_name("FILE");
  command->callback([=, &action] { action = [=] { return run(*options); }; });
}

}  // namespace cladtorch::apps
