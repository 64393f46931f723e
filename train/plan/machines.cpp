#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "cladtorch/quote.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/peak.h"
#include "cladtorch/train/plan.h"
#include "cladtorch/train/suggest.h"
#include "cladtorch/train/system_info.h"
#include "cladtorch/train/usage_error.h"
#include "train/bench/bench_step.h"

namespace cladtorch::train {
namespace {

/// Of an accelerator, from its maker's data sheets: dense products, and links one way. Products of float32
/// are those of the cores, since TF32 is off (docs/cuda.md).
struct Published {
  const char* name;
  double bf16, fp32;         ///< TFLOP/s
  double memory, bandwidth;  ///< GB, GB/s
  double link, network;      ///< GB/s: NVLink, and the adapter that each has in a DGX
};

constexpr Published published[] = {
    // "NVIDIA A100 Tensor Core GPU" (SXM, 80 GB): NVLink 600 GB/s both ways. "DGX A100": HDR, 200 Gb/s.
    {"a100", 312, 19.5, 80, 2039, 300, 25},
    // "NVIDIA B200" in "DGX B200": 4.5 PFLOP/s sparse, 1,440 GB and 64 TB/s of eight, NVLink 1.8 TB/s both
    // ways, ConnectX-7 with 400 Gb/s. float32: "NVIDIA Blackwell Datasheet", HGX B200.
    {"b200", 2250, 75, 180, 8000, 900, 50},
    // "NVIDIA H100 Tensor Core GPU" (SXM): 1,979 TFLOP/s sparse, NVLink 900 GB/s both ways. "DGX H100":
    // ConnectX-7 with 400 Gb/s.
    {"h100", 989, 67, 80, 3350, 450, 50},
    // "NVIDIA H200 Tensor Core GPU" (SXM): as H100 but for its memory.
    {"h200", 989, 67, 141, 4800, 450, 50},
};

constexpr int64_t published_per_node = 8;
/// What messages get of the published rate of a link: about 80 % of 100 Gb/s and 400 Gb/s Ethernet and
/// InfiniBand in published measurements of MPI and NCCL.
constexpr double usable_share = 0.8;
/// What large models reach of the peak: 33 to 48 % in the tables of torchtitan and Megatron-LM on H100.
constexpr double usual_peak_share = 0.4;
constexpr double published_latency = 5e-6;

/// Of 10-Gigabit Ethernet over TCP, where nobody names a better network.
constexpr double ethernet = 1.1e9, ethernet_latency = 30e-6;
constexpr double usual_jitter = 0.01;

/// Sizes that a machine of any kind computes in a moment, and no smaller than those that fill its cores.
constexpr int64_t measured_layers = 2, measured_vocabulary = 8192, measured_tokens = 256;
constexpr int measured_passes = 2;
constexpr int calibrations = 20;

/// A model of layers as wide as those of `model`.
std::unique_ptr<LanguageModel> excerpt(const LanguageModel& model, int64_t context) {
  if (const GPT2Config* gpt2 = config_if<GPT2Config>(model)) {
    GPT2Config config = *gpt2;
    config.n_layer = std::min(config.n_layer, measured_layers);
    config.vocab_size = std::min(config.vocab_size, measured_vocabulary);
    config.n_positions = context;
    return as_language_model(GPT2(config));
  }
  const LlamaConfig* llama = config_if<LlamaConfig>(model);
  require(llama != nullptr, "plan: only a GPT-2 or a Llama can be measured, not a ", model.type());
  LlamaConfig config = *llama;
  config.num_hidden_layers = std::min(config.num_hidden_layers, measured_layers);
  config.vocab_size = std::min(config.vocab_size, measured_vocabulary);
  config.max_position_embeddings = std::max(context, int64_t{1});
  return as_language_model(Llama(config));
}

/// Operations per second of forward and backward.
double measured_speed(const LanguageModel& model, const TrainConfig& config, int threads) {
  const int64_t context = std::min(config.model.context, measured_tokens);
  const int64_t batch = std::clamp<int64_t>(measured_tokens / context, 1, config.train.batch);
  const BenchOptions options{
      .batch = batch, .seq = context, .dtype = config.run.dtype, .threads = threads, .iters = 1};
  BenchStep step(options, excerpt(model, context));
  step.forward_backward();
  double best = milliseconds([&] { step.forward_backward(); });
  for (int i = 1; i < measured_passes; ++i)
    best = std::min(best, milliseconds([&] { step.forward_backward(); }));
  return step.model().flops_per_token(context) * static_cast<double>(batch * context) / (1e-3 * best);
}

/// This machine, but for how much of its peak a step reaches. All rates are one rank's.
PlanMachine this_machine(double peak_flops, double memory_bandwidth, double read_bandwidth, int threads,
                         int64_t per_node) {
  return {.name = fmt::format("{}, {} thread{}", cpu_name(), threads, threads == 1 ? "" : "s"),
          .peak_flops = peak_flops,
          .peak_share = 1,
          .memory_bandwidth = memory_bandwidth,
          .memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                    static_cast<double>(::sysconf(_SC_PAGESIZE)) / static_cast<double>(per_node),
          .per_node = per_node,
          // Shared memory: a message is written and read twice.
          .link = read_bandwidth / 4,
          .network = ethernet,
          .latency = ethernet_latency,
          .jitter = usual_jitter};
}

}  // namespace

std::vector<std::string> published_machines() {
  std::vector<std::string> names;
  for (const Published& one : published) names.emplace_back(one.name);
  return names;
}

PlanMachine published_machine(const std::string& name, DType dtype) {
  const auto* const found = std::ranges::find(published, name, &Published::name);
  if (found == std::end(published))
    throw UsageError(fmt::format("plan: --device is {}, expected {}{}", in_quotes(name),
                                 enumeration(published_machines(), "or"),
                                 suggestion(name, published_machines())));
  return {.name = found->name,
          .peak_flops = 1e12 * (dtype == DType::bfloat16 ? found->bf16 : found->fp32),
          .peak_share = usual_peak_share,
          .memory_bandwidth = 1e9 * found->bandwidth,
          .memory = 1e9 * found->memory,
          .per_node = published_per_node,
          .link = 1e9 * usable_share * found->link,
          .network = 1e9 * usable_share * found->network,
          .latency = published_latency,
          .jitter = usual_jitter};
}

PlanMachine measured_machine(const LanguageModel& model, const TrainConfig& config, int threads,
                             int64_t per_node) {
  const auto cores = static_cast<int64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (per_node * threads > cores)
    throw UsageError(
        fmt::format("plan: {} ranks of {} threads need {} cores, but this machine has {}; give fewer with "
                    "--threads or --per-node",
                    per_node, threads, per_node * threads, cores));
  const DType dtype = precision_from_string(config.run.dtype).dtype;
  const Bandwidth bandwidth = measure_bandwidth(threads);
  const auto ranks = static_cast<double>(per_node);
  PlanMachine machine = this_machine(measure_peak_flops(threads, dtype), bandwidth.mixed / ranks,
                                     bandwidth.read / ranks, threads, per_node);
  machine.peak_share = std::min(1.0, measured_speed(model, config, threads) / machine.peak_flops);
  return machine;
}

PlanMachine machine_of_run(const LanguageModel& model, const TrainConfig& config, const RunSpeed& speed) {
  PlanMachine machine = this_machine(speed.peak_flops, speed.memory_bandwidth, speed.memory_bandwidth,
                                     num_threads(), speed.per_node);
  const auto zero = static_cast<size_t>(config.distributed.zero);
  for (int i = 0; i < calibrations; ++i) {
    const Plan plan = make_plan(model, config, speed.ranks, machine);
    const double ratio = speed.tokens_per_second / plan.stages[zero].tokens_per_second;
    machine.peak_share = std::min(1.0, machine.peak_share * ratio);
  }
  return machine;
}

}  // namespace cladtorch::train
