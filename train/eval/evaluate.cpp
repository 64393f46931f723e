#include "cladtorch/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cladtorch/data/loader.h"
#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/workspace.h"

namespace cladtorch::train {
namespace {

/// Longer windows take memory by the length, and change the loss little.
constexpr int64_t longest_default_context = 1024;

int64_t count_targets(const Tensor& targets) {
  const int32_t* values = targets.data<int32_t>();
  return std::count_if(values, values + targets.numel(),
                       [](int32_t target) { return target != data::ignored_target; });
}

/// The windows of a text. All are of one length; the last is moved back so that it ends with the text.
struct Windows {
  const data::TokenSequence& tokens;
  int64_t length, stride;

  int64_t predictions() const { return static_cast<int64_t>(tokens.size()) - 1; }
  int64_t count() const { return 1 + (predictions() - length + stride - 1) / stride; }
  /// One past the last prediction of window `i`.
  int64_t end(int64_t i) const { return std::min(length + i * stride, predictions()); }

  /// Writes tokens and targets of window `i`; what the window before predicted counts no more.
  void write(int64_t i, int32_t* ids, int32_t* targets) const {
    const int64_t begin = end(i) - length, fresh = i == 0 ? 0 : end(i - 1);
    const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(length);
    tokens.copy(first, {ids, count});
    tokens.copy_targets(first + 1, {targets, count});
    std::fill(targets, targets + std::max<int64_t>(fresh - begin, 0), data::ignored_target);
  }
};

Windows windows_of(const LanguageModel& model, const data::TokenSequence& tokens,
                   const TextEvaluationOptions& options) {
  require(tokens.size() >= 2, "evaluate: the text has ", tokens.size(), " tokens, expected at least two");
  const int64_t most = model.sizes().context;
  const int64_t context = options.context > 0 ? options.context : std::min(most, longest_default_context);
  require(context <= most, "evaluate: a context of ", context, " tokens, but the model takes at most ", most);
  const int64_t stride = options.stride > 0 ? options.stride : std::max<int64_t>(context / 2, 1);
  require(stride <= context, "evaluate: a stride of ", stride, " would leave out tokens; expected at most ",
          context);
  require(options.batch > 0, "evaluate: the batch is ", options.batch, ", expected 1 or more");
  return {tokens, std::min(context, static_cast<int64_t>(tokens.size()) - 1), stride};
}

}  // namespace

Tensor shifted_targets(const Tensor& tokens) {
  require(tokens.dim() == 2, "shifted_targets: expected tokens [B, T], got ", tokens.shape());
  const int64_t batch = tokens.size(0), length = tokens.size(1);
  const Tensor dense = tokens.contiguous();
  Tensor targets = empty(tokens.shape(), DType::int32);
  const int32_t* ids = dense.data<int32_t>();
  int32_t* out = targets.data<int32_t>();
  for (int64_t row = 0; row < batch; ++row) {
    for (int64_t t = 0; t < length; ++t)
      out[row * length + t] = t + 1 < length ? ids[row * length + t + 1] : data::ignored_target;
  }
  return targets;
}

Evaluation evaluate_tokens(const LanguageModel& model, const Tensor& tokens, LanguageModel* gradient) {
  const Tensor targets = shifted_targets(tokens);
  Evaluation result;
  result.tokens = count_targets(targets);
  result.loss =
      gradient != nullptr ? model.loss_and_gradient(tokens, targets, *gradient) : model.loss(tokens, targets);
  if (result.tokens == 0) result.loss = std::numeric_limits<double>::quiet_NaN();
  return result;
}

Evaluation evaluate_text(const LanguageModel& model, const data::TokenSequence& tokens,
                         const TextEvaluationOptions& options) {
  const Windows windows = windows_of(model, tokens, options);
  Workspace workspace;
  Evaluation result;
  double sum = 0;
  for (int64_t first = 0; first < windows.count(); first += options.batch) {
    const int64_t rows = std::min(options.batch, windows.count() - first);
    Tensor ids = empty({rows, windows.length}, DType::int32), targets = empty(ids.shape(), DType::int32);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t offset = row * windows.length;
      windows.write(first + row, ids.data<int32_t>() + offset, targets.data<int32_t>() + offset);
    }
    const Workspace::Step step(workspace);
    const int64_t counted = count_targets(targets);
    sum += model.loss(ids, targets) * static_cast<double>(counted);
    result.tokens += counted;
    if (options.progress)
      options.progress(static_cast<double>(first + rows) / static_cast<double>(windows.count()));
  }
  require(!std::isnan(sum), "evaluate: the model's scores are not finite; is its checkpoint damaged?");
  result.loss = result.tokens == 0 ? std::numeric_limits<double>::quiet_NaN()
                                   : sum / static_cast<double>(result.tokens);
  return result;
}

}  // namespace cladtorch::train
