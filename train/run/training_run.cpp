#include "cladtorch/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/ops/instruction_set.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/generate.h"
#include "cladtorch/train/metrics.h"
#include "cladtorch/train/peak.h"
#include "cladtorch/train/progress.h"
#include "cladtorch/train/report.h"
#include "cladtorch/train/stop_signal.h"
#include "cladtorch/train/system_info.h"
#include "cladtorch/train/usage_error.h"
#include "train/report/telemetry.h"
#include "train/run/describe.h"
#include "train/run/initial_model.h"
#include "train/run/pace.h"
#include "train/run/rank_times.h"
#include "train/run/run_folder.h"
#include "train/run/samples.h"
#include "train/run/scaling.h"
#include "train/step/leaf_sums.h"

namespace cladtorch::train {
namespace fs = std::filesystem;
namespace {

/// Steps after which the speed is known well enough to hold a run to its time limit.
constexpr int64_t steps_to_judge_speed = 20;

/// "story" for "texts/story.txt"; the built-in text is called "stories".
std::string default_name(const TrainConfig& config) {
  if (config.data.text.empty()) return "stories";
  fs::path path(config.data.text);
  if (!path.has_filename()) path = path.parent_path();  // "texts/" is the folder "texts"
  const std::string name = path.stem().string();
  return name.empty() ? "run" : name;
}

/// The folder of the weights that a resumed session goes on from.
std::optional<fs::path> checkpoint_of(const TrainRequest& request) {
  if (!request.resume) return {};
  return *request.resume / "last";
}

/// A model's own tokenizer comes from the checkpoint where there is one: its folder may be gone.
data::Dataset open_data(const TrainConfig& config, const std::optional<fs::path>& checkpoint) {
  const bool own = checkpoint && !config.model.from.empty() && config.data.vocabulary == config.model.from;
  const data::Vocabulary vocabulary(own ? checkpoint->string() : config.data.vocabulary);
  if (!config.data.text.empty()) return data::open_dataset(config.data.text, vocabulary);
  return data::stories_dataset(static_cast<size_t>(config.data.story_bytes), 1, vocabulary);
}

/// What a configuration with model.from leaves to the model's folder: where in it the model is, and its
/// tokenizer.
void take_from_model(TrainConfig& config) {
  if (config.data.text.empty())
    throw UsageError("finetune: there is no text to train on; name one with --text PATH");
  config.model.from = fs::absolute(find_checkpoint(config.model.from)).lexically_normal().string();
  // A vocabulary of the text's characters would number them otherwise than the model does.
  if (!config.data.vocabulary.empty() && config.data.vocabulary != data::Vocabulary::characters.name())
    return;
  if (data::holds_tokenizer(config.model.from)) {
    config.data.vocabulary = config.model.from;
    return;
  }
  require(data::is_prepared(config.data.text), "finetune: '", config.model.from,
          "' holds no tokenizer; name the model's with --tokenizer PATH, or train on prepared tokens");
  config.data.vocabulary = "byte";  // prepared tokens have their own
}

struct ResolvedConfig {
  TrainConfig config;
  std::vector<std::string> given;  ///< keys
};

/// The configuration of a request, of which each file is read once, and the keys that the user set for this
/// session.
ResolvedConfig resolve(const TrainRequest& request) {
  Settings own;
  std::string own_folder;
  if (request.resume) {
    if (request.from)
      throw UsageError(
          fmt::format("finetune: --resume {} continues with the model in that folder; leave out --from",
                      request.resume->string()));
    require(fs::is_directory(*request.resume), "train: --resume '", request.resume->string(),
            "' is not a folder; expected the folder of a run");
    require(fs::exists(*request.resume / "config.toml"), "train: --resume '", request.resume->string(),
            "' holds no config.toml; expected the folder of a run");
    own = read_settings(*request.resume / "config.toml");
    TrainConfig before;
    apply_settings(own, before);
    own_folder = before.run.out;
  }
  Settings given;
  if (request.config) given = read_settings(*request.config);
  if (request.from) given.push_back({"model.from", request.from->string()});
  for (const std::string& assignment : request.set) given.push_back(parse_setting(assignment));

  const auto over = [&](TrainConfig config) {
    apply_settings(own, config);
    apply_settings(given, config);
    return config;
  };
  TrainConfig config = over(request.from ? finetune_defaults() : TrainConfig{});
  if (request.from && config.lora.rank > 0) config = over(finetune_defaults(/*adapter=*/true));
  if (!request.resume && !config.model.from.empty()) take_from_model(config);
  if (request.resume) {
    if (config.run.out != own_folder) {
      throw UsageError(fmt::format("train: --resume {} continues in that folder; leave out --out and run.out",
                                   request.resume->string()));
    }
    config.run.out = request.resume->string();
  }
  if (!config.data.text.empty()) {
    config.data.text = fs::absolute(config.data.text).lexically_normal().string();
  }
  check_config(config);
  if (config.run.name.empty()) config.run.name = default_name(config);
  ResolvedConfig resolved{std::move(config), {}};
  for (const Setting& setting : given) resolved.given.push_back(setting.key);
  return resolved;
}

/// The folder of a run, which the first rank holds.
RunFolder open_folder(const TrainRequest& request, const TrainConfig& config, comm::Communicator& ranks) {
  const char* what = "the folder of the run";
  if (!ranks.is_first()) return RunFolder::of_others(ranks.share("", what));
  RunFolder folder = request.resume ? RunFolder::of_run(*request.resume) : RunFolder::for_new_run(config);
  ranks.share(folder.path().string(), what);
  return folder;
}

ResolvedConfig resolve_for(const TrainRequest& request, const comm::Communicator& ranks) {
  ResolvedConfig resolved = resolve(request);
  resolve_leaves(resolved.config, ranks.size());
  return resolved;
}

/// The first key that two configurations do not agree in, and their values.
std::string first_difference(const TrainConfig& first, const std::string& other) {
  std::istringstream ours(config_toml(first)), theirs(other);
  std::string section;
  for (std::string a, b; std::getline(ours, a) && std::getline(theirs, b);) {
    if (a.starts_with("[")) section = a;
    if (a != b) return fmt::format("{} {} and {}", section, b, a);
  }
  return "another file";
}

/// What all ranks must have in common, with the way out where one differs.
void check_alike(const TrainConfig& config, const data::Dataset& data, comm::Communicator& ranks) {
  TrainConfig own = config;
  own.run.threads = 0;  // each rank may have its own
  const std::pair<const char*, std::string> facts[] = {
      {"version; install the same cladtorch everywhere", version()},
      {"instruction set; set CLADTORCH_SIMD to one that all have", instruction_set()},
      {"text", fmt::format("{} tokens", data.train.size() + data.validation.size())},
      {"tokenizer", fmt::format("vocabulary {:016x}", data.tokenizer->fingerprint())}};
  const char* what = "the start of all ranks";
  for (const auto& [name, value] : facts) {
    const std::vector<std::string> all = ranks.all_gather(value, what);
    for (int rank = 1; rank < ranks.size(); ++rank)
      require(all.front() == all[static_cast<size_t>(rank)], "rank 0 on ", ranks.host(0), " has ",
              all.front(), ", rank ", rank, " on ", ranks.host(rank), " has ", all[static_cast<size_t>(rank)],
              ": another ", name);
  }
  const std::vector<std::string> configs = ranks.all_gather(config_toml(own), what);
  for (int rank = 1; rank < ranks.size(); ++rank)
    require(configs.front() == configs[static_cast<size_t>(rank)], "rank ", rank, " on ", ranks.host(rank),
            " has another configuration than rank 0: ",
            first_difference(own, configs[static_cast<size_t>(rank)]));
}

/// One session of a run: everything between opening the folder and writing the report.
class Session {
 public:
  Session(const TrainRequest& request, std::FILE* out, comm::Communicator& ranks)
      : ranks_(ranks),
        resolved_(resolve_for(request, ranks)),
        folder_(open_folder(request, config_, ranks)),
        silence_(ranks.is_first() ? nullptr : std::fopen("/dev/null", "w"), &std::fclose),
        out_(silence_ ? silence_.get() : out),
        data_(open_data(config_, checkpoint_of(request))),
        model_(begin_model(request)),
        trainer_(config_, data_, std::move(model_), adapter_run(config_), ranks) {
    ranks_.set_timeout(std::chrono::seconds(config_.distributed.timeout));
    check_alike(config_, data_, ranks_);
    if (config_.run.threads > 0) set_num_threads(static_cast<int>(config_.run.threads));
    if (request.resume) {
      trainer_.restore(file("last"));
    } else if (!config_.model.from.empty()) {
      keep_extras();
    }
    require(trainer_.state().step < trainer_.state().steps, "train: '", folder_.path().string(),
            "' has done its ", trainer_.state().step, " steps; train longer with --steps N");
    require(!stopped_early(), "train: '", folder_.path().string(),
            "' stopped early: ", trainer_.state().evaluations_since_best,
            " evaluations had no lower validation loss; go on with --patience N, or 0 for no limit");
    check_prompt();
  }

