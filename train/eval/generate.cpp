#include "cladtorch/train/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/workspace.h"

namespace cladtorch::train {
namespace {

/// How many bytes the character that starts with `lead` has; 1 for a byte that starts none.
size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xf0 && byte < 0xf8) return 4;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  if (byte >= 0xc0 && byte < 0xe0) return 2;
  return 1;
}

Tensor as_batch(std::span<const int32_t> tokens) {
  return from_values<int32_t>({1, static_cast<int64_t>(tokens.size())}, tokens);
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options) : options_(options), random_(options.seed) {
  require(std::isfinite(options.temperature) && options.temperature >= 0, "generate: temperature is ",
          options.temperature, ", expected 0 or more");
  require(options.top_k >= 0, "generate: top_k is ", options.top_k, ", expected 0 or more");
  require(options.top_p > 0 && options.top_p <= 1, "generate: top_p is ", options.top_p,
          ", expected more than 0 and at most 1");
}

int32_t Sampler::draw(std::span<const float> logits) {
  require(std::all_of(logits.begin(), logits.end(), [](float score) { return std::isfinite(score); }),
          "generate: the model's scores are not finite; is its checkpoint damaged?");
  const auto best = std::max_element(logits.begin(), logits.end());
  if (options_.temperature == 0) return static_cast<int32_t>(best - logits.begin());

  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    const double scaled =
        (static_cast<double>(logits[i]) - static_cast<double>(*best)) / options_.temperature;
    candidates_.emplace_back(static_cast<float>(std::exp(scaled)), static_cast<int32_t>(i));
  }
  // Ties go to the lower token, so that the order does not depend on the sort.
  std::sort(candidates_.begin(), candidates_.end(), [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  });
  if (options_.top_k > 0 && static_cast<size_t>(options_.top_k) < candidates_.size()) {
    candidates_.resize(static_cast<size_t>(options_.top_k));
  }
  double total = 0;
  for (const auto& [weight, token] : candidates_) total += static_cast<double>(weight);
  double reached = 0;
  size_t kept = 0;
  while (kept < candidates_.size() && reached < options_.top_p * total) {
    reached += static_cast<double>(candidates_[kept++].first);
  }
  double left = random_.uniform() * reached;
  for (size_t i = 0; i + 1 < kept; ++i) {
    left -= static_cast<double>(candidates_[i].first);
    if (left < 0) return candidates_[i].second;
  }
  return candidates_[kept - 1].second;
}

void Utf8Stream::write(std::string_view bytes) {
  pending_ += bytes;
  size_t complete = 0;
  while (complete < pending_.size()) {
    const size_t length = character_length(pending_[complete]);
    if (complete + length > pending_.size()) break;
    complete += length;
  }
  if (complete == 0) return;
  sink_(std::string_view(pending_).substr(0, complete));
  pending_.erase(0, complete);
}

void Utf8Stream::finish() {
  if (!pending_.empty()) sink_(pending_);
  pending_.clear();
}

void generate(const LanguageModel& model, std::span<const int32_t> prompt, int64_t tokens,
              const SamplingOptions& options, const std::function<void(int32_t)>& emit) {
  require(!prompt.empty(), "generate: the prompt has no tokens, expected at least one");
  const auto context = static_cast<size_t>(model.sizes().context);
  const int64_t rows = model.sizes().vocab_size;
  const auto known = static_cast<size_t>(options.vocab_size > 0 ? std::min(options.vocab_size, rows) : rows);
  Sampler sampler(options);
  const std::unique_ptr<DecodeCache> cache = model.make_cache(1);
  std::vector<int32_t> history(prompt.begin(), prompt.end());
  std::span<const int32_t> unread(history);
  if (unread.size() > context) unread = unread.last(context);
  Workspace workspace;
  for (int64_t i = 0; i < tokens; ++i) {
    if (static_cast<size_t>(cache->length()) + unread.size() > context) {
      cache->clear();
      unread = std::span<const int32_t>(history).last(std::max<size_t>(context / 2, 1));
    }
    int32_t token = 0;
    {
      Workspace::Step step(workspace);
      const Tensor logits = model.decode(as_batch(unread), *cache).to(Device{}).to(DType::float32);
      token = sampler.draw(std::span(logits.data<float>(), known));
    }
    if (std::find(options.stop.begin(), options.stop.end(), token) != options.stop.end()) return;
    emit(token);
    history.push_back(token);
    unread = std::span<const int32_t>(history).last(1);
  }
}

std::vector<int32_t> encode_prompt(const data::Tokenizer& tokenizer, std::string_view prompt,
                                   std::optional<int32_t> begin) {
  std::vector<int32_t> tokens = tokenizer.special_tokens().before;
  tokenizer.append_tokens(prompt, tokens);
  if (!tokens.empty()) return tokens;
  if (!begin) begin = tokenizer.special_tokens().begin_of_text;
  if (begin) return {*begin};
  try {
    return tokenizer.encode("\n\n");
  } catch (const Error&) {
    return {0};  // a vocabulary without line ends
  }
}

std::string generate_text(const LanguageModel& model, const data::Tokenizer& tokenizer,
                          std::string_view prompt, int64_t tokens, SamplingOptions options) {
  std::string text;
  if (const auto end = tokenizer.special_tokens().end_of_text) options.stop.push_back(*end);
  options.vocab_size = tokenizer.vocab_size();
  generate(model, encode_prompt(tokenizer, prompt), tokens, options, [&](int32_t token) {
    if (!tokenizer.is_special(token)) text += tokenizer.token_bytes(token);
  });
  return text;
}

}  // namespace cladtorch::train
