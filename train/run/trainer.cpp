#include "cladtorch/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/dry_run.h"
#include "train/step/leaf_sums.h"
#include "train/step/make_optimizer.h"
#include "train/step/shares.h"
#include "train/step/training_step.h"

namespace cladtorch::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

data::BatchShape batch_shape(const TrainConfig& config) { return {config.train.batch, config.model.context}; }

/// The error of a text that does not fill one window, which the loaders cannot name.
const data::Dataset& long_enough(const data::Dataset& data, const TrainConfig& config) {
  const auto needed = static_cast<uint64_t>(config.model.context) + 1;
  const std::string& name = config.data.text.empty() ? data.name : config.data.text;
  const auto check = [&](uint64_t tokens, const char* use) {
    require(config.data.packing == "documents" || tokens >= needed, "train: the text '", name,
            "' is too short: it has ", tokens, " tokens for ", use,
            ", but model.context = ", config.model.context, " needs at least ", needed,
            "; use a longer text or a smaller context");
  };
  check(data.train.size(), "training");
  check(data.validation.size(), "validation");
  return data;
}

TrainConfig with_leaves(TrainConfig config, const comm::Communicator& ranks) {
  resolve_leaves(config, ranks.size());
  return config;
}

Sharing sharing(const TrainConfig& config, comm::Communicator& ranks) {
  return {.ranks = ranks,
          .leaves = config.train.leaves,
          .zero = static_cast<int>(config.distributed.zero),
          .overlap = config.distributed.overlap,
          .bucket_elements = elements_of_bucket(config.distributed.bucket_mb)};
}

/// Tokens at the start of a validation window that are only read; at least one of the window is scored.
int64_t unscored(const TrainConfig& config) {
  return static_cast<int64_t>(config.train.eval_prefix * static_cast<double>(config.model.context));
}

std::span<int32_t> span_of(Tensor& tensor) {
  return {tensor.data<int32_t>(), static_cast<size_t>(tensor.numel())};
}

/// 1 where every position has a target.
double share_of_targets(std::span<const int32_t> targets) {
  const auto ignored = std::ranges::count(targets, data::ignored_target);
  return 1 - static_cast<double>(ignored) / static_cast<double>(targets.size());
}

}  // namespace

namespace {

std::unique_ptr<LanguageModel> make_gpt2(const TrainConfig& config, int64_t vocab_size) {
  GPT2Config model;
  model.vocab_size = vocab_size;
  model.n_positions = config.model.context;
  model.n_layer = config.model.layers;
  model.n_head = config.model.heads;
  model.n_embd = config.model.channels;
  model.n_inner = config.model.hidden;
  model.tie_word_embeddings = config.model.tied;
  model.activation = *nn::activation_named(config.model.activation);
  model.dropout = config.model.dropout;
  model.gradient_checkpointing = config.model.gradient_checkpointing;
  return as_language_model(GPT2(model, static_cast<uint64_t>(config.run.seed)));
}

std::unique_ptr<LanguageModel> make_llama(const TrainConfig& config, int64_t vocab_size) {
  LlamaConfig model;
  model.vocab_size = vocab_size;
  model.hidden_size = config.model.channels;
  model.intermediate_size = hidden_size(config.model);
  model.num_hidden_layers = config.model.layers;
  model.num_attention_heads = config.model.heads;
  model.num_key_value_heads = config.model.kv_heads;
  model.max_position_embeddings = config.model.context;
  model.sliding_window = config.model.window;
  model.is_mistral = config.model.kind == "mistral";
  model.rope.theta = config.model.rope_theta;
  model.tie_word_embeddings = config.model.tied;
  model.gradient_checkpointing = config.model.gradient_checkpointing;
  return as_language_model(Llama(model, static_cast<uint64_t>(config.run.seed)));
}

}  // namespace

