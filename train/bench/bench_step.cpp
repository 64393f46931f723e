#include "train/bench/bench_step.h"

#include <fmt/format.h>

#include <cstring>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/io/safetensors.h"
#include "cladtorch/tensor/device.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/adapter.h"
#include "cladtorch/train/presets.h"
#include "cladtorch/train/usage_error.h"
#include "train/step/make_optimizer.h"

namespace cladtorch::train {
namespace {

MakeOptimizer optimizer_of(const BenchOptions& options) {
  return [kind = options.optimizer](TensorList parameters, TensorList masters) {
    return make_optimizer({.kind = kind, .lr = 1e-4, .weight_decay = 0.1}, std::move(parameters),
                          std::move(masters));
  };
}
constexpr uint64_t dropout_seed = 1;

const BenchOptions& checked(const BenchOptions& options) {
  for (const auto& [name, value] :
       {std::pair{"--batch", options.batch}, {"--context", options.seq}, {"--steps", options.iters}}) {
    if (value < 1) throw UsageError(fmt::format("bench: {} is {}, expected 1 or more", name, value));
  }
  if (options.threads < 0 || options.threads > most_threads)
    throw UsageError(
        fmt::format("bench: --threads is {}, expected 0 (all cores) to {}", options.threads, most_threads));
  check_optimizer_kind(options.optimizer, "bench: --optimizer");
  precision_from_string(options.dtype, "bench: --dtype");
  device_from_name(options.device, "bench: --device");
  if (options.threads > 0) set_num_threads(static_cast<int>(options.threads));
  return options;
}

std::unique_ptr<LanguageModel> made_or_loaded(const BenchOptions& options) {
  if (!options.load.empty()) return formats::load_model(options.load / dump_weights);
  return preset_model(options.model, options.seq, "bench: --model");
}

Tensor random_tokens(const BenchOptions& options, int64_t vocab_size, uint64_t seed) {
  Random random(seed);
  Tensor tokens = empty({options.batch, options.seq}, DType::int32);
  for (int64_t i = 0; i < tokens.numel(); ++i) {
    tokens.data<int32_t>()[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocab_size)));
  }
  return tokens;
}

/// The first rows and columns of a stored int32 matrix.
Tensor corner(const io::SafetensorsFile& file, const std::string& name, const BenchOptions& options) {
  const io::StoredTensor& stored = file.at(name);
  require(stored.type == io::StoredType::i32 && stored.shape.size() == 2 &&
              stored.shape[0] >= options.batch && stored.shape[1] >= options.seq,
          "bench: '", name, "' of '", file.path().string(), "' is not an int32 matrix of at least ",
          options.batch, " by ", options.seq, "; write it with --dump and a larger --batch and --context");
  Tensor values = empty({options.batch, options.seq}, DType::int32);
  const size_t row = static_cast<size_t>(options.seq) * sizeof(int32_t);
  for (int64_t i = 0; i < options.batch; ++i) {
    const auto skipped = static_cast<size_t>(i * stored.shape[1]) * sizeof(int32_t);
    std::memcpy(values.data<int32_t>() + i * options.seq, stored.data.data() + skipped, row);
  }
  return values;
}

Tensor make_batch(const BenchOptions& options, const char* name, int64_t vocab_size, uint64_t seed) {
  if (options.load.empty()) return random_tokens(options, vocab_size, seed);
  return corner(io::SafetensorsFile(options.load / dump_batch), name, options);
}

}  // namespace

std::unique_ptr<LanguageModel> bench_model(const BenchOptions& options) {
  std::unique_ptr<LanguageModel> model = made_or_loaded(checked(options));
  model->set_gradient_checkpointing(options.gradient_checkpointing);
  if (options.lora) adapt(model, *options.lora, 1);
  return model;
}

BenchStep::BenchStep(const BenchOptions& options, std::unique_ptr<LanguageModel> model)
    : step_(model->to(device_from_name(checked(options).device)), precision_from_string(options.dtype),
            optimizer_of(options), workspace_),
      tokens_(make_batch(options, "tokens", step_.model().sizes().vocab_size, 7)),
      targets_(make_batch(options, "targets", step_.model().sizes().vocab_size, 8)) {
  if (!is_on_cpu()) step_.plan(tokens_, targets_);
}

double BenchStep::forward() { return step_.loss(tokens_, targets_); }

double BenchStep::forward_backward() {
  return step_.loss_and_gradient(tokens_, targets_, dropout_seed, steps_);
}

void BenchStep::update() {
  step_.optimizer().step(step_.gradients());
  if (Float8Layers* float8 = step_.float8()) float8->finish_step();
  ++steps_;
}

double BenchStep::step() { return steps(1).loss; }

void BenchStep::queue_step() {
  step_.gradients().mark_zero();
  step_.add({.tokens = tokens_, .targets = targets_, .seed = dropout_seed, .number = steps_++});
  step_.finish(0);
}

BenchStep::Steps BenchStep::steps(int64_t count) {
  Steps done;
  if (is_on_cpu()) {
    const auto one = [&] {
      done.loss = forward_backward();
      update();
    };
    for (int64_t i = 0; i < count; ++i) done.milliseconds.push_back(milliseconds(one));
    return done;
  }
  const double all = milliseconds([&] {
    queue_step();
    for (int64_t i = 1; i < count; ++i) {
      queue_step();
      step_.read();
    }
    done.loss = step_.read().loss;
    synchronize(device());
  });
  done.milliseconds.push_back(all / static_cast<double>(count));
  return done;
}

}  // namespace cladtorch::train
