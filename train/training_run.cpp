#include "cladtorch/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/generate.h"
#include "cladtorch/train/gpt2_file.h"
#include "cladtorch/train/peak.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/report.h"
#include "cladtorch/train/stop_signal.h"
#include "cladtorch/train/system_info.h"
#include "train/describe.h"

namespace cladtorch::train {
namespace fs = std::filesystem;
namespace {

/// Steps after which the speed is known well enough to hold a run to its time limit.
constexpr int64_t steps_to_judge_speed = 20;
/// Weight of the newest step in the running mean of seconds per step.
constexpr double newest_step_weight = 0.01;

bool holds_run(const fs::path& folder) {
  return fs::exists(folder / "config.toml") || fs::exists(folder / "last") || fs::exists(folder / "best");
}

/// "story" for "texts/story.txt"; the built-in text is called "stories".
std::string default_name(const TrainConfig& config) {
  if (config.data.text.empty()) return "stories";
  fs::path path(config.data.text);
  if (!path.has_filename()) path = path.parent_path();  // "texts/" is the folder "texts"
  const std::string name = path.stem().string();
  return name.empty() ? "run" : name;
}

void choose_folder(TrainConfig& config) {
  if (config.run.name.empty()) config.run.name = default_name(config);
  if (!config.run.out.empty()) {
    require(!holds_run(config.run.out), "train: '", config.run.out,
            "' already holds a run; continue it with --resume ", config.run.out, " or choose another --out");
    return;
  }
  const std::string first = "runs/" + config.run.name;
  config.run.out = first;
  for (int i = 2; holds_run(config.run.out); ++i) config.run.out = fmt::format("{}-{}", first, i);
}

data::Dataset open_data(const TrainConfig& config) {
  const data::Vocabulary vocabulary = data::vocabulary_from_string(config.data.vocabulary);
  if (!config.data.text.empty()) return data::open_dataset(config.data.text, vocabulary);
  return data::stories_dataset(static_cast<size_t>(config.data.story_bytes), 1, vocabulary);
}

/// One session of a run: everything between opening the folder and writing the report.
class Session {
 public:
  Session(const TrainRequest& request, const Objective& objective, std::FILE* out)
      : config_(resolve_config(request)),
        folder_(config_.run.out),
        out_(out),
        data_(open_data(config_)),
        trainer_(config_, data_, objective) {
    set_num_threads(config_.run.threads > 0 ? static_cast<int>(config_.run.threads) : num_threads());
    if (request.resume) trainer_.restore(folder_ / "last");
  }

  int run() {
    io::create_writable_folder(folder_);
    for (const char* name : {"last", "best"}) io::recover_folder(folder_ / name);
    describe();
    require(trainer_.state().step < trainer_.state().steps, "train: '", folder_.string(), "' has done its ",
            trainer_.state().steps, " steps; train longer with --set train.steps=N");
    io::write_file(folder_ / "config.toml", config_toml(config_));
    RunLog log(folder_ / "log.jsonl", trainer_.state().step);
    const bool finished = train(log);
    finish(log);
    return finished ? 0 : interrupted_exit_code;
  }

 private:
  void describe() {
    fmt::print(out_, "cladtorch {}  {}  {}, {} thread{}, {}\n", version(), describe_model(trainer_.model()),
               config_.run.device, num_threads(), num_threads() == 1 ? "" : "s", config_.run.dtype);
    memory_ = trainer_.plan_memory();
    fmt::print(out_, "{}\n{}\n", describe_memory(memory_), describe_text(config_, data_));
    const TrainerState& state = trainer_.state();
    if (state.step > 0)
      fmt::print(out_, "resume  {} at step {} of {}\n", folder_.string(), state.step, state.steps);
    std::fflush(out_);
    peak_flops_ = measure_peak_flops(num_threads());
  }

  bool train(RunLog& log) {
    try {
      return loop(log);
    } catch (const Diverged& error) {
      const fs::path last = folder_ / "last";
      if (!fs::exists(last)) fail(error.what(), "; there is no checkpoint yet");
      fail(error.what(), "; the last good checkpoint is '", last.string(), "', of step ",
           load_trainer_state(last).step);
    }
  }