  int run() {
    if (ranks_.is_first()) folder_.claim();
    const std::string path = ranks_.share(folder_.path().string(), "the folder of the run");
    if (!ranks_.is_first()) folder_ = RunFolder::of_others(path);
    std::optional<StopSignal> stop(std::in_place);  // a folder that is taken becomes a run to resume
    trainer_.set_stop_request([&] { return stop && stop->requested(); });
    config_.run.out = path;
    describe();
    std::optional<RunLog> log;
    if (ranks_.is_first()) {
      io::write_file(file("config.toml"), config_toml(config_));
      log.emplace(file("log.jsonl"), trainer_.state().step);
    }
    TrainConfig of_telemetry = config_;
    of_telemetry.log.tensorboard &= ranks_.is_first();
    Telemetry telemetry(of_telemetry, folder_.path(), trainer_.state().step, facts_.bytes_per_token);
    write_facts();
    if (!config_.model.from.empty()) evaluate_first(telemetry);
    const int64_t begun_at = trainer_.state().step;
    const bool finished = train(log, telemetry, *stop);
    stop.reset();
    if (finished && ranks_.is_first()) {
      std::vector<StepRecord> records = read_run_log(file("log.jsonl"));
      // Steps before a resume may have been those of other ranks or machines.
      std::erase_if(records, [&](const StepRecord& record) { return record.step <= begun_at; });
      facts_.scaling =
          plan_of_more_ranks(config_, trainer_, ranks_, facts_.peak_flops / ranks_.size(), records);
    }
    if (ranks_.is_first()) finish(telemetry);
    ranks_.barrier("the end of the run");
    return finished ? 0 : interrupted_exit_code;
  }

