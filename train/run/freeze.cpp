#include "cladtorch/train/freeze.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <vector>

#include "cladtorch/formats/hugging_face.h"
#include "cladtorch/quote.h"
#include "cladtorch/train/config.h"
#include "cladtorch/train/suggest.h"
#include "cladtorch/train/usage_error.h"

namespace cladtorch::train {
namespace {

/// A parameter under the names that a pattern may mean.
struct Candidate {
  Tensor tensor;
  std::string own, stored;
};

std::vector<Candidate> candidates_of(const LanguageModel& model) {
  std::vector<Candidate> result;
  for (const NamedTensor& parameter : model.parameters())
    result.push_back({parameter.tensor, parameter.name, formats::stored_name(model, parameter.name)});
  return result;
}

/// "a.b.c", "a.b" and "a" for "a.b.c".
std::vector<std::string> with_holders(std::string name) {
  std::vector<std::string> names = {name};
  for (size_t dot = name.rfind('.'); dot != std::string::npos; dot = name.rfind('.')) {
    name.resize(dot);
    names.push_back(name);
  }
  return names;
}

bool matches(const std::string& pattern, const std::string& name) {
  const std::vector<std::string> names = with_holders(name);
  return std::any_of(names.begin(), names.end(), [&](const std::string& candidate) {
    return ::fnmatch(pattern.c_str(), candidate.c_str(), 0) == 0;
  });
}

[[noreturn]] void fail_unmatched(const std::string& key, const std::string& pattern,
                                 const std::vector<Candidate>& candidates) {
  std::vector<std::string> known;
  for (const Candidate& candidate : candidates) {
    for (const std::string& name : with_holders(candidate.stored)) known.push_back(name);
  }
  std::string hint = suggestion(pattern, known);
  if (hint.empty())
    hint = fmt::format("; names are like {} and {}", in_quotes(candidates.front().stored),
                       in_quotes(candidates.back().stored));
  throw UsageError(fmt::format("{}: no parameter matches {}{}", key, in_quotes(pattern), hint));
}

/// Calls found(tensor) for every parameter that one of `patterns` means.
template <class Found>
void for_each_match(const std::string& key, const std::string& patterns, std::vector<Candidate>& candidates,
                    Found found) {
  for (const std::string& pattern : split_list(patterns)) {
    bool any = false;
    for (Candidate& candidate : candidates) {
      if (!matches(pattern, candidate.stored) && !matches(pattern, candidate.own)) continue;
      any = true;
      found(candidate.tensor);
    }
    if (!any) fail_unmatched(key, pattern, candidates);
  }
}

}  // namespace

void freeze_parameters(LanguageModel& model, const TrainedParameters& which) {
  std::vector<Candidate> candidates = candidates_of(model);
  if (!which.train_only.empty()) {
    if (split_list(which.train_only).empty())
      throw UsageError(
          fmt::format("train.train_only is {}, which names no parameter", in_quotes(which.train_only)));
    std::vector<Tensor> kept;
    for_each_match("train.train_only", which.train_only, candidates, [&](Tensor& tensor) {
      if (!tensor.is_frozen()) kept.push_back(tensor);
    });
    for (Candidate& candidate : candidates) candidate.tensor.set_frozen(true);
    for (Tensor& tensor : kept) tensor.set_frozen(false);
  }
  for_each_match("train.freeze", which.freeze, candidates, [](Tensor& tensor) { tensor.set_frozen(true); });
  const bool nothing = std::all_of(candidates.begin(), candidates.end(),
                                   [](const Candidate& candidate) { return candidate.tensor.is_frozen(); });
  if (nothing) throw UsageError("train.freeze and train.train_only leave no parameter to train");
}

}  // namespace cladtorch::train
