#include "cladtorch/train/presets.h"

#include <fmt/format.h>

#include <algorithm>

#include "cladtorch/quote.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/suggest.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::train {
namespace {

const std::vector<std::string> gpt2_names = {"gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "toy"};

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names = gpt2_names;
  for (std::string& name : split_list(llama_preset_names())) names.push_back(std::move(name));
  return names;
}

std::unique_ptr<LanguageModel> preset_model(const std::string& name, int64_t context,
                                            const std::string& where) {
  const std::vector<std::string> known = preset_names();
  if (std::ranges::find(known, name) == known.end())
    throw UsageError(fmt::format("{} is {}, expected {}{}", where, in_quotes(name), enumeration(known, "or"),
                                 suggestion(name, known)));
  if (std::ranges::find(gpt2_names, name) != gpt2_names.end()) {
    GPT2Config config = gpt2_preset(name);
    config.n_positions = std::max(config.n_positions, context);
    return as_language_model(GPT2(config));
  }
  LlamaConfig config = llama_preset(name);
  config.max_position_embeddings = std::max(config.max_position_embeddings, context);
  return as_language_model(Llama(config));
}

}  // namespace cladtorch::train