 private:
  fs::path file(const char* name) const { return folder_.path() / name; }
  void write_facts() const {
    if (ranks_.is_first()) write_run_facts(file("run.json"), facts_);
  }

  /// Says what adapters of a great rank are worth before there is memory for them.
  std::unique_ptr<LanguageModel> begin_model(const TrainRequest& request) {
    auto model = initial_model(config_, resolved_.given, data_, checkpoint_of(request));
    const std::string warning = describe_rank(config_, *model);
    if (!warning.empty()) fmt::print(out_, "{}\n", warning);
    std::fflush(out_);
    return model;
  }

  /// Samples are drawn at the end: too late to find out that they cannot begin so.
  void check_prompt() const {
    try {
      if (config_.sample.count > 0) encode_prompt(*data_.tokenizer, config_.sample.prompt);
    } catch (const Error& error) {
      fail("sample.prompt: ", error.what());
    }
  }

  /// A model of others keeps what lies beside it, unless the text has another tokenizer.
  void keep_extras() {
    const fs::path from = config_.model.from;
    if (!data::holds_tokenizer(from)) return;
    if (data::load_tokenizer(from)->fingerprint() == data_.tokenizer->fingerprint())
      trainer_.set_extras(formats::read_extras(from));
  }

  bool stopped_early() const {
    return config_.train.patience > 0 && trainer_.state().evaluations_since_best >= config_.train.patience;
  }

  /// What weights that were there already are worth. From here on there is a checkpoint to resume from.
  void evaluate_first(Telemetry& telemetry) {
    if (!trainer_.state().first_val) {
      trainer_.evaluate();
      trainer_.save(file("best"));
      trainer_.save(file("last"));
      telemetry.write_first_validation(*trainer_.state().first_val);
    }
    facts_.first_val = trainer_.state().first_val;
    write_facts();
    fmt::print(out_, "start   validation loss {:.4f}, perplexity {:.3f}\n", *facts_.first_val,
               perplexity(*facts_.first_val));
    std::fflush(out_);
  }