std::unique_ptr<LanguageModel> make_model(const TrainConfig& config, int64_t vocab_size) {
  return config.model.kind == "gpt2" ? make_gpt2(config, vocab_size) : make_llama(config, vocab_size);
}

Trainer::Trainer(const TrainConfig& config, const data::Dataset& data, std::unique_ptr<LanguageModel> model,
                 std::optional<AdapterRun> adapter, comm::Communicator& ranks)
    : config_(with_leaves(config, ranks)),
      ranks_(ranks),
      data_(long_enough(data, config)),
      adapter_(std::move(adapter)),
      schedule_{.kind = schedule_kind_from_string(config.schedule.kind),
                .peak = config.optimizer.lr,
                .minimum = config.schedule.min_lr,
                .warmup = config.schedule.warmup,
                .decay_fraction = config.schedule.decay_fraction,
                .step_size = config.schedule.step_size,
                .gamma = config.schedule.gamma},
      loader_(data.train, batch_shape(config), static_cast<uint64_t>(config.run.seed),
              data::sampling_from_string(config.data.sampling),
              data::packing_from_string(config.data.packing)),
      eval_batches_(data.validation, batch_shape(config),
                    {.context = unscored(config),
                     .max_batches = config.train.eval_batches,
                     .packing = data::packing_from_string(config.data.packing)}),
      tokens_(zeros({config.train.batch, config.model.context}, DType::int32)),
      targets_(zeros({config.train.batch, config.model.context}, DType::int32)) {
  state_.steps = state_.configured_steps = config.train.steps;
  state_.train_tokens = data.train.size();
  state_.loader = loader_.state();
  extras_ = extras_of(*data.tokenizer);
  if (adapter_) {
    state_.base_fingerprint = base_fingerprint(*model);
    adapt(model, adapter_->lora, static_cast<uint64_t>(config.run.seed));
  }
  build(std::move(model));
}

void Trainer::build(std::unique_ptr<LanguageModel> master) {
  const MakeOptimizer make = [&](TensorList parameters, TensorList masters) {
    return make_optimizer(config_.optimizer, std::move(parameters), std::move(masters));
  };
  step_ = std::make_unique<TrainingStep>(master->to(device_from_string(config_.run.device)),
                                         precision_from_string(config_.run.dtype), make, workspace_,
                                         sharing(config_, ranks_));
}

const LanguageModel& Trainer::model() const { return step_->model(); }
const LanguageModel& Trainer::master() const { return step_->master(); }
const TensorList& Trainer::weights() const { return step_->optimizer().parameters(); }
int64_t Trainer::trained_parameters() const { return step_->gradients().numel(); }
bool Trainer::runs_ahead() const { return step_->runs_ahead(); }

Trainer::~Trainer() {
  if (ranks_.size() > 1) return;  // a rank that has failed does not wait for others
  try {
    finish_saves();
  } catch (...) {  // what ends the run is thrown already
  }
}

