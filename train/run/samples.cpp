#include "train/run/samples.h"

#include <algorithm>

#include "cladtorch/train/generate.h"
#include "data/text/utf8.h"

namespace cladtorch::train {

std::vector<ReportSample> draw_samples(const TrainConfig& config, const LanguageModel& model,
                                       const data::Tokenizer& tokenizer) {
  std::vector<ReportSample> samples;
  for (int64_t i = 0; i < config.sample.count; ++i) {
    const SamplingOptions options{.temperature = config.sample.temperature,
                                  .top_k = config.sample.top_k,
                                  .top_p = config.sample.top_p,
                                  .seed = static_cast<uint64_t>(config.run.seed) + static_cast<uint64_t>(i)};
    std::string text = generate_text(model, tokenizer, config.sample.prompt, config.sample.tokens, options);
    if (config.sample.prompt.empty()) text.erase(0, std::min(text.find_first_not_of("\n "), text.size()));
    // A model of bytes may write anything.
    samples.push_back({config.sample.prompt, data::utf8::replace_invalid(text)});
  }
  return samples;
}

}  // namespace cladtorch::train
