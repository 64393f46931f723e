#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/command.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/data/prepare.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/status_line.h"
#include "cladtorch/train/stop_signal.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::apps {
namespace {

struct Options {
  std::string text;  // "" means the built-in stories
  std::filesystem::path out;
  std::string vocabulary = "char";
  std::string split;
  int64_t bytes = 2'000'000;
  uint64_t seed = 1;
  data::PrepareOptions prepare;
};

/// Ctrl-C.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// What a person sees of a text that is read: on a terminal one line, elsewhere one for each tenth of it.
class Display {
 public:
  void show(const data::ReadProgress& progress) {
    if (stop_.requested()) throw Interrupted("stopped");
    if (progress.counting != counting_) restart(progress.counting);
    const double share = progress.total_bytes == 0 ? 1
                                                   : static_cast<double>(progress.bytes) /
                                                         static_cast<double>(progress.total_bytes);
    const int tenth = static_cast<int>(10 * share);
    if (line_.terminal() ? !line_.due() : tenth <= tenth_) return;
    tenth_ = tenth;
    line_.show(text(progress, share).substr(0, static_cast<size_t>(line_.width())), false);
  }
  void message(const std::string& text) { line_.message(text); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  void restart(bool counting) {
    counting_ = counting;
    begin_ = Clock::now();
    tenth_ = 0;
  }

  std::string text(const data::ReadProgress& progress, double share) const {
    const double passed = seconds();
    std::string line = fmt::format("{}  {:3.0f} %  {}  {}", progress.counting ? "characters" : "tokens    ",
                                   100 * share, train::progress_bar(share), documents(progress.documents));
    if (!progress.counting) {
      line += fmt::format("  {} tokens", train::short_count(static_cast<double>(progress.tokens)));
    }
    if (passed > 0 && share > 0) {
      line += fmt::format("  {}/s  eta {}", train::short_bytes(static_cast<double>(progress.bytes) / passed),
                          train::short_duration(passed / share * (1 - share)));
    }
    return line;
  }

  const train::StopSignal stop_;
  train::StatusLine line_{stdout};
  static std::string documents(uint64_t count) {
    return train::short_count(static_cast<double>(count)) + (count == 1 ? " document" : " documents");
  }

  bool counting_ = false;
  Clock::time_point begin_ = Clock::now();
  int tenth_ = 0;
};

int prepare_stories(const Options& options) {
  const data::Dataset stories = data::stories_dataset(static_cast<size_t>(options.bytes), options.seed,
                                                      data::Vocabulary(options.vocabulary));
  data::save_dataset(stories, options.out);
  fmt::print("{}: {} tokens to train on, {} for validation, {} kinds\n", options.out.string(),
             stories.train.size(), stories.validation.size(), stories.tokenizer->vocab_size());
  return 0;
}

int prepare(Options options) {
  if (options.text.empty()) return prepare_stories(options);
  data::PrepareOptions& prepare = options.prepare;
  prepare.vocabulary = data::Vocabulary(options.vocabulary);
  prepare.seed = options.seed;
  if (prepare.threads == 0) prepare.threads = num_threads();
  if (!options.split.empty()) prepare.split = data::split_from_string(options.split);
  Display display;
  prepare.progress = [&](const data::ReadProgress& progress) { display.show(progress); };
  data::PrepareSummary summary;
  try {
    summary = data::prepare_text(options.text, options.out, prepare);
  } catch (const Interrupted&) {
    display.message(fmt::format("stopped; '{}' is as it was before", options.out.string()));
    return train::interrupted_exit_code;
  }
  const std::string skipped = summary.skipped > 0 ? fmt::format(", {} lines skipped", summary.skipped) : "";
  display.message(fmt::format("{}: {} tokens to train on, {} for validation, {} kinds; {} document{}{}",
                              options.out.string(), summary.train_tokens, summary.validation_tokens,
                              summary.vocab_size, summary.documents, summary.documents == 1 ? "" : "s",
                              skipped));
  return 0;
}

void check(const Options& options) {
  try {
    data::Vocabulary{options.vocabulary};
    if (!options.split.empty()) data::split_from_string(options.split);
  } catch (const Error& error) {
    throw train::UsageError(std::string("data prepare: ") + error.what());
  }
  if (!options.prepare.validation.empty() && !options.split.empty()) {
    throw train::UsageError("data prepare: give either --split or --validation, not both");
  }
}

}  // namespace

void add_data_prepare(CLI::App& data, Action& action) {
  CLI::App* command =
      data.add_subcommand("prepare", "Turn a text into token shards, which train --text maps into memory");
  auto options = std::make_shared<Options>();
  data::PrepareOptions& prepare_options = options->prepare;
  prepare_options.threads = 0;
  const auto add = [&](const char* flags, auto& value, const char* type, const char* help) {
    return command->add_option(flags, value, help)->type_name(type);
  };
  add("--text", options->text, "PATH",
      "text or JSON Lines, also .gz and .zst, or a folder of such files (default: stories)");
  add("--out", options->out, "FOLDER", "new folder for the token shards")->required();
  add("--tokenizer", options->vocabulary, "char|byte|PATH",
      "characters, bytes, or the file or folder of a tokenizer")
      ->capture_default_str();
  add("--field", prepare_options.text.field, "KEY",
      "key of the text in each line of JSON (default: found by the keys of the line)");
  command->add_flag("--skip-invalid", prepare_options.text.skip_invalid,
                    "skip and count lines that cannot be used instead of stopping");
  add("--validation", prepare_options.validation, "PATH", "another text to use for validation");
  add("--validation-share", prepare_options.validation_share, "SHARE",
      "share of the text that is kept for validation")
      ->check(number_between(0, 0.99))
      ->capture_default_str();
  add("--split", options->split, "tail|documents",
      "which part that is: the end, or documents chosen by the seed (default: documents for JSON Lines)");
  add("--shard-tokens", prepare_options.shard_tokens, "N", "largest number of tokens in a shard")
      ->check(whole_number(1))
      ->capture_default_str();
  add("--threads", prepare_options.threads, "N", "threads (default: all cores)")
      ->check(whole_number(1, most_threads));
  add("--bytes", options->bytes, "N", "size of the built-in stories")
      ->check(whole_number(1, most_story_bytes))
      ->capture_default_str();
  add("--seed", options->seed, "N", "seed of the split and of the stories")
      ->check(whole_number())
      ->capture_default_str();
  command->callback([=, &action] {
    action = [=] {
      check(*options);
      return prepare(*options);
    };
  });
}

}  // namespace cladtorch::apps
