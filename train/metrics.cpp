#include "cladtorch/train/metrics.h"

#include <vector>

namespace cladtorch::train {

std::optional<double> bytes_per_token(const data::EvalBatches& batches, const data::Tokenizer& tokenizer) {
  constexpr int64_t unknown = -1;
  std::vector<int64_t> length(static_cast<size_t>(tokenizer.vocab_size()), unknown);
  const auto size = static_cast<size_t>(batches.shape().size());
  std::vector<int32_t> tokens(size), targets(size);
  int64_t bytes = 0, count = 0;
  for (int64_t i = 0; i < batches.count(); ++i) {
    batches.get(i, tokens, targets);
    for (const int32_t target : targets) {
      if (target == data::ignored_target) continue;
      int64_t& known = length[static_cast<size_t>(target)];
      if (known == unknown) {
        known = tokenizer.is_special(target) ? 0 : static_cast<int64_t>(tokenizer.token_bytes(target).size());
      }
      bytes += known;
      ++count;
    }
  }
  if (bytes == 0) return {};
  return static_cast<double>(bytes) / static_cast<double>(count);
}

}  // namespace cladtorch::train