  /// Trains to the end (true) or to Ctrl-C (false).
  bool loop(RunLog& log) {
    const StopSignal stop;
    ProgressDisplay display(out_, config_.train.log_every);
    ProgressState progress{.val_loss = trainer_.state().val_loss,
                           .floor = data_.entropy_floor,
                           .flops_per_token = flops_per_token(trainer_.model().config, config_.model.context),
                           .peak_flops = peak_flops_};
    const int64_t first = trainer_.state().step;
    const double seconds_before = trainer_.state().seconds;
    double shown_rate = 0, per_step = 0, elapsed_before = 0;
    while (trainer_.state().step < trainer_.state().steps) {
      StepRecord record = trainer_.step();
      const int64_t step = record.step;
      shown_rate =
          shown_rate == 0 ? record.tokens_per_second : 0.9 * shown_rate + 0.1 * record.tokens_per_second;
      const double best_before = trainer_.state().best_val.value_or(INFINITY);
      const bool stopping = stop.requested();
      const bool evaluate =
          !stopping && (step % config_.train.eval_every == 0 || step == trainer_.state().steps);
      if (evaluate) record.val_loss = progress.val_loss = trainer_.evaluate();
      log.write(record);
      if (evaluate && trainer_.state().best_val.value_or(INFINITY) < best_before)
        trainer_.save(folder_ / "best");
      const int64_t save_every = config_.train.save_every;
      if (stopping || evaluate || (save_every > 0 && step % save_every == 0)) trainer_.save(folder_ / "last");

      // Evaluations are paid for by the steps around them. Recent steps count most: a busy machine comes and
      // goes.
      const double elapsed = trainer_.state().seconds - seconds_before;
      const double newest = std::max(1.0 / static_cast<double>(step - first), newest_step_weight);
      per_step += newest * (elapsed - elapsed_before - per_step);
      elapsed_before = elapsed;
      if (step - first >= steps_to_judge_speed) keep_time_limit(display, elapsed, per_step);
      progress.steps = trainer_.state().steps;
      progress.eta_seconds = per_step * static_cast<double>(trainer_.state().steps - step);
      StepRecord shown = record;
      shown.tokens_per_second = shown_rate;
      display.show(shown, progress);
      if (stopping) {
        display.message(fmt::format("stopped after step {} of {}; continue with: cladtorch train --resume {}",
                                    step, trainer_.state().steps, folder_.string()));
        return false;
      }
    }
    return true;
  }

  /// Shortens the run when it would take longer than train.max_minutes, and gives steps back when the machine
  /// gets faster again; the schedule ends with the run.
  void keep_time_limit(ProgressDisplay& display, double elapsed, double per_step) {
    const double limit = 60.0 * config_.train.max_minutes;
    const TrainerState& state = trainer_.state();
    if (limit <= 0 || state.step >= state.steps) return;
    const auto affordable = static_cast<int64_t>(std::max(1.0, std::floor((limit - elapsed) / per_step)));
    const int64_t steps = std::min(config_.train.steps, state.step + affordable);
    const int64_t noise = (state.steps - state.step) / 50;
    if (std::abs(steps - state.steps) <= noise && elapsed < limit) return;
    if (!shortened_) {
      const double whole = elapsed + per_step * static_cast<double>(state.steps - state.step);
      display.message(
          fmt::format("time    {} steps would take {} here: shortened to fit train.max_minutes = {:g}",
                      state.steps, short_duration(whole), config_.train.max_minutes));
    }
    shortened_ = true;
    trainer_.set_steps(steps);
  }

  void finish(const RunLog& log) {
    const TrainerState& state = trainer_.state();
    Report report;
    draw_samples(report);
    fill_report(report, log);
    write_report(folder_ / "report.html", report);
    if (state.best_val) {
      fmt::print(out_, "best val {:.4f}{}   checkpoint {}   ", *state.best_val,
                 above_floor(" ({} above the floor)"), (folder_ / "best").string());
    }
    fmt::print(out_, "report {}\n", (folder_ / "report.html").string());
    for (const ReportSample& sample : report.samples)
      fmt::print(out_, "sample:\n{}{}\n", sample.prompt, sample.text);
  }

