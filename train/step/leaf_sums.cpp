#include "train/step/leaf_sums.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "cladtorch/error.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch::train {
namespace {

/// Elements of one piece of work, which stay in a core's cache.
constexpr int64_t block_elements = 4096;
/// Elements of a part that ranks exchange at once: what arrives of it takes 16 MB from each rank.
constexpr int64_t chunk_elements = int64_t{1} << 22;

/// sum(leaves) of the block at `offset` of the parts of the nodes; `next` is the first node that is not used
/// yet.
void add_tree(const Leaves& leaves, const std::vector<Leaves>& nodes, const std::vector<const float*>& parts,
              int64_t offset, size_t& next, float* sum, int64_t count) {
  if (nodes[next] == leaves) {
    std::copy_n(parts[next++] + offset, count, sum);
    return;
  }
  const int64_t middle = leaves.middle();
  add_tree({leaves.begin, middle}, nodes, parts, offset, next, sum, count);
  float right[block_elements];
  add_tree({middle, leaves.end}, nodes, parts, offset, next, right, count);
  for (int64_t i = 0; i < count; ++i) sum[i] += right[i];
}

}  // namespace

int64_t Leaves::middle() const {
  return begin + static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count() - 1)));
}

Leaves leaves_of(int rank, int ranks, int64_t leaves) {
  return {leaves * rank / ranks, leaves * (rank + 1) / ranks};
}

std::vector<Leaves> nodes_within(const Leaves& all, const Leaves& part) {
  if (part.begin <= all.begin && all.end <= part.end) return {all};
  if (part.end <= all.begin || all.end <= part.begin) return {};
  std::vector<Leaves> nodes = nodes_within({all.begin, all.middle()}, part);
  const std::vector<Leaves> right = nodes_within({all.middle(), all.end}, part);
  nodes.insert(nodes.end(), right.begin(), right.end());
  return nodes;
}

double sum_in_order(comm::Communicator& ranks, std::span<const double> values, const std::string& what) {
  if (ranks.size() == 1) return std::accumulate(values.begin(), values.end(), 0.0);
  const std::vector<double> all = ranks.all_gather(values, what);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

LeafSums::LeafSums(comm::Communicator& ranks, int64_t leaves, TensorList& gradients, const Tensor& memory,
                   const Shares& shares)
    : ranks_(ranks),
      all_{0, leaves},
      mine_(leaves_of(ranks.rank(), ranks.size(), leaves)),
      gradients_(gradients),
      memory_(memory),
      next_(mine_.begin) {
  require(leaves == 1 || (memory.dtype() == DType::float32 && !memory.is_cuda()),
          "train.leaves: sums over leaves are float32 on the CPU");
  for (int rank = 0; rank < ranks.size() && ranks.size() > 1; ++rank) {
    const std::vector<Shares::Run>& runs = shares.runs(rank);
    if (runs.empty()) {
      begin_.push_back(-1);  // where the next begins
      continue;
    }
    const Tensor& first = gradients[runs.front().tensor].tensor;
    begin_.push_back(first.data<float>() - memory.data<float>() + runs.front().begin);
  }
  begin_.push_back(memory.numel());
  for (size_t rank = begin_.size() - 1; rank-- > 0;)
    if (begin_[rank] < 0) begin_[rank] = begin_[rank + 1];
  begin_.front() = 0;
  for (int rank = 0; rank < ranks.size(); ++rank)
    nodes_.push_back(nodes_within(all_, leaves_of(rank, ranks.size(), leaves)));
}

/// Gradients that only stand for zero become zeros.
void LeafSums::write_zeros() {
  for (NamedTensor& named : gradients_) named.tensor.data();
}

void LeafSums::clear() {
  for (Node& node : pending_)
    if (!node.sum.empty()) unused_.push_back(std::move(node.sum));
  pending_.clear();
  next_ = mine_.begin;
}

size_t LeafSums::bytes() const {
  size_t sum = 0;
  for (const std::vector<float>& memory : unused_) sum += memory.capacity() * sizeof(float);
  for (const Node& node : pending_) sum += node.sum.capacity() * sizeof(float);
  for (const std::vector<float>& part : received_) sum += part.capacity() * sizeof(float);
  return sum;
}

void LeafSums::end_leaf() {
  if (all_.count() == 1) return;  // the gradients are the sum
  write_zeros();
  auto* const sum = memory_.data<float>();
  Leaves node{next_, next_ + 1};
  ++next_;
  const auto is_node = [&](const Leaves& joined) {
    return nodes_within(all_, joined) == std::vector{joined} && joined.middle() == node.begin;
  };
  while (!pending_.empty() && is_node({pending_.back().leaves.begin, node.end})) {
    const float* left = pending_.back().sum.data();
    parallel_for(memory_.numel(), block_elements, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum[i] += left[i];
    });
    node.begin = pending_.back().leaves.begin;
    unused_.push_back(std::move(pending_.back().sum));
    pending_.pop_back();
  }
  pending_.push_back({node, {}});
  if (next_ == mine_.end) return;
  std::vector<float>& kept = pending_.back().sum;
  if (!unused_.empty()) {
    kept = std::move(unused_.back());
    unused_.pop_back();
  }
  kept.resize(static_cast<size_t>(memory_.numel()));
  parallel_for(memory_.numel(), block_elements,
               [&](int64_t begin, int64_t end) { std::copy(sum + begin, sum + end, kept.data() + begin); });
  gradients_.mark_zero();
}

