#include "train/step/leaf_sums.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "cladtorch/error.h"
#include "cladtorch/tensor/parallel.h"
#include "train/step/update.h"

namespace cladtorch::train {
namespace {

/// Elements of one piece of work, and of memory that stays in a core's cache.
constexpr int64_t block_elements = 4096;
/// Parts begin where vector registers and cache lines do.
constexpr int64_t part_alignment = 16;

/// Calls f(elements, offset, count) for pieces of the list, where `offset` counts the elements of all tensors
/// before. The tensors' zeros are written.
template <class F>
void for_each_run(TensorList& list, const F& f) {
  std::vector<int64_t> offsets;
  std::vector<float*> elements;
  int64_t offset = 0;
  for (NamedTensor& named : list) {
    offsets.push_back(offset);
    elements.push_back(named.tensor.data<float>());
    offset += named.tensor.numel();
  }
  for_each_piece(list, [&](size_t tensor, int64_t begin, int64_t end) {
    f(elements[tensor] + begin, offsets[tensor] + begin, end - begin);
  });
}

/// The first element of a rank's part of `count`.
int64_t part_begin(int rank, int ranks, int64_t count) {
  if (rank == ranks) return count;
  return count * rank / ranks / part_alignment * part_alignment;
}

/// sum(leaves) of one block. The parts of nodes begin at `at`; `next` is the first that is not used yet.
void add_tree(const Leaves& leaves, const std::vector<Leaves>& nodes, const std::vector<const float*>& at,
              size_t& next, float* sum, int64_t count) {
  if (nodes[next] == leaves) {
    std::copy_n(at[next++], count, sum);
    return;
  }
  const int64_t middle = leaves.middle();
  add_tree({leaves.begin, middle}, nodes, at, next, sum, count);
  float right[block_elements];
  add_tree({middle, leaves.end}, nodes, at, next, right, count);
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
  const std::vector<double> all = ranks.gather(values, what);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

LeafSums::LeafSums(comm::Communicator& ranks, int64_t leaves, TensorList& gradients)
    : ranks_(ranks),
      all_{0, leaves},
      mine_(leaves_of(ranks.rank(), ranks.size(), leaves)),
      gradients_(gradients),
      next_(mine_.begin) {
  require(leaves == 1 || (gradients.dtype() == DType::float32 && !gradients[0].tensor.is_cuda()),
          "train.leaves: sums over leaves are float32 on the CPU");
  for (int rank = 0; rank < ranks.size(); ++rank)
    nodes_.push_back(nodes_within(all_, leaves_of(rank, ranks.size(), leaves)));
}

size_t LeafSums::take_buffer() {
  if (free_.empty()) {
    buffers_.emplace_back(static_cast<size_t>(gradients_.numel()));
    return buffers_.size() - 1;
  }
  const size_t buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void LeafSums::clear() {
  for (const Node& node : pending_) free_.push_back(node.buffer);
  pending_.clear();
  next_ = mine_.begin;
}

void LeafSums::end_leaf() {
  if (all_.count() == 1) return;  // the gradients are the sum
  Leaves node{next_, next_ + 1};
  ++next_;
  const auto is_node = [&](const Leaves& joined) {
    return nodes_within(all_, joined) == std::vector{joined};
  };
  while (!pending_.empty() && is_node({pending_.back().leaves.begin, node.end}) &&
         Leaves{pending_.back().leaves.begin, node.end}.middle() == node.begin) {
    const float* left = buffers_[pending_.back().buffer].data();
    for_each_run(gradients_, [&](float* elements, int64_t offset, int64_t count) {
      for (int64_t i = 0; i < count; ++i) elements[i] += left[offset + i];
    });
    node.begin = pending_.back().leaves.begin;
    free_.push_back(pending_.back().buffer);
    pending_.pop_back();
  }
  if (next_ == mine_.end && ranks_.size() == 1) return;
  const size_t buffer = take_buffer();
  float* kept = buffers_[buffer].data();
  for_each_run(gradients_, [&](const float* elements, int64_t offset, int64_t count) {
    std::copy_n(elements, count, kept + offset);
  });
  pending_.push_back({node, buffer});
  if (next_ < mine_.end) gradients_.mark_zero();
}

void LeafSums::finish(const std::string& what) {
  if (ranks_.size() > 1) exchange(what);
  clear();
}

void LeafSums::exchange(const std::string& what) {
  const int size = ranks_.size(), self = ranks_.rank();
  const int64_t numel = gradients_.numel();
  const auto part = [&](int rank) {
    return std::pair(part_begin(rank, size, numel), part_begin(rank + 1, size, numel));
  };
  const auto [begin, end] = part(self);
  size_t count = 0;
  for (const std::vector<Leaves>& of_rank : nodes_) count += of_rank.size();
  received_.resize(count);
  std::vector<comm::Communicator::Pending> transfers;
  std::vector<const float*> parts;
  std::vector<Leaves> order;
  for (int rank = 0, node = 0; rank < size; ++rank)
    for (size_t k = 0; k < nodes_[static_cast<size_t>(rank)].size(); ++k, ++node) {
      order.push_back(nodes_[static_cast<size_t>(rank)][k]);
      if (rank == self) {
        parts.push_back(buffers_[pending_[k].buffer].data() + begin);
        continue;
      }
      std::vector<float>& into = received_[static_cast<size_t>(node)];
      into.resize(static_cast<size_t>(end - begin));
      parts.push_back(into.data());
      transfers.push_back(
          {ranks_.receive(std::as_writable_bytes(std::span(into)), rank, static_cast<int>(k) + 1), rank});
    }
  for (int step = 1; step < size; ++step) {
    const int to = (self + step) % size;
    const auto [from, until] = part(to);
    for (size_t k = 0; k < pending_.size(); ++k) {
      const float* sum = buffers_[pending_[k].buffer].data();
      transfers.push_back(
          {ranks_.send(std::as_bytes(std::span(sum + from, sum + until)), to, static_cast<int>(k) + 1), to});
    }
  }
  ranks_.wait(transfers, what);

  const size_t buffer = take_buffer();
  float* sum = buffers_[buffer].data();
  parallel_for(end - begin, block_elements, [&](int64_t from, int64_t until) {
    std::vector<const float*> at(parts.size());
    std::ranges::transform(parts, at.begin(), [&](const float* p) { return p + from; });
    size_t next = 0;
    add_tree(all_, order, at, next, sum + begin + from, until - from);
  });
  std::vector<size_t> sizes;
  for (int rank = 0; rank < size; ++rank)
    sizes.push_back(static_cast<size_t>(part(rank).second - part(rank).first) * sizeof(float));
  // The parts of all ranks, each in its place; this rank's own is there.
  std::vector<float> mine(sum + begin, sum + end);
  ranks_.all_gather(std::as_bytes(std::span(mine)),
                    std::as_writable_bytes(std::span(sum, static_cast<size_t>(numel))), sizes, what);
  for_each_run(gradients_,
               [&](float* elements, int64_t offset, int64_t n) { std::copy_n(sum + offset, n, elements); });
  free_.push_back(buffer);
}

}  // namespace cladtorch::train
