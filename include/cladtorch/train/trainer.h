// One training run: model, optimizer, data and their state, step by step. It prints nothing and decides
// nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/data/dataset.h"
#include "cladtorch/data/loader.h"
#include "cladtorch/models/language_model.h"
#include "cladtorch/tensor/workspace.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/run_log.h"
#include "cladtorch/train/schedule.h"
#include "cladtorch/train/tensor_list.h"

namespace cladtorch::train {

/// Thrown when the loss, the gradient or the weights are no longer finite.
class Diverged : public Error {
 public:
  using Error::Error;
};

/// Bytes by purpose. `masters` are the float32 weights behind bfloat16 parameters.
struct MemoryUse {
  size_t parameters = 0, gradients = 0, optimizer = 0, activations = 0, masters = 0;
  size_t peak() const { return parameters + masters + gradients + optimizer + activations; }
};

/// Called with a step's gradient before it is clipped and applied. The gradient of the mean loss over all
/// targets of the step is `gradients` times `scale`.
using GradientObserver = std::function<void(const TensorList& gradients, double scale)>;

class TrainingStep;
struct RankWord;

class Trainer {
 public:
  /// A run of the float32 `model`, from its first step, that trains the parameters which are not frozen.
  /// `data` and its tokens must outlive the trainer. With `adapter`, the model gets adapters, and only they
  /// are trained and saved. The `ranks` share the micro-batches of each step and agree in all else: each has
  /// the whole model, and all make the same calls.
  Trainer(const TrainConfig& config, const data::Dataset& data, std::unique_ptr<LanguageModel> model,
          std::optional<AdapterRun> adapter = {}, comm::Communicator& ranks = comm::self());

  /// Continues from `checkpoint`, reading its weights into the model; throws Error if it belongs to another
  /// model, text or seed, or is damaged.
  void restore(const std::filesystem::path& checkpoint);
  ~Trainer();
  /// Throws Diverged instead of saving weights that are not finite. The first rank writes.
  void save(const std::filesystem::path& checkpoint);
  /// The same while the next step computes its gradients, if that is on the CPU: nothing is copied, since
  /// weights do not change before the update, which waits and throws what saving throws.
  void begin_save(const std::filesystem::path& checkpoint);
  /// Returns when all is saved.
  void finish_saves();

  /// Runs a step and an evaluation that change nothing, so that all memory is planned before training starts.
  MemoryUse plan_memory();

  /// Bytes of activations that a step with other micro-batches, or with recomputation, would take. On a CUDA
  /// device this runs nothing.
  size_t plan_activations(int64_t batch, bool gradient_checkpointing);

  /// One update. Throws Diverged, and updates nothing, if the loss or the gradient is not finite.
  StepRecord step(const GradientObserver& observe = {});

  /// The two halves of an update. On a CUDA device a step may begin before the previous one is finished, so
  /// that the device never waits for the host, unless something between the two needs the model or its state.
  void begin_step(const GradientObserver& observe = {});
  StepRecord finish_step();
  bool runs_ahead() const;
  /// The number of steps that have begun and are not finished.
  size_t steps_ahead() const { return begun_.size(); }

  /// Mean loss over the fixed validation batches; remembers the best. Throws Diverged if it is not finite.
  double evaluate();

  const TrainerState& state() const { return state_; }
  /// Changes the length of the run, and with it the learning rates still to come.
  void set_steps(int64_t steps) { state_.steps = steps; }
  /// The same on all ranks, from the next step on, if the first rank says so.
  void propose_steps(int64_t steps);
  /// How a rank knows that it should stop. It tells the others with each step.
  void set_stop_request(std::function<bool()> requested) { wants_stop_ = std::move(requested); }
  /// Whether a rank should, as far as all of them know.
  bool stop_requested() const;
  /// What each rank told with the last step.
  std::span<const RankWord> words() const;
  /// The model that computes, in run.dtype.
  const LanguageModel& model() const;
  /// The float32 weights to which updates are applied and which checkpoints hold: those of model(), unless
  /// that is bfloat16. Then a rank among several that share the optimizer's state has its share of them.
  const LanguageModel& master() const;
  /// The parameters of model() that updates change.
  const TensorList& weights() const;
  /// The other files of checkpoints, at first those of the data's tokenizer. A model that was read from a
  /// folder keeps its own.
  void set_extras(formats::FolderExtras extras) { extras_ = std::move(extras); }
  const data::EvalBatches& eval_batches() const { return eval_batches_; }
  int64_t tokens_per_step() const;
  /// The number of elements that updates change, those of parameters that are not frozen.
  int64_t trained_parameters() const;
  /// Arithmetic operations for one token in forward and backward, without the products that freezing saves.
  double flops_per_token() const;

 private:
  void build(std::unique_ptr<LanguageModel> master);
  void restore_weights(const std::filesystem::path& checkpoint, const TrainerState& state,
                       std::unique_ptr<LanguageModel>& master) const;
  struct Sum {
    double loss = 0;  ///< of a batch, times its weight
    double weight = 0;
  };
  /// Adds the micro-batches of this rank in a step, each weighted by the share of its positions that have a
  /// target.
  void add_micro_batches(uint64_t step);
  /// The state of a step that has begun.
  struct Begun {
    StepRecord record;
    data::LoaderState loader;
    std::chrono::steady_clock::time_point begin;
  };
  Sum evaluate_batch(int64_t index);
  void write_checkpoint(const std::filesystem::path& checkpoint, const TrainerState& state);
  [[noreturn]] void diverged(const char* what, double value) const;

  TrainConfig config_;
  comm::Communicator& ranks_;
  const data::Dataset& data_;
  std::optional<AdapterRun> adapter_;
  Schedule schedule_;
  data::Loader loader_;
  data::EvalBatches eval_batches_;
  Tensor tokens_, targets_;
  Workspace workspace_;  // training and evaluation take turns in one arena
  std::unique_ptr<TrainingStep> step_;
  std::deque<Begun> begun_;
  std::chrono::steady_clock::time_point finished_;  // the last step
  std::function<bool()> wants_stop_;
  int64_t proposed_steps_ = 0;  // 0: the length stays
  int64_t finite_step_ = -1;    // whose weights are known to be finite
  TrainerState state_;
  formats::FolderExtras extras_;  // the other files of checkpoints
};

/// The untrained model of a configuration, with the weights that run.seed draws.
std::unique_ptr<LanguageModel> make_model(const TrainConfig& config, int64_t vocab_size);

}  // namespace cladtorch::train