void LeafSums::finish(bool whole, const std::string& what) {
  if (ranks_.size() > 1) exchange(what);
  if (ranks_.size() > 1 && whole) gather(what);
  clear();
}

void LeafSums::exchange(const std::string& what) {
  const int size = ranks_.size(), self = ranks_.rank();
  auto* const memory = memory_.data<float>();
  const auto begin_of = [&](int rank) { return begin_[static_cast<size_t>(rank)]; };
  const auto sum_of = [&](size_t k) { return k + 1 == pending_.size() ? memory : pending_[k].sum.data(); };
  std::vector<Leaves> order;
  for (const std::vector<Leaves>& nodes : nodes_) order.insert(order.end(), nodes.begin(), nodes.end());
  received_.resize(order.size());
  int64_t longest = 0;
  for (int rank = 0; rank < size; ++rank) longest = std::max(longest, begin_of(rank + 1) - begin_of(rank));

  for (int64_t done = 0; done < longest; done += chunk_elements) {
    // What is exchanged now of a rank's part.
    const auto chunk = [&](int rank) {
      const int64_t from = std::min(begin_of(rank) + done, begin_of(rank + 1));
      return std::pair(from, std::min(from + chunk_elements, begin_of(rank + 1)));
    };
    const auto [from, until] = chunk(self);
    std::vector<comm::Communicator::Pending> transfers;
    std::vector<const float*> parts;
    for (int rank = 0; rank < size; ++rank)
      for (size_t k = 0; k < nodes_[static_cast<size_t>(rank)].size(); ++k) {
        if (rank == self) {
          parts.push_back(sum_of(k) + from);
          continue;
        }
        std::vector<float>& into = received_[parts.size()];
        into.resize(static_cast<size_t>(until - from));
        parts.push_back(into.data());
        transfers.push_back(
            {ranks_.receive(std::as_writable_bytes(std::span(into)), rank, static_cast<int>(k) + 1), rank});
      }
    for (int step = 1; step < size; ++step) {
      const int to = (self + step) % size;
      const auto [first, last] = chunk(to);
      for (size_t k = 0; k < pending_.size(); ++k)
        transfers.push_back({ranks_.send(std::as_bytes(std::span(sum_of(k) + first, sum_of(k) + last)), to,
                                         static_cast<int>(k) + 1),
                             to});
    }
    ranks_.wait(transfers, what);
    parallel_for(until - from, block_elements, [&](int64_t begin, int64_t end) {
      float sum[block_elements];  // a part of the tree may lie where the sum will
      size_t next = 0;
      add_tree(all_, order, parts, begin, next, sum, end - begin);
      std::copy_n(sum, end - begin, memory + from + begin);
    });
  }
}

void LeafSums::gather(const std::string& what) {
  const std::span<float> memory(memory_.data<float>(), static_cast<size_t>(memory_.numel()));
  std::vector<size_t> sizes;
  for (size_t rank = 0; rank + 1 < begin_.size(); ++rank)
    sizes.push_back(static_cast<size_t>(begin_[rank + 1] - begin_[rank]) * sizeof(float));
  const auto self = static_cast<size_t>(ranks_.rank());
  const auto mine = memory.subspan(static_cast<size_t>(begin_[self]), sizes[self] / sizeof(float));
  ranks_.all_gather(std::as_bytes(mine), std::as_writable_bytes(memory), sizes, what);
}

}  // namespace cladtorch::train
