// `cladtorch bench`, which measures how long a training step takes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cladtorch/models/lora.h"
#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

struct BenchOptions {
  std::string model = "gpt2";  ///< one of preset_names()
  int64_t batch = 4;
  int64_t seq = 64;
  std::string dtype = "fp32";
  std::string optimizer = "adamw";  ///< any optimizer.kind
  std::string device = "cpu";       ///< or "cuda", "cuda:N"
  int64_t threads = 0;              ///< 0: all cores
  int64_t iters = 10;
  bool gradient_checkpointing = false;
  std::optional<LoRAConfig> lora{};  ///< train an adapter instead of the whole model
  /// A folder that dump_bench wrote: its weights and the first rows and columns of its tokens are used
  /// instead of random ones, and `model` is ignored.
  std::filesystem::path load{};
};

/// Medians over the timed steps. On a CUDA device steps follow each other without waiting, so step_ms is
/// their mean, and the backward pass and the optimizer are not measured separately.
struct BenchResult {
  double forward_ms = 0;           ///< loss alone
  double forward_backward_ms = 0;  ///< loss and gradient
  double backward_ms = 0;          ///< the difference of these two, step by step
  double optimizer_ms = 0;
  double step_ms = 0;        ///< loss, gradient and optimizer
  double first_step_ms = 0;  ///< from the start of the process to the end of the first step
  double tokens_per_s = 0;
  double peak_rss_mb = 0;
  double device_mb = 0;  ///< most memory taken from a CUDA device's driver
  double arena_mb = 0;
  double allocations_per_step = 0;  ///< from the heap
  double loss = 0;                  ///< of the first step: near ln(vocabulary)
  double flops = 0;                 ///< arithmetic of forward and backward; 0 if not all is trained
};

/// The float32 model that the options name, with random weights, or the one of `options.load`.
std::unique_ptr<LanguageModel> bench_model(const BenchOptions& options);

/// Times training steps of `model` on random tokens. Throws Error if the loss of the untrained model is not
/// near ln(vocabulary), or is not finite at the end.
BenchResult run_bench(const BenchOptions& options, std::unique_ptr<LanguageModel> model);

nlohmann::ordered_json bench_json(const BenchResult& result);
/// The same as a table, with the machine's peak.
std::string bench_table(const BenchOptions& options, const BenchResult& result);

/// Writes the inputs that another implementation needs: `folder`/weights (see formats::save_model), and the
/// int32 [B, T] tensors "tokens" and "targets" in batch.safetensors. Also writes the results that it must
/// find: the float64 scalar "loss" in the same file, and the gradient in `folder`/gradient, with the names
/// and the layout of the weights. Times nothing.
void dump_bench(const BenchOptions& options, std::unique_ptr<LanguageModel> model,
                const std::filesystem::path& folder);

/// Takes turns with other programs. Runs one step and answers {"loss": ...}. Then, until the end of `in`,
/// reads a line with a phase and a count, runs the phase that often and answers with one JSON line on `out`:
///
///     forward_backward 3   ->   {"ms": [12.1, 12.0, 12.2], "loss": 10.82}
///
/// Phases: forward, forward_backward, step (with the optimizer), and generate, whose times are those of
/// single tokens without the prompt. Steps on a CUDA device follow each other without waiting, so the answer
/// has only their mean, and the memory taken from the driver as "device_mb". Throws Error for any other line.
void serve_bench(const BenchOptions& options, std::unique_ptr<LanguageModel> model, std::istream& in,
                 std::ostream& out);

}  // namespace cladtorch::train
