#include "ops/causal_attention/attention_choice.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "cladtorch/tensor/dry_run.h"
#include "cuda/choice_file.h"
#include "cuda/tuning.h"
#include "ops/causal_attention/attention_trial.h"

namespace cladtorch::cuda {
namespace {

thread_local std::string forced;

/// `auto`, or the name of the implementation that is to run.
std::string setting() {
  if (!forced.empty()) return forced;
  const char* const value = std::getenv("CLADTORCH_CUDA_ATTENTION");
  const std::string name = value == nullptr || *value == '\0' ? "auto" : value;
  return name == "auto" && !tuning_is_on() ? "own" : name;
}

AttentionImplementation* find_implementation(const std::string& name) {
  for (AttentionImplementation* one : attention_implementations())
    if (one->name() == name) return one;
  return nullptr;
}

AttentionCandidate own(const AttentionProblem& problem) {
  AttentionImplementation* const one = find_implementation("own");
  return {one, one->scratch_bytes(problem)};
}

AttentionCandidate named(const std::string& name, const AttentionProblem& problem) {
  AttentionImplementation* const one = find_implementation(name);
  if (one == nullptr) {
    std::string names = "auto";
    for (const AttentionImplementation* other : attention_implementations()) names += ", " + other->name();
    fail("causal_attention: CLADTORCH_CUDA_ATTENTION is ", in_quotes(name), ", expected one of: ", names);
  }
  const std::string lack = one->unavailable();
  require(lack.empty(), "causal_attention: CLADTORCH_CUDA_ATTENTION is '", name, "': ", lack);
  if (!one->supports(problem)) return own(problem);
  try {
    return {one, one->scratch_bytes(problem)};
  } catch (const Error& error) {
    fail("causal_attention: CLADTORCH_CUDA_ATTENTION is '", name, "': ", error.what());
  }
}

/// Our own and all others that can do it.
std::vector<AttentionCandidate> candidates_for(const AttentionProblem& problem) {
  std::vector<AttentionCandidate> all = {own(problem)};
  for (AttentionImplementation* one : attention_implementations()) {
    if (one == all[0].implementation || !one->unavailable().empty() || !one->supports(problem)) continue;
    try {
      const size_t bytes = one->scratch_bytes(problem);
      if (bytes <= most_attention_scratch) {
        all.push_back({one, bytes});
      } else {
        report_left_out(problem, *one, "it wants " + std::to_string(bytes >> 20) + " MiB to work in");
      }
    } catch (const Error& error) {
      report_left_out(problem, *one, error.what());
    }
  }
  return all;
}

/// With the candidates: a choice among others says nothing.
std::string name_on_disk(const AttentionProblem& problem, const std::vector<AttentionCandidate>& candidates) {
  std::string text = problem.text();
  for (const AttentionCandidate& candidate : candidates) {
    const std::string version = candidate.implementation->version();
    text += ", " + candidate.implementation->name() + (version.empty() ? "" : " " + version);
  }
  return text;
}

/// What is known of a problem under a setting.
struct Known {
  std::vector<AttentionCandidate> candidates;
  std::optional<size_t> chosen;
};

class Choices {
 public:
  /// Bytes that a plan should have room for.
  size_t planned_bytes(const AttentionProblem& problem) {
    const std::scoped_lock lock(mutex_);
    const Known& known = find(problem);
    if (known.chosen) return known.candidates[*known.chosen].scratch_bytes;
    size_t most = 0;
    for (const AttentionCandidate& candidate : known.candidates)
      most = std::max(most, candidate.scratch_bytes);
    return most;
  }

  AttentionCandidate choose(const AttentionProblem& problem, const std::function<AttentionTrial()>& trial) {
    const std::scoped_lock lock(mutex_);
    const auto found = all_.find(key_of(problem));
    if (found != all_.end() && found->second.chosen) return found->second.candidates[*found->second.chosen];
    // While a graph is captured a library must not even be asked: it might allocate.
    if (setting() == "auto" && is_capturing(problem.device)) return own(problem);
    Known& known = find(problem);
    if (known.chosen) return known.candidates[*known.chosen];
    const std::optional<size_t> fastest = fastest_attention(problem, known.candidates, trial);
    known.chosen = fastest.value_or(0);
    const AttentionCandidate& chosen = known.candidates[*known.chosen];
    if (fastest)
      choice_file(problem.device).add(name_on_disk(problem, known.candidates), chosen.implementation->name());
    return chosen;
  }

