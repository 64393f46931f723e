#include "train/describe.h"

#include <fmt/format.h>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/progress.h"

namespace cladtorch::train {

std::string describe_text(const TrainConfig& config, const data::Dataset& data) {
  const size_t tokens = data.train.size() + data.validation.size();
  const std::string name = config.data.text.empty() ? "built-in stories" : config.data.text;
  std::string line = fmt::format("text    {}, {} tokens of {} kinds, {} of them for validation", name,
                                 short_count(static_cast<double>(tokens)), data.tokenizer->vocab_size(),
                                 short_count(static_cast<double>(data.validation.size())));
  if (data.entropy_floor) line += fmt::format("; entropy {:.4f} nats per token (exact)", *data.entropy_floor);
  return line;
}

std::string describe_model(const LanguageModel& model) {
  return fmt::format("{} ({}: {} parameters)", model.type(), describe(model.sizes()),
                     short_count(static_cast<double>(model.parameter_count())));
}

std::string describe_memory(const MemoryUse& use) {
  const std::string masters =
      use.masters > 0 ? fmt::format("  masters {}", short_bytes(static_cast<double>(use.masters))) : "";
  return fmt::format(
      "parameters {}{}  gradients {}  optimizer {}  activations {}  peak {}",
      short_bytes(static_cast<double>(use.parameters)), masters,
      short_bytes(static_cast<double>(use.gradients)), short_bytes(static_cast<double>(use.optimizer)),
      short_bytes(static_cast<double>(use.activations)), short_bytes(static_cast<double>(use.peak())));
}

std::string describe_threads() {
  return fmt::format("{} thread{}", num_threads(), num_threads() == 1 ? "" : "s");
}

}  // namespace cladtorch::train