  void draw_samples(Report& report) {
    if (!trainer_.state().best_val) return;
    const GPT2 best = load_gpt2(folder_ / "best");
    for (int64_t i = 0; i < config_.sample.count; ++i) {
      const SamplingOptions options{.temperature = config_.sample.temperature,
                                    .top_k = config_.sample.top_k,
                                    .top_p = config_.sample.top_p,
                                    .seed = static_cast<uint64_t>(config_.run.seed + i)};
      std::string text =
          generate_text(best, *data_.tokenizer, config_.sample.prompt, config_.sample.tokens, options);
      text.erase(0, config_.sample.prompt.size());
      if (config_.sample.prompt.empty()) text.erase(0, std::min(text.find_first_not_of("\n "), text.size()));
      report.samples.push_back({config_.sample.prompt, text});
    }
  }

  std::string above_floor(const char* pattern) const {
    if (!data_.entropy_floor || !trainer_.state().best_val) return "";
    const double share = 100.0 * (*trainer_.state().best_val / *data_.entropy_floor - 1.0);
    return fmt::format(fmt::runtime(pattern), fmt::format("{:.1f} %", share));
  }

  void fill_report(Report& report, const RunLog& log) const {
    const TrainerState& state = trainer_.state();
    const double tokens = static_cast<double>(state.step * trainer_.tokens_per_step());
    const double rate = median_rate(log.records());
    report.name = config_.run.name;
    report.subtitle = describe_model(trainer_.model());
    report.footer = fmt::format("cladtorch {} · {}, {} threads, {} · {} · step {} of {}", version(),
                                cpu_name(), num_threads(), config_.run.dtype,
                                describe_memory(memory_).substr(8), state.step, state.steps);
    if (state.best_val)
      report.tiles.push_back({"best validation loss", fmt::format("{:.4f}", *state.best_val)});
    if (data_.entropy_floor) {
      report.tiles.push_back(
          {fmt::format("above the floor of {:.4f}", *data_.entropy_floor), above_floor("{}")});
    }
    report.tiles.push_back({"training time", short_duration(state.seconds)});
    report.tiles.push_back({"tokens per second, median", short_count(rate)});
    const double share =
        100.0 * rate * flops_per_token(trainer_.model().config, config_.model.context) / peak_flops_;
    report.tiles.push_back({"of the measured peak", fmt::format("{:.0f} %", share)});
    report.tiles.push_back({"tokens seen", short_count(tokens)});
    report.records = log.records();
    if (config_.train.eval_prefix > 0) {
      report.note = fmt::format(
          "Validation reads the first {:.0f} % of each window and scores the rest; training scores all of "
          "it, the first "
          "tokens almost blind, and so lies higher.",
          100.0 * config_.train.eval_prefix);
    }
    report.floor = data_.entropy_floor;
    report.config = config_json(config_);
  }

  TrainConfig config_;
  fs::path folder_;
  std::FILE* out_;
  data::Dataset data_;
  Trainer trainer_;
  MemoryUse memory_;
  double peak_flops_ = 0;
  bool shortened_ = false;
};

}  // namespace

TrainConfig resolve_config(const TrainRequest& request) {
  TrainConfig config;
  if (request.resume) {
    require(fs::is_directory(*request.resume), "train: --resume '", request.resume->string(),
            "' is not a folder; expected the folder of a run");
    for (const char* name : {"last", "best"}) io::recover_folder(*request.resume / name);
    require(fs::exists(*request.resume / "config.toml") && fs::exists(*request.resume / "last"),
            "train: --resume '", request.resume->string(),
            "' holds no config.toml and last/; expected the folder of a run");
    read_config(config, *request.resume / "config.toml");
  }
  if (request.config) read_config(config, *request.config);
  for (const std::string& assignment : request.set) set_config(config, assignment);
  check_config(config);
  if (request.resume) {
    config.run.out = request.resume->string();
  } else {
    if (!config.data.text.empty())
      config.data.text = fs::absolute(config.data.text).lexically_normal().string();
    choose_folder(config);
  }
  return config;
}

int run_training(const TrainRequest& request, const Objective& objective, std::FILE* out) {
  return Session(request, objective, out).run();
}

}  // namespace cladtorch::train