  void describe() {
    fmt::print(out_, "cladtorch {}  {}  {}, {}, {}\n", version(), describe_model(trainer_.model()),
               config_.run.device, describe_threads(), config_.run.dtype);
    const MemoryUse memory = trainer_.plan_memory();
    fmt::print(out_, "memory  {}\n{}\n", describe_memory(memory), describe_text(config_, data_));
    if (ranks_.size() > 1) fmt::print(out_, "{}\n", describe_ranks(config_, ranks_));
    const std::string trained = describe_trained(trainer_);
    if (!trained.empty()) fmt::print(out_, "{}\n", trained);
    const TrainerState& state = trainer_.state();
    if (state.step > 0)
      fmt::print(out_, "resume  {} at step {} of {}\n", config_.run.out, state.step, state.steps);
    std::fflush(out_);
    const Device device = trainer_.model().device();
    const DType dtype = trainer_.model().dtype();
    const bool on_cpu = device.type == DeviceType::cpu;
    if (!on_cpu) {
      const std::string lack = describe_lack(config_, trainer_, memory);
      if (!lack.empty()) throw Error(lack);
    }
    const double peak_here =
        on_cpu ? measure_peak_flops(num_threads(), dtype) : measure_peak_flops(device, dtype);
    const double peak_flops = sum_in_order(ranks_, std::span(&peak_here, 1), "the speed of all ranks");
    facts_ = {
        .version = version(),
        .model = describe_model(trainer_.model()),
        .hardware = on_cpu ? fmt::format("{}, {}", cpu_name(), describe_threads()) : device_name(device),
        .memory = describe_memory(memory),
        .parameters = trainer_.model().parameter_count(),
        .trained_parameters = trainer_.trained_parameters(),
        .vocab_size = data_.tokenizer->vocab_size(),
        .tokenizer = data_.tokenizer->kind(),
        .flops_per_token = trainer_.flops_per_token(),
        .peak_flops = peak_flops,
        .floor = data_.entropy_floor,
        .bytes_per_token = bytes_per_token(trainer_.eval_batches(), *data_.tokenizer)};
  }

  bool train(std::optional<RunLog>& log, Telemetry& telemetry, const StopSignal& stop) {
    try {
      return loop(log, telemetry, stop);
    } catch (const Diverged& error) {
      if (!fs::exists(file("last"))) fail(error.what(), "; there is no checkpoint yet");
      fail(error.what(), "; the last good checkpoint is '", file("last").string(), "', of step ",
           load_trainer_state(file("last")).step);
    }
  }

  /// Trains to the end (true) or to Ctrl-C (false).
  bool loop(std::optional<RunLog>& log, Telemetry& telemetry, const StopSignal& stop) {
    ProgressDisplay display(out_, config_.train.log_every);
    ProgressState progress{.val_loss = trainer_.state().val_loss,
                           .floor = data_.entropy_floor,
                           .flops_per_token = facts_.flops_per_token,
                           .peak_flops = facts_.peak_flops};
    const double seconds_before = trainer_.state().seconds;
    double shown_rate = 0;
    Pace pace;
    while (trainer_.state().step < trainer_.state().steps) {
      StepRecord record = next_step(telemetry, stop);
      const bool stopping = trainer_.stop_requested() && trainer_.steps_ahead() == 0;
      evaluate_and_save(record, log, telemetry, stopping);
      if (record.val_loss) progress.val_loss = record.val_loss;

      rank_times_.add(trainer_.words());
      if (const std::string news = rank_times_.news(ranks_); !news.empty()) display.message(news);
      pace.add_step(trainer_.state().seconds - seconds_before);
      facts_.ranks = rank_times_.summary(ranks_, pace.per_step());
      if (pace.steps() > steps_to_judge_speed && config_.train.max_minutes > 0)
        keep_time_limit(display, pace);
      progress.steps = trainer_.state().steps;
      progress.eta_seconds = pace.per_step() * static_cast<double>(progress.steps - record.step);
      shown_rate =
          shown_rate == 0 ? record.tokens_per_second : 0.9 * shown_rate + 0.1 * record.tokens_per_second;
      record.tokens_per_second = shown_rate;
      display.show(record, progress);
      if (record.val_loss && stopped_early()) {
        display.message(
            fmt::format("stopped after step {} of {}: {} evaluations without a lower validation loss",
                        record.step, progress.steps, config_.train.patience));
        trainer_.finish_saves();
        break;
      }
      if (stopping && record.step < progress.steps) {
        display.message(fmt::format("stopped after step {} of {}; continue with: cladtorch train --resume {}",
                                    record.step, progress.steps, config_.run.out));
        return false;
      }
    }
    return true;
  }

  /// On a GPU the step after it has begun when this one is read, unless something comes between the two.
  StepRecord next_step(Telemetry& telemetry, const StopSignal& stop) {
    const auto begin = [&] {
      const int64_t step = trainer_.state().step + static_cast<int64_t>(trainer_.steps_ahead()) + 1;
      trainer_.begin_step(telemetry.gradient_observer(step));
    };
    if (trainer_.steps_ahead() == 0) begin();
    const int64_t step = trainer_.state().step + 1;
    if (trainer_.runs_ahead() && trainer_.steps_ahead() == 1 && !stop.requested() && !something_follows(step))
      begin();
    return trainer_.finish_step();
  }