void Trainer::restore(const std::filesystem::path& checkpoint) {
  finish_saves();
  const TrainerState state = load_trainer_state(checkpoint);
  require(state.train_tokens == data_.train.size(), "resume '", checkpoint.string(), "': it was trained on ",
          state.train_tokens, " tokens, the text has ", data_.train.size(), " now; has the text changed?");
  require(state.loader.seed == static_cast<uint64_t>(config_.run.seed), "resume '", checkpoint.string(),
          "': it was started with run.seed = ", state.loader.seed, ", not ", config_.run.seed,
          "; a run keeps its seed");
  const data::TokenizerPtr tokenizer = data::load_tokenizer(checkpoint);
  require(tokenizer->fingerprint() == data_.tokenizer->fingerprint(), "resume '", checkpoint.string(),
          "': its vocabulary is not that of the text; has the text changed?");
  std::unique_ptr<LanguageModel> master = step_->release_master()->to(Device{});
  restore_weights(checkpoint, state, master);
  bool finite = std::isfinite(TensorList(master->parameters()).norm());
  build(std::move(master));
  Optimizer& optimizer = step_->optimizer();
  load_optimizer(checkpoint, optimizer);
  require(optimizer.steps() == state.step, "resume '", checkpoint.string(), "': it is of step ", state.step,
          ", but its optimizer has done ", optimizer.steps(), "; was trainer_state.json edited?");
  if (Float8Layers* float8 = step_->float8()) load_float8(checkpoint, *float8);
  finite &= optimizer.has_finite_state();
  require(finite, "resume '", checkpoint.string(),
          "': it holds numbers that are not finite; it cannot be continued");
  loader_.restore(state.loader);
  // Checkpoints of long ago do not say how many tokens.
  require(state.tokens == 0 || loader_.may_have_given(static_cast<uint64_t>(state.tokens)), "resume '",
          checkpoint.string(), "': ", state.tokens, " tokens do not lead to sequence ", state.loader.position,
          " of epoch ", state.loader.epoch,
          "; has the sequence length or the sampling changed, or was trainer_state.json edited?");
  extras_ = formats::read_extras(checkpoint);
  state_ = state;
  // The length that a time limit chose holds until the user asks for another one.
  if (state_.configured_steps != config_.train.steps) {
    state_.steps = state_.configured_steps = config_.train.steps;
  }
}

void Trainer::restore_weights(const std::filesystem::path& checkpoint, const TrainerState& state,
                              std::unique_ptr<LanguageModel>& master) const {
  require(adapter_.has_value() == !state.base_fingerprint.empty(), "resume '", checkpoint.string(),
          "': it holds ", adapter_ ? "a whole model" : "an adapter", ", but the configuration trains ",
          adapter_ ? "an adapter" : "a whole model");
  if (adapter_) {
    require(state.base_fingerprint == state_.base_fingerprint, "resume '", checkpoint.string(),
            "': its adapter belongs to another model than the one in '", adapter_->base.string(),
            "'; have its weights changed?");
    return restore_adapter(checkpoint, adapter_->lora, master);
  }
  const std::string differs = formats::difference(checkpoint, *master);
  require(differs.empty(), "resume '", checkpoint.string(),
          "': the model keys of the configuration differ from the checkpoint's: ", differs);
  formats::load_parameters(checkpoint, *master);
}

void Trainer::save(const std::filesystem::path& checkpoint) {
  begin_save(checkpoint);
  finish_saves();
}

void Trainer::finish_saves() { step_->finish_beside(); }

void Trainer::begin_save(const std::filesystem::path& checkpoint) {
  // An update from a finite gradient can still overflow; such weights must not replace good ones.
  if (finite_step_ != state_.step) {
    if (ranks_.size() > 1) finish_saves();  // they send messages
    const char* what = "the length of the weights";
    const double norm = step_->optimizer().norm_of_masters();
    if (const double sum = sum_in_order(ranks_, std::span(&norm, 1), what); !std::isfinite(sum))
      diverged(what, sum);
    finite_step_ = state_.step;
  }
  step_->do_beside([this, checkpoint, state = state_] { write_checkpoint(checkpoint, state); });
}

void Trainer::write_checkpoint(const std::filesystem::path& checkpoint, const TrainerState& state) {
  step_->read_state([&] {
    save_checkpoint(checkpoint, master(), step_->optimizer(), state, extras_, adapter_ ? &*adapter_ : nullptr,
                    step_->float8(),
                    [&](const TensorList& list, size_t tensor) { return step_->whole_state(list, tensor); });
  });
}

void Trainer::diverged(const char* what, double value) const {
  throw Diverged(
      fmt::format("training stopped after step {}: {} is {}; lower optimizer.lr (now {:g}) or raise "
                  "schedule.warmup (now {})",
                  state_.step, what, std::isnan(value) ? "nan" : "infinite", config_.optimizer.lr,
                  config_.schedule.warmup));
}

int64_t Trainer::tokens_per_step() const {
  return config_.train.batch * config_.train.accumulate * config_.model.context;
}

