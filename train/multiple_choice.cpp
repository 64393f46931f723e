#include "cladtorch/train/multiple_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "cladtorch/data/loader.h"
#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/workspace.h"

namespace cladtorch::train {
namespace {

using data::ChoiceQuestion;
using data::HellaSwagStyle;

void check(const Continuation& continuation, int64_t most) {
  require(!continuation.context.empty(), "the context has no tokens");
  require(!continuation.tokens.empty(), "the continuation has no tokens");
  require(std::cmp_less_equal(continuation.tokens.size(), most), "the continuation has ",
          continuation.tokens.size(), " tokens, but the model takes at most ", most);
}

/// What the model reads of a continuation: the last token is only predicted.
int64_t input_length(const Continuation& continuation, int64_t most) {
  const size_t all = continuation.context.size() + continuation.tokens.size();
  return std::min(static_cast<int64_t>(all) - 1, most);
}

/// Where there are no tokens: what stands before a text.
std::vector<int32_t> beginning(const data::SpecialTokens& special) {
  if (!special.before.empty() || !special.end_of_text) return special.before;
  return {*special.end_of_text};
}

size_t characters(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// As llm.c cuts it: both parts are encoded on their own.
Continuation encode_apart(const data::Tokenizer& tokenizer, std::string_view text, std::string_view more) {
  Continuation result;
  result.context = tokenizer.special_tokens().before;
  tokenizer.append_tokens(text, result.context);
  tokenizer.append_tokens(more, result.tokens, false);
  return result;
}

std::vector<Continuation> encode(const data::Tokenizer& tokenizer, std::span<const ChoiceQuestion> questions,
                                 HellaSwagStyle style, int64_t most) {
  std::vector<Continuation> result;
  for (const ChoiceQuestion& question : questions) {
    try {
      for (const std::string& ending : question.endings) {
        const bool whole = style == HellaSwagStyle::harness;
        result.push_back(
            (whole ? encode_continuation : encode_apart)(tokenizer, question.context, " " + ending));
        check(result.back(), most);
      }
    } catch (const Error& error) {
      fail("HellaSwag: line ", question.line, ": ", error.what());
    }
  }
  return result;
}

size_t first_largest(std::span<const double> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

std::vector<double> log_likelihoods(const LanguageModel& model, std::span<const Continuation> continuations,
                                    const ScoreOptions& options) {
  const int64_t most = model.sizes().context;
  for (const Continuation& continuation : continuations) check(continuation, most);
  // The longest first: memory grows once, and what is left never takes longer than it seems.
  std::vector<size_t> order(continuations.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int64_t length_a = input_length(continuations[a], most),
                  length_b = input_length(continuations[b], most);
    return length_a != length_b ? length_a > length_b : a < b;
  });
  int64_t all = 0, done = 0;
  for (const Continuation& continuation : continuations) all += input_length(continuation, most);

  Workspace workspace;
  std::vector<double> result(continuations.size());
  for (const size_t index : order) {
    const auto& [context, tokens] = continuations[index];
    const int64_t length = input_length(continuations[index], most);
    std::vector<int32_t> both = context;
    both.insert(both.end(), tokens.begin(), tokens.end());
    const int32_t* const last = both.data() + both.size() - 1;
    Tensor ids = empty({1, length}, DType::int32), targets = empty(ids.shape(), DType::int32);
    std::copy(last - length, last, ids.data<int32_t>());
    std::copy(last - length + 1, last + 1, targets.data<int32_t>());
    const auto scored = static_cast<int64_t>(tokens.size());
    std::fill_n(targets.data<int32_t>(), length - scored, data::ignored_target);
    const Workspace::Step step(workspace);
    result[index] = -model.loss(ids, targets) * static_cast<double>(scored);
    done += length;
    if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(all));
  }
  return result;
}

Continuation encode_continuation(const data::Tokenizer& tokenizer, std::string_view text,
                                 std::string_view more) {
  const data::SpecialTokens& special = tokenizer.special_tokens();
  const std::string whole = std::string(text) + std::string(more);
  const std::string_view context =
      std::string_view(whole).substr(0, text.find_last_not_of(" \t\n\v\f\r") + 1);  // npos + 1 is 0
  if (context.empty()) return {beginning(special), tokenizer.encode(whole)};
  Continuation result{special.before, {}};
  tokenizer.append_tokens(context, result.context);
  std::vector<int32_t> all = special.before;
  tokenizer.append_tokens(whole, all);
  const size_t read = std::min(result.context.size(), all.size());
  result.tokens.assign(all.begin() + static_cast<std::ptrdiff_t>(read), all.end());
  return result;
}

double Proportion::standard_error() const {
  if (of < 2) return std::numeric_limits<double>::quiet_NaN();
  return std::sqrt(value() * (1 - value()) / static_cast<double>(of - 1));
}

ChoiceEvaluation evaluate_hellaswag(const LanguageModel& model, const data::Tokenizer& tokenizer,
                                    std::span<const ChoiceQuestion> questions, HellaSwagStyle style,
                                    const ScoreOptions& options) {
  const std::vector<Continuation> endings = encode(tokenizer, questions, style, model.sizes().context);
  ChoiceEvaluation result{.log_likelihoods = log_likelihoods(model, endings, options)};
  result.accuracy.of = result.normalized.of = static_cast<int64_t>(questions.size());
  size_t first = 0;
  for (const ChoiceQuestion& question : questions) {
    const size_t count = question.endings.size();
    const auto own = std::span(result.log_likelihoods).subspan(first, count);
    std::vector<double> normalized(own.begin(), own.end());
    for (size_t i = 0; i < count; ++i) {
      normalized[i] /=
          static_cast<double>(style == HellaSwagStyle::harness ? characters(question.endings[i])
                                                               : endings[first + i].tokens.size());
    }
    result.accuracy.count += first_largest(own) == question.answer ? 1 : 0;
    result.normalized.count += first_largest(normalized) == question.answer ? 1 : 0;
    first += count;
  }
  return result;
}

}  // namespace cladtorch::train
