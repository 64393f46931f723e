#include "cladtorch/train/multiple_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
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

/// What the model reads of a continuation, and what it predicts at the end of that: the last token is only
/// predicted.
struct Row {
  std::vector<int32_t> tokens;
  std::span<const int32_t> predicted;

  Row(const Continuation& continuation, int64_t most)
      : tokens(continuation.context), predicted(continuation.tokens) {
    tokens.insert(tokens.end(), predicted.begin(), predicted.end() - 1);
    const int64_t dropped = std::max<int64_t>(std::ssize(tokens) - most, 0);
    tokens.erase(tokens.begin(), tokens.begin() + dropped);
  }
  /// Tokens before the one whose prediction is the first to be scored.
  int64_t before() const { return std::ssize(tokens) - std::ssize(predicted); }
};

/// Continuations of one context, which is read once for all of them.
struct Group {
  size_t first = 0;  ///< number of the first one
  std::vector<Row> rows;

  /// Tokens with which every row begins, none of whose predictions is scored.
  int64_t shared() const {
    int64_t result = rows[0].before();
    for (const Row& row : rows) {
      const auto end =
          std::mismatch(row.tokens.begin(), row.tokens.end(), rows[0].tokens.begin(), rows[0].tokens.end());
      result = std::min({result, row.before(), end.first - row.tokens.begin()});
    }
    return result;
  }
  /// Tokens that are read.
  int64_t work() const {
    const int64_t once = shared();
    int64_t result = once;
    for (const Row& row : rows) result += std::ssize(row.tokens) - once;
    return result;
  }
};

/// Neighbours that have a context in common, the longest first: memory grows once, and what is left never
/// takes longer than it seems.
std::vector<Group> grouped(std::span<const Continuation> continuations, int64_t most) {
  std::vector<Group> groups;
  for (size_t i = 0; i < continuations.size(); ++i) {
    check(continuations[i], most);
    if (i == 0 || continuations[i].context != continuations[i - 1].context)
      groups.push_back({.first = i, .rows = {}});
    groups.back().rows.emplace_back(continuations[i], most);
  }
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    const int64_t work_a = a.work(), work_b = b.work();
    return work_a != work_b ? work_a > work_b : a.first < b.first;
  });
  return groups;
}

class Scorer {
 public:
  explicit Scorer(const LanguageModel& model) : model_(model), cache_(model.make_cache(1)) {}

  void score(const Group& group, std::span<double> log_likelihoods) {
    const int64_t shared = group.shared();
    cache_->clear();
    if (shared > 0) {
      const Workspace::Step step(workspace_);
      model_.decode(as_row(std::span(group.rows[0].tokens).first(static_cast<size_t>(shared))), *cache_);
    }
    for (size_t i = 0; i < group.rows.size(); ++i) {
      cache_->truncate(shared);
      log_likelihoods[i] = score(group.rows[i], static_cast<size_t>(shared));
    }
  }

 private:
  static Tensor as_row(std::span<const int32_t> tokens) {
    return from_values<int32_t>({1, std::ssize(tokens)}, tokens);
  }

  double score(const Row& row, size_t read) {
    const Workspace::Step step(workspace_);
    const auto rest = std::span(row.tokens).subspan(read);
    Tensor targets = full({1, std::ssize(rest)}, data::ignored_target, DType::int32);
    std::copy(row.predicted.begin(), row.predicted.end(),
              targets.data<int32_t>() + (rest.size() - row.predicted.size()));
    return -model_.decode_loss(as_row(rest), targets, *cache_) * static_cast<double>(row.predicted.size());
  }

  const LanguageModel& model_;
  std::unique_ptr<DecodeCache> cache_;
  Workspace workspace_;
};

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
  const std::vector<Group> groups = grouped(continuations, model.sizes().context);
  int64_t all = 0, done = 0;
  for (const Group& group : groups) all += group.work();
  std::vector<double> result(continuations.size());
  Scorer scorer(model);
  for (const Group& group : groups) {
    scorer.score(group, std::span(result).subspan(group.first, group.rows.size()));
    done += group.work();
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
    require(std::ranges::none_of(own, [](double value) { return std::isnan(value); }), "HellaSwag: line ",
            question.line, ": the model's scores are not finite; is its checkpoint damaged?");
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