double Trainer::flops_per_token() const {
  const std::vector<NamedTensor> parameters = model().parameters();
  // In the order of a forward pass: no backward pass goes below the first that is trained.
  const auto first_trained =
      std::ranges::find_if(parameters, [](const NamedTensor& named) { return !named.tensor.is_frozen(); });
  std::set<std::string> below;
  for (auto named = parameters.begin(); named != first_trained; ++named) below.insert(named->name);
  double flops = model().flops_per_token(config_.model.context);
  const auto leave_out = [&](const std::string& name, const Tensor& weight) {
    const int products = (weight.is_frozen() ? 1 : 0) + (below.contains(name) ? 1 : 0);
    flops -= 2 * products * static_cast<double>(weight.numel());
  };
  for (const NamedLinear& linear : step_->model().linear_layers()) {
    leave_out(linear.name + ".weight", linear.layer->weight);
    if (const nn::LoRALinear* layer = linear.lora; layer && layer->has_lora())
      flops += 6 * static_cast<double>(layer->lora_A.numel() + layer->lora_B.numel());
  }
  const NamedTensor& last = parameters.back();  // the output layer, unless the embeddings are that too
  leave_out("", last.name == "lm_head.weight" ? last.tensor : parameters.front().tensor);
  return flops;
}

void Trainer::add_micro_batches(uint64_t step) {
  const int64_t count = config_.train.accumulate, of_leaf = count / config_.train.leaves;
  int64_t micro = 0;
  for (const int64_t leaf : step_->leaves()) {
    loader_.skip(leaf * of_leaf - micro);
    for (micro = leaf * of_leaf; micro < (leaf + 1) * of_leaf; ++micro) {
      loader_.next(span_of(tokens_), span_of(targets_));
      step_->add({.tokens = tokens_,
                  .targets = targets_,
                  .weight = share_of_targets(span_of(targets_)),
                  .seed = static_cast<uint64_t>(config_.run.seed),
                  .number = step * static_cast<uint64_t>(count) + static_cast<uint64_t>(micro),
                  .ends_leaf = micro + 1 == (leaf + 1) * of_leaf});
    }
  }
  loader_.skip(count - micro);
}

bool Trainer::stop_requested() const {
  if (ranks_.size() == 1) return wants_stop_ && wants_stop_();
  return std::ranges::any_of(step_->words(), [](const RankWord& word) { return word.wants_stop > 0; });
}

void Trainer::propose_steps(int64_t steps) { (ranks_.size() == 1 ? state_.steps : proposed_steps_) = steps; }

std::span<const RankWord> Trainer::words() const { return step_->words(); }

MemoryUse Trainer::plan_memory() {
  step_->plan(tokens_, targets_);
  const Device device = step_->device();
  {
    std::optional<DryRun> dry;
    if (device.type != DeviceType::cpu) dry.emplace();
    evaluate_batch(0);
  }
  MemoryUse use;
  const DType dtype = model().dtype();
  const auto all = static_cast<size_t>(model().parameter_count());
  use.parameters = all * size_of(dtype);
  if (dtype == DType::bfloat16) {
    // Of what is trained only the share of this rank.
    const Optimizer& optimizer = step_->optimizer();
    use.masters = (all - static_cast<size_t>(trained_parameters())) * size_of(DType::float32);
    for (const size_t piece : optimizer.share()) {
      const auto& [tensor, begin, end] = optimizer.masters().pieces()[piece];
      use.masters += static_cast<size_t>(end - begin) * size_of(DType::float32);
    }
  }
  use.gradients = static_cast<size_t>(trained_parameters()) * size_of(step_->gradients().dtype());
  use.optimizer = step_->optimizer().bytes();
  const WorkspaceStatistics statistics = workspace_.statistics(device);
  use.activations = device.type == DeviceType::cpu ? statistics.arena_bytes : statistics.planned_bytes;
  return use;
}