  bool evaluates_after(int64_t step) const {
    return step % config_.train.eval_every == 0 || step >= trainer_.state().steps;
  }
  bool saves_after(int64_t step) const {
    return config_.train.save_every > 0 && step % config_.train.save_every == 0;
  }
  bool something_follows(int64_t step) const {
    return evaluates_after(step) || saves_after(step) || config_.log.histograms_every > 0;
  }

  /// What follows an update: the validation loss where it is due, also before a stop, since a resumed session
  /// does not go back to it; the log; the checkpoints.
  void evaluate_and_save(StepRecord& record, std::optional<RunLog>& log, Telemetry& telemetry,
                         bool stopping) {
    const bool last = record.step == trainer_.state().steps;
    const bool evaluate = evaluates_after(record.step);
    const double best_before = trainer_.state().best_val.value_or(INFINITY);
    if (evaluate) record.val_loss = trainer_.evaluate();
    record.seconds = trainer_.state().seconds;
    if (log) log->write(record);
    telemetry.write(record, trainer_.state().steps, trainer_.weights());
    if (evaluate && !last && !stopping && config_.log.samples && ranks_.is_first()) {
      telemetry.write_samples(draw_samples(config_, trainer_.model(), *data_.tokenizer), record.step);
    }
    if (evaluate && *record.val_loss < best_before) trainer_.begin_save(file("best"));
    if (stopping || evaluate || saves_after(record.step)) trainer_.begin_save(file("last"));
    if (stopping || last) trainer_.finish_saves();
  }

  /// Shortens the run when it would take longer than train.max_minutes, and gives steps back when the machine
  /// gets faster again; the schedule ends with the run. The first rank decides.
  void keep_time_limit(ProgressDisplay& display, const Pace& pace) {
    if (!ranks_.is_first()) return;
    const double limit = 60.0 * config_.train.max_minutes;
    const TrainerState& state = trainer_.state();
    if (state.step >= state.steps) return;
    const double affordable = std::max(1.0, std::floor((limit - pace.elapsed()) / pace.per_step()));
    const auto left = static_cast<double>(config_.train.steps - state.step);
    const int64_t steps = state.step + static_cast<int64_t>(std::min(affordable, left));
    const int64_t noise = (state.steps - state.step) / 50;
    if (std::abs(steps - state.steps) <= noise && pace.elapsed() < limit) return;
    if (!shortened_) {
      const double whole = pace.elapsed() + pace.per_step() * static_cast<double>(state.steps - state.step);
      display.message(
          fmt::format("time    {} steps would take {} here: shortened to fit train.max_minutes = {:g}",
                      state.steps, short_duration(whole), config_.train.max_minutes));
    }
    shortened_ = true;
    trainer_.propose_steps(steps);
  }

  void finish(Telemetry& telemetry) {
    const TrainerState& state = trainer_.state();
    if (state.best_val && config_.sample.count > 0) {
      // A second model is loaded only if the best is another, and somebody may have moved it away.
      const bool loads = state.best_step != state.step && fs::exists(file("best"));
      const std::unique_ptr<LanguageModel> best =
          loads ? formats::load_model(file("best"), trainer_.model().dtype()) : nullptr;
      facts_.samples = draw_samples(config_, best ? *best : trainer_.model(), *data_.tokenizer);
      telemetry.write_samples(facts_.samples, state.step);
    }
    write_facts();
    const RunRecord run = read_run(folder_.path());
    write_report(file("report.html"), {&run, 1});
    fmt::print(out_, "{}", evaluation_text(run));
    if (run.facts.first_val) fmt::print(out_, "{}\n", describe_finetuning(run));
    if (run.best()) fmt::print(out_, "checkpoint {}   ", file("best").string());
    fmt::print(out_, "report {}\n", file("report.html").string());
    for (const ReportSample& sample : facts_.samples)
      fmt::print(out_, "sample:\n{}{}\n", sample.prompt, sample.text);
  }

  comm::Communicator& ranks_;
  ResolvedConfig resolved_;
  TrainConfig& config_ = resolved_.config;
  RunFolder folder_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> silence_;  // where the other ranks print
  std::FILE* out_;
  data::Dataset data_;
  std::unique_ptr<LanguageModel> model_;  // until the trainer takes it
  Trainer trainer_;
  RunFacts facts_;
  RankTimes rank_times_;
  bool shortened_ = false;
};

}  // namespace

int run_training(const TrainRequest& request, std::FILE* out, comm::Communicator& ranks) {
  return Session(request, out, ranks).run();
}

}  // namespace cladtorch::train
