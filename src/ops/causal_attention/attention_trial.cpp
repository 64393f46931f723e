#include "ops/causal_attention/attention_trial.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "cladtorch/error.h"
#include "cladtorch/tensor/workspace.h"
#include "cuda/address.h"
#include "cuda/check.h"
#include "cuda/fastest.h"
#include "cuda/stream.h"
#include "ops/causal_attention/attention_choice.h"

namespace cladtorch::cuda {
namespace {

using detail::AttentionGradientPlace;
using Places = std::array<AttentionGradientPlace, 3>;

constexpr uintptr_t scratch_alignment = 256;

void* writable(const Tensor& x) { return const_cast<void*>(address(x)); }

/// Gradients that lie side by side in the rows of one tensor, as those of a packed one do.
bool are_packed(const Places& to, int64_t element_bytes) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  const AttentionGradientPlace* first = nullptr;
  for (const AttentionGradientPlace& place : to) {
    if (place.data == nullptr) continue;
    if (first == nullptr) first = &place;
    if (place.row != first->row || place.add != first->add) return false;
    low = std::min(low, reinterpret_cast<uintptr_t>(place.data));
    high = std::max(high, reinterpret_cast<uintptr_t>(place.data));
  }
  return high - low < static_cast<uintptr_t>(first->row * element_bytes);
}

/// What is not written stays NaN; what is added to begins at 0.
void prepare(const AttentionTrial& trial, Device device) {
  for (const AttentionTrial::Memory& memory : trial.memory)
    CLADTORCH_CUDA_CALL(cudaMemsetAsync, writable(memory.tensor), memory.add ? 0 : 0xFF,
                        memory.tensor.nbytes(), compute_stream(device));
}

/// Twice where it adds: one that stores instead would agree after a single call.
void run(const AttentionTrial& trial, AttentionImplementation& implementation, void* scratch, Device device) {
  prepare(trial, device);
  const bool adds =
      std::any_of(trial.memory.begin(), trial.memory.end(), [](const auto& m) { return m.add; });
  for (int i = 0; i < (adds ? 2 : 1); ++i) trial.call(implementation, scratch);
}

/// Empty, or in what they do not agree.
std::string disagreement(const AttentionTrial& got, const AttentionTrial& expected, Device device) {
  for (size_t i = 0; i < got.results.size(); ++i) {
    const double difference =
        relative_difference_on_device(device, got.results[i].rows, expected.results[i].rows);
    if (difference <= got.results[i].tolerance) continue;
    std::ostringstream out;
    out << "result " << i << " differs from ours by " << difference << " of its norm";
    return out.str();
  }
  return {};
}

}  // namespace

AttentionScratch::AttentionScratch(Device device, size_t bytes) {
  if (bytes == 0) return;
  const auto floats = static_cast<int64_t>((bytes + scratch_alignment) / sizeof(float) + 1);
  memory_ = Tensor::empty({floats}, DType::float32, device);
  const auto begin = reinterpret_cast<uintptr_t>(address(memory_));
  data_ = reinterpret_cast<void*>((begin + scratch_alignment - 1) / scratch_alignment * scratch_alignment);
}

AttentionTrial forward_trial(const AttentionProblem& problem, const detail::AttentionOperands& in) {
  const detail::AttentionLayout& x = problem.layout;
  Tensor y = Tensor::empty({x.batch, x.length, x.y_row()}, problem.dtype, problem.device), statistics;
  AttentionTrial trial;
  trial.memory.push_back({y});
  trial.results.push_back(
      {{address(y), y.dtype(), x.batch * x.length, x.y_row(), x.y_row()}, attention_tolerance});
  if (problem.statistics) {
    statistics =
        Tensor::empty({x.batch, x.heads, x.length}, detail::computed_in(problem.dtype), problem.device);
    trial.memory.push_back({statistics});
    trial.results.push_back({{address(statistics), statistics.dtype(), x.batch * x.heads, x.length, x.length},
                             log_sum_exp_tolerance});
  }
  trial.call = [=](AttentionImplementation& one, void* scratch) mutable {
    one.forward(problem, in, y, statistics, scratch);
  };
  return trial;
}

