#include "train/run/rank_times.h"

#include <fmt/format.h>

#include <algorithm>

namespace cladtorch::train {
namespace {

/// Of the newest step in the running means.
constexpr double newest_step_weight = 0.05;
/// Steps after which the means are believed.
constexpr int64_t steps_to_judge = 10;
/// How much longer a straggler takes.
constexpr double straggling = 1.15;

}  // namespace

void RankTimes::add(std::span<const RankWord> words) {
  means_.resize(words.size());
  const double newest = std::max(1.0 / static_cast<double>(++steps_), newest_step_weight);
  for (size_t rank = 0; rank < words.size(); ++rank) {
    means_[rank].seconds += newest * (words[rank].seconds - means_[rank].seconds);
    means_[rank].waited += newest * (words[rank].waited - means_[rank].waited);
  }
}

std::optional<RankTimes::Straggler> RankTimes::straggler() const {
  if (steps_ < steps_to_judge || means_.size() < 2) return {};
  std::vector<double> seconds;
  for (const Means& of_rank : means_) seconds.push_back(of_rank.seconds);
  const auto slowest = std::ranges::max_element(seconds);
  const Straggler found{static_cast<int>(slowest - seconds.begin()), *slowest, 0};
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
  std::ranges::nth_element(seconds, middle);
  if (found.seconds < straggling * *middle) return {};
  return Straggler{found.rank, found.seconds, *middle};
}

std::string RankTimes::news(const comm::Communicator& ranks) {
  const std::optional<Straggler> found = straggler();
  if (!found || found->rank == named_) return "";
  named_ = found->rank;
  return fmt::format(
      "slow    rank {} on {} computes {:.1f} times as long as the others, which wait for it: {:.3g} s for a "
      "leaf, not "
      "{:.3g} s",
      found->rank, ranks.host(found->rank), found->seconds / found->usual, found->seconds, found->usual);
}

std::string RankTimes::summary(const comm::Communicator& ranks, double seconds_per_step) const {
  if (means_.size() < 2) return "";
  double waited = 0;
  for (const Means& of_rank : means_) waited += of_rank.waited / static_cast<double>(means_.size());
  std::string text = fmt::format("{} ranks, which wait for each other {:.0f} % of the time", means_.size(),
                                 100 * std::min(1.0, waited / seconds_per_step));
  if (const std::optional<Straggler> found = straggler())
    text += fmt::format("; rank {} on {} computes {:.1f} times as long as the others", found->rank,
                        ranks.host(found->rank), found->seconds / found->usual);
  return text;
}

}  // namespace cladtorch::train
