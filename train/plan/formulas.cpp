#include "train/plan/formulas.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cladtorch::train {

int64_t waiting_sums(const Leaves& all, const Leaves& own) {
  size_t most = 0;
  for (int64_t end = own.begin + 1; end < own.end; ++end)
    most = std::max(most, nodes_within(all, {own.begin, end}).size());
  return static_cast<int64_t>(most);
}

int64_t sums_between_rounds(const LeafPlan& plan) {
  size_t most = 0;
  for (int64_t round = 1; round < plan.rounds(); ++round) most = std::max(most, plan.before(round).size());
  return static_cast<int64_t>(most);
}

std::vector<Traffic> exchange_traffic(std::span<const double> parts, std::span<const int64_t> sums) {
  const double all = std::reduce(parts.begin(), parts.end());
  const auto all_sums = static_cast<double>(std::reduce(sums.begin(), sums.end()));
  std::vector<Traffic> traffic;
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const auto mine = static_cast<double>(sums[rank]);
    traffic.push_back({.sent = mine * (all - parts[rank]),
                       .received = (all_sums - mine) * parts[rank],
                       .messages = mine * static_cast<double>(parts.size() - 1)});
  }
  return traffic;
}

std::vector<Traffic> gather_traffic(std::span<const double> parts, double pieces) {
  const double all = std::reduce(parts.begin(), parts.end());
  const auto others = static_cast<double>(parts.size() - 1);
  std::vector<Traffic> traffic;
  for (const double part : parts)
    traffic.push_back({.sent = others * part, .received = all - part, .messages = others * pieces});
  return traffic;
}

double traffic_seconds(const PlanNetwork& network, int ranks, const Traffic& traffic) {
  if (ranks == 1) return 0;
  const double bytes = std::max(traffic.sent, traffic.received);
  const auto near = static_cast<double>(std::min<int64_t>(network.per_node, ranks) - 1);
  const double near_share = near / (ranks - 1);
  double wire = 0;
  if (near_share > 0) wire = near_share * bytes / network.link;
  if (near_share < 1) wire = std::max(wire, (1 - near_share) * bytes / network.network);
  return network.latency + network.posting + std::max(wire, network.posting * traffic.messages);
}

double exposed_seconds(double body, double tail, double window) {
  return std::max(0.0, body - window) + tail;
}

double jitter_seconds(double compute, double jitter, int ranks) {
  return jitter * compute * std::sqrt(2 * std::log(static_cast<double>(ranks)));
}

}  // namespace cladtorch::train
