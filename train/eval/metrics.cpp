#include "cladtorch/train/metrics.h"

#include <vector>

namespace cladtorch::train {

namespace {

/// Counts the text of tokens, each kind of which is looked up once.
class TextBytes {
 public:
  explicit TextBytes(const data::Tokenizer& tokenizer)
      : tokenizer_(tokenizer), length_(static_cast<size_t>(tokenizer.vocab_size()), unknown) {}

  void add(int32_t token) {
    int64_t& known = length_[static_cast<size_t>(token)];
    if (known == unknown)
      known = tokenizer_.is_special(token) ? 0 : static_cast<int64_t>(tokenizer_.token_bytes(token).size());
    bytes_ += known;
    ++count_;
  }

  std::optional<double> mean() const {
    if (bytes_ == 0) return {};
    return static_cast<double>(bytes_) / static_cast<double>(count_);
  }

 private:
  static constexpr int64_t unknown = -1;
  const data::Tokenizer& tokenizer_;
  std::vector<int64_t> length_;
  int64_t bytes_ = 0, count_ = 0;
};

}  // namespace

std::optional<double> bytes_per_token(const data::EvalBatches& batches, const data::Tokenizer& tokenizer) {
  const auto size = static_cast<size_t>(batches.shape().size());
  std::vector<int32_t> tokens(size), targets(size);
  TextBytes text(tokenizer);
  for (int64_t i = 0; i < batches.count(); ++i) {
    batches.get(i, tokens, targets);
    for (const int32_t target : targets) {
      if (target != data::ignored_target) text.add(target);
    }
  }
  return text.mean();
}

std::optional<double> bytes_per_token(const data::TokenSequence& tokens, const data::Tokenizer& tokenizer) {
  TextBytes text(tokenizer);
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!tokens.ignored(i)) text.add(tokens[i]);
  }
  return text.mean();
}

}  // namespace cladtorch::train