  /// Our own is to run from now on; returns it.
  AttentionCandidate leave_out(const AttentionProblem& problem) {
    const std::scoped_lock lock(mutex_);
    Known& known = find(problem);
    known.chosen = 0;
    return known.candidates[0];
  }

  void forget() {
    const std::scoped_lock lock(mutex_);
    all_.clear();
  }

 private:
  using Key = std::pair<std::string, AttentionProblem::Numbers>;

  static Key key_of(const AttentionProblem& problem) { return {setting(), problem.numbers()}; }

  Known& find(const AttentionProblem& problem) {
    const Key key = key_of(problem);
    const auto found = all_.find(key);
    if (found != all_.end()) return found->second;
    const std::string& name = key.first;
    Known known;
    if (name == "auto") {
      known.candidates = candidates_for(problem);
      known.chosen = remembered(problem, known.candidates);
    } else {
      known = {{named(name, problem)}, 0};
    }
    return all_.emplace(key, std::move(known)).first->second;
  }

  static std::optional<size_t> remembered(const AttentionProblem& problem,
                                          const std::vector<AttentionCandidate>& candidates) {
    if (candidates.size() == 1) return 0;
    const auto name = choice_file(problem.device).find(name_on_disk(problem, candidates));
    for (size_t i = 0; name && i < candidates.size(); ++i)
      if (candidates[i].implementation->name() == *name) return i;
    return std::nullopt;
  }

  std::mutex mutex_;
  std::map<Key, Known> all_;
};

/// Never destroyed: registrations of static lifetime use it at the end.
Choices& choices() {
  static auto* const all = new Choices;
  return *all;
}

template <class Call>
void dispatch(const AttentionProblem& problem, Call call, const std::function<AttentionTrial()>& trial) {
  if (problem.layout.statistics() == 0) return;
  if (DryRun::active()) {
    const AttentionScratch planned(problem.device, choices().planned_bytes(problem));
    return;
  }
  const AttentionCandidate chosen = choices().choose(problem, trial);
  const auto run = [&](const AttentionCandidate& candidate) {
    const AttentionScratch scratch(problem.device, candidate.scratch_bytes);
    call(*candidate.implementation, scratch.data());
  };
  if (chosen.implementation->name() == "own" || setting() != "auto") return run(chosen);
  try {
    run(chosen);
  } catch (const Error& error) {
    report_left_out(problem, *chosen.implementation, error.what());
    run(choices().leave_out(problem));
  }
}

void forward(const detail::AttentionLayout& x, const detail::AttentionOperands& in, int64_t past, Tensor& y,
             Tensor& log_sum_exp) {
  const AttentionProblem problem = AttentionProblem::forward(x, in, past, y, log_sum_exp);
  dispatch(
      problem,
      [&](AttentionImplementation& one, void* scratch) { one.forward(problem, in, y, log_sum_exp, scratch); },
      [&] { return forward_trial(problem, in); });
}

void pullback(const detail::AttentionLayout& x, const detail::AttentionOperands& in, const Tensor& y,
              const Tensor& log_sum_exp, const Tensor& d_y,
              const std::array<detail::AttentionGradientPlace, 3>& to) {
  const AttentionProblem problem = AttentionProblem::pullback(x, in, y, d_y, to);
  dispatch(
      problem,
      [&](AttentionImplementation& one, void* scratch) {
        one.pullback(problem, in, y, log_sum_exp, d_y, to, scratch);
      },
      [&] { return pullback_trial(problem, in, y, log_sum_exp, d_y, to); });
}

const detail::DeviceFunctionCode forward_code(detail::attention_on_device, forward);
const detail::DeviceFunctionCode pullback_code(detail::attention_pullback_on_device, pullback);

}  // namespace

ForcedAttention::ForcedAttention(std::string name) : outer_(std::exchange(forced, std::move(name))) {}
ForcedAttention::~ForcedAttention() { forced = outer_; }

void forget_attention_choices() { choices().forget(); }

}  // namespace cladtorch::cuda