AttentionTrial pullback_trial(const AttentionProblem& problem, const detail::AttentionOperands& in,
                              const Tensor& y, const Tensor& log_sum_exp, const Tensor& d_y,
                              const Places& to) {
  const detail::AttentionLayout& x = problem.layout;
  const int64_t rows = x.batch * x.length,
                columns[] = {x.y_row(), x.key_heads * x.head_size, x.key_heads * x.head_size};
  AttentionTrial trial;
  const auto memory = [&](const AttentionGradientPlace& place) {
    trial.memory.push_back({Tensor::empty({rows, place.row}, problem.dtype, problem.device), place.add});
    return static_cast<std::byte*>(writable(trial.memory.back().tensor));
  };
  const bool packed = are_packed(to, static_cast<int64_t>(size_of(problem.dtype)));
  std::byte *together = nullptr, *low = nullptr;
  for (const AttentionGradientPlace& place : to) {
    auto* const data = static_cast<std::byte*>(place.data);
    if (data != nullptr && (low == nullptr || std::less<>()(data, low))) low = data;
  }
  Places own = to;
  for (size_t i = 0; i < 3; ++i) {
    AttentionGradientPlace& place = own[i];
    if (place.data == nullptr) continue;
    if (packed && together == nullptr) together = memory(place);
    place.data = packed ? together + (static_cast<std::byte*>(place.data) - low) : memory(place);
    trial.results.push_back({{place.data, problem.dtype, rows, place.row, columns[i]}, attention_tolerance});
  }
  trial.call = [=](AttentionImplementation& one, void* scratch) {
    one.pullback(problem, in, y, log_sum_exp, d_y, own, scratch);
  };
  return trial;
}

void report_left_out(const AttentionProblem& problem, const AttentionImplementation& implementation,
                     const std::string& reason) {
  std::ostringstream out;
  const detail::AttentionLayout& x = problem.layout;
  out << "cladtorch: attention by " << implementation.name() << " is left out ("
      << (problem.pass == AttentionPass::forward ? "forward" : "backward") << ", batch " << x.batch
      << ", length " << x.length << ", heads " << x.heads << ", head size " << x.head_size << "): " << reason
      << '\n';
  std::fputs(out.str().c_str(), stderr);
}

std::optional<size_t> fastest_attention(const AttentionProblem& problem,
                                        std::span<const AttentionCandidate> candidates,
                                        const std::function<AttentionTrial()>& make) {
  const Device device = problem.device;
  // Memory that the open step's plan knows nothing of.
  Workspace aside;
  const Workspace::Step step(aside);
  size_t most = 0;
  for (const AttentionCandidate& candidate : candidates) most = std::max(most, candidate.scratch_bytes);
  try {
    const AttentionScratch scratch(device, most);
    const AttentionTrial expected = make(), got = make();
    run(expected, *candidates[0].implementation, scratch.data(), device);
    // Not finite by the operands: nothing can be compared with that.
    if (!disagreement(expected, expected, device).empty()) return std::nullopt;
    std::vector<size_t> agreeing = {0};
    for (size_t i = 1; i < candidates.size(); ++i) {
      AttentionImplementation& candidate = *candidates[i].implementation;
      std::string reason;
      try {
        run(got, candidate, scratch.data(), device);
        reason = disagreement(got, expected, device);
      } catch (const Error& error) {
        reason = error.what();
      }
      if (reason.empty()) {
        agreeing.push_back(i);
      } else {
        report_left_out(problem, candidate, reason);
      }
    }
    const Fastest best = fastest(device, agreeing.size(), [&](size_t i) {
      try {
        got.call(*candidates[agreeing[i]].implementation, scratch.data());
        return true;
      } catch (const Error&) {
        return false;
      }
    });
    return agreeing[best.candidate];
  } catch (const Error& error) {
    std::fprintf(stderr, "cladtorch: attention is our own, others could not be tried beside it: %s\n",
                 error.what());
    return std::nullopt;
  }
}

}  // namespace cladtorch::cuda