StepRecord Trainer::step(const GradientObserver& observe) {
  begin_step(observe);
  return finish_step();
}

size_t Trainer::plan_activations(int64_t batch, bool gradient_checkpointing) {
  return step_->plan_activations({batch, config_.model.context}, gradient_checkpointing);
}

void Trainer::begin_step(const GradientObserver& observe) {
  Begun begun;
  begun.begin = Clock::now();
  begun.record.step = state_.step + static_cast<int64_t>(begun_.size()) + 1;
  begun.record.lr = schedule_.at(begun.record.step - 1, state_.steps);
  step_->optimizer().set_lr(begun.record.lr);
  add_micro_batches(static_cast<uint64_t>(begun.record.step - 1));
  step_->sum_leaves(/*whole=*/config_.log.histograms_every > 0,
                    {.seconds = seconds_since(begun.begin) / static_cast<double>(step_->leaves().size()),
                     .wants_stop = wants_stop_ && wants_stop_() ? 1.0 : 0.0,
                     .steps = static_cast<double>(proposed_steps_)});
  proposed_steps_ = 0;
  if (const RankWord& first = step_->words().front(); first.steps > 0)
    state_.steps = static_cast<int64_t>(first.steps);
  if (observe) observe(step_->gradients(), 1.0 / step_->weight());
  step_->finish(config_.optimizer.clip);
  begun.loader = loader_.state();
  begun_.push_back(std::move(begun));
}

StepRecord Trainer::finish_step() {
  const Begun begun = std::move(begun_.front());
  begun_.pop_front();
  StepRecord record = begun.record;
  const StepOutput output = step_->read();
  record.loss = output.loss;
  record.grad_norm = output.norm;
  if (!std::isfinite(record.loss)) diverged("the loss", record.loss);
  if (!std::isfinite(record.grad_norm)) diverged("the length of the gradient", record.grad_norm);
  // Where steps overlap, each takes the time since the one before it was finished.
  const Clock::time_point now = Clock::now(), begin = std::max(begun.begin, finished_);
  const double seconds = std::chrono::duration<double>(now - begin).count();
  finished_ = now;
  record.tokens_per_second = static_cast<double>(tokens_per_step()) / seconds;
  state_.step = record.step;
  state_.tokens += tokens_per_step();
  state_.loader = begun.loader;
  state_.seconds += seconds;
  record.tokens = state_.tokens;
  record.seconds = state_.seconds;
  return record;
}

Trainer::Sum Trainer::evaluate_batch(int64_t index) {
  const auto scored = static_cast<double>(eval_batches_.get(index, span_of(tokens_), span_of(targets_)));
  return {scored * step_->loss(tokens_, targets_), scored};
}

double Trainer::evaluate() {
  if (ranks_.size() > 1) finish_saves();  // they send messages
  const auto begin = Clock::now();
  const int64_t count = eval_batches_.count(), rank = ranks_.rank(), ranks = ranks_.size();
  std::vector<double> losses, weights;
  for (int64_t i = count * rank / ranks; i < count * (rank + 1) / ranks; ++i) {
    const Sum batch = evaluate_batch(i);
    losses.push_back(batch.loss);
    weights.push_back(batch.weight);
  }
  const double weight = sum_in_order(ranks_, weights, "the evaluation");
  require(weight > 0, "evaluation: every token of the validation batches is part of a prompt");
  const double val = sum_in_order(ranks_, losses, "the evaluation") / weight;
  state_.seconds += seconds_since(begin);
  if (!std::isfinite(val)) diverged("the validation loss", val);
  state_.val_loss = val;
  if (state_.step == 0) state_.first_val = val;
  ++state_.evaluations_since_best;
  if (!state_.best_val || val < *state_.best_val) {
    state_.best_val = val;
    state_.best_step = state_.step;
    state_.evaluations_since_best = 0;
  }
  return val;
}

}  // namespace cladtorch::train
