// The formulas of a plan: what the ranks of a run hold, send and wait for. Bytes, seconds, and bytes per
// second throughout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/step/leaves.h"

namespace cladtorch::train {

/// How many sums over leaves a rank keeps beside the gradient while it computes `own` of the leaves `all`:
/// floor(log2 M) for M leaves that are a node of the tree, as many as a binary counter below M has ones.
int64_t waiting_sums(const Leaves& all, const Leaves& own);

/// The most sums of its share that a rank keeps between the rounds of a plan that exchanges each leaf.
int64_t sums_between_rounds(const LeafPlan& plan);

/// What lies between ranks, as one of them sees it.
struct PlanNetwork {
  int64_t per_node = 1;
  double link = 0;     ///< B/s, one way, to ranks of the same node
  double network = 0;  ///< B/s, one way, to those of other nodes
  double latency = 0;  ///< s
  double posting = 0;  ///< s that it takes to send one message
};

/// What one rank sends and receives when all exchange something directly.
struct Traffic {
  double sent = 0, received = 0;  ///< bytes
  double messages = 0;            ///< that it sends
};

/// The direct exchange of a bucket, of each rank: rank r sends each of its `sums[r]` sums to all, to rank k
/// the part of `parts[k]` bytes that k owns.
std::vector<Traffic> exchange_traffic(std::span<const double> parts, std::span<const int64_t> sums);
/// Rank r sends its part of `parts[r]` bytes, which is in so many pieces, to all.
std::vector<Traffic> gather_traffic(std::span<const double> parts, double pieces);

/// How long one of so many ranks takes. It receives while it sends, and both links are busy at once. The time
/// of the LogGP model (Alexandrov et al., "LogGP", SPAA 1995): what is on the wire hides the posting of
/// further messages, or the other way round.
double traffic_seconds(const PlanNetwork& network, int ranks, const Traffic& traffic);

/// What is left of the exchange of a gradient when the computing that goes on meanwhile takes `window`; the
/// exchange of its `tail` begins when the gradient is complete.
double exposed_seconds(double body, double tail, double window);

/// How late the slowest of so many ranks is, whose computing takes `compute` with a standard deviation of
/// `jitter` times that: the expected maximum of normal values, jitter * sqrt(2 ln P), to first order.
double jitter_seconds(double compute, double jitter, int ranks);

/// The backward pass computes two products for each of the forward pass.
inline constexpr double backward_share = 2.0 / 3.0;

}  // namespace cladtorch::train
