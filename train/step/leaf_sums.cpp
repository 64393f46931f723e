#include "train/step/leaf_sums.h"

#include <algorithm>
#include <numeric>

#include "cladtorch/error.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/parallel.h"
#include "tensor/allocation.h"

namespace cladtorch::train {
namespace {

/// Elements of one piece of work, which stay in a core's cache.
constexpr int64_t block_elements = 4096;

constexpr const char* what_is_exchanged = "the gradient of the step";

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

template <class T>
size_t bytes_of(const std::vector<std::vector<T>>& blocks) {
  size_t sum = 0;
  for (const std::vector<T>& block : blocks) sum += block.capacity() * sizeof(T);
  return sum;
}

}  // namespace

double sum_in_order(comm::Communicator& ranks, std::span<const double> values, const std::string& what) {
  if (ranks.size() == 1) return std::accumulate(values.begin(), values.end(), 0.0);
  const std::vector<double> all = ranks.all_gather(values, what);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

LeafSums::LeafSums(comm::Communicator& ranks, const LeafPlan& plan, TensorList& gradients,
                   const Tensor& memory, const Shares& shares, bool overlap, Background& background)
    : ranks_(ranks),
      plan_(plan),
      overlap_(overlap && ranks.size() > 1),
      mine_(plan_.of_rank(ranks.rank())),
      gradients_(gradients),
      memory_(memory),
      tensors_(shares.buckets()),
      buckets_(gradients.size(), {shares.buckets(), 0}),
      writing_(gradients.size()),
      seen_(gradients.size()),
      expected_(gradients.size()),
      jobs_(shares.buckets(), -1),
      background_(background) {
  const bool alone = plan.all().count() == 1;
  require(alone || (memory.dtype() == DType::float32 && !memory.is_cuda()),
          "train.leaves: sums over leaves are float32 on the CPU");
  if (alone) return;
  elements_ = memory_.data<float>();
  const std::vector<TensorList::Piece>& pieces = gradients.pieces();
  const auto offset = [&](size_t piece) {
    if (piece == pieces.size()) return memory.numel();
    return piece == 0 ? 0 : gradients[pieces[piece].tensor].tensor.offset_in(memory) + pieces[piece].begin;
  };
  for (size_t bucket = 0; bucket < shares.buckets(); ++bucket) {
    std::vector<int64_t>& bounds = bounds_.emplace_back();
    for (int rank = 0; rank < ranks.size(); ++rank)
      bounds.push_back(offset(shares.pieces(bucket, rank).first));
    const auto [first, last] = shares.pieces(bucket);
    bounds.push_back(offset(last));
    share_offset_.push_back(share_elements_);
    share_elements_ += static_cast<size_t>(part(bucket, ranks.rank()).count());
    for (size_t piece = first; piece < last; ++piece) {
      const size_t tensor = pieces[piece].tensor;
      if (tensors_[bucket].empty() || tensors_[bucket].back() != tensor) tensors_[bucket].push_back(tensor);
      auto& [lowest, highest] = buckets_[tensor];
      lowest = std::min(lowest, bucket);
      highest = std::max(highest, bucket);
    }
  }
  for (size_t i = 0; i < gradients.size(); ++i) {
    // What lies between two tensors is added and sent with them.
    const int64_t end = gradients[i].tensor.offset_in(memory) + gradients[i].tensor.numel();
    const int64_t next =
        i + 1 < gradients.size() ? gradients[i + 1].tensor.offset_in(memory) : memory.numel();
    std::fill(elements_ + end, elements_ + next, 0.0F);
    if (overlap_) gradients[i].tensor.set_listener(this, i);
  }
}

LeafSums::~LeafSums() {
  if (!overlap_) return;
  for (NamedTensor& named : gradients_) named.tensor.set_listener(nullptr, 0);
}

size_t LeafSums::bytes() const {
  size_t sum = bytes_of(unused_) + bytes_of(merged_) + bytes_of(received_) + bytes_of(levels_);
  for (const Node& node : pending_) sum += node.sum.capacity() * sizeof(float);
  return sum;
}

bool LeafSums::is_complete(size_t tensor) const {
  return writing_[tensor] == 0 && expected_[tensor] > 0 && seen_[tensor] >= expected_[tensor];
}

/// What the micro-batch that is over says of those that follow.
void LeafSums::learn() {
  for (size_t i = 0; i < seen_.size(); ++i) expected_[i] = std::max(expected_[i], std::exchange(seen_[i], 0));
  planning_ = live_ = false;
}

void LeafSums::begin_plan() {
  learn();
  planning_ = true;
}

void LeafSums::begin(bool ends_leaf) {
  learn();
  live_ = ends_leaf && overlap_ && (plan_.is_early() || is_last_leaf());
  if (!live_) return;
  open_.clear();
  for (const std::vector<size_t>& tensors : tensors_) open_.push_back(tensors.size());
  take_neighbours({mine_[static_cast<size_t>(done_leaves_)], mine_[static_cast<size_t>(done_leaves_)] + 1});
}

void LeafSums::begins(size_t tensor) {
  const auto [first, last] = buckets_[tensor];
  if (live_ && next_bucket_ > first)
    fail("the gradient of '", gradients_[tensor].name,
         "' gets a contribution after the last one that it had in other steps; train with "
         "distributed.overlap=false");
  if (round_ > 0)  // its memory is still read
    background_.wait(jobs_[last]);
  if (live_ && is_complete(tensor))
    for (size_t bucket = first; bucket <= last; ++bucket) ++open_[bucket];
  ++writing_[tensor];
}

void LeafSums::written(size_t tensor) noexcept {
  --writing_[tensor];
  ++seen_[tensor];
  const auto [first, last] = buckets_[tensor];
  if (planning_ && plan_.is_early()) {
    const Tensor& gradient = gradients_[tensor].tensor;
    const int64_t begin = gradient.offset_in(memory_);
    release({begin, begin + gradient.numel()});
  }
  if (!live_ || !is_complete(tensor)) return;
  for (size_t bucket = first; bucket <= last; ++bucket) --open_[bucket];
  while (next_bucket_ < open_.size() && open_[next_bucket_] == 0) complete_bucket();
}

void LeafSums::end_leaf() {
  live_ = false;
  if (plan_.all().count() == 1) return;  // the gradients are the sum
  const int64_t leaf = mine_[static_cast<size_t>(done_leaves_)];
  const bool last = is_last_leaf();
  if (!plan_.is_early() && !last) {
    keep_leaf();
  } else {
    take_neighbours({leaf, leaf + 1});
    end_round();
  }
  ++done_leaves_;
  if (!last) gradients_.mark_zero();
}

/// Moves the neighbours of a node, which is in the memory of the gradients, to what it will be added to.
void LeafSums::take_neighbours(Leaves node) {
  if (plan_.is_early()) return;
  if (!pending_.empty() && pending_.back().sum.empty()) return;  // they were taken
  const auto is_node = [&](const Leaves& joined) {
    return nodes_within(plan_.all(), joined) == std::vector{joined} && joined.middle() == node.begin;
  };
  while (!pending_.empty() && is_node({pending_.back().leaves.begin, node.end})) {
    node.begin = pending_.back().leaves.begin;
    merged_.push_back(std::move(pending_.back().sum));
    pending_.pop_back();
  }
  pending_.push_back({node, {}});
}

/// Adds a leaf that is not the last to what was added before.
void LeafSums::keep_leaf() {
  const int64_t leaf = mine_[static_cast<size_t>(done_leaves_)];
  take_neighbours({leaf, leaf + 1});
  for (size_t bucket = 0; bucket < bounds_.size(); ++bucket) add_neighbours(bucket);
  for (std::vector<float>& memory : merged_) unused_.push_back(std::move(memory));
  merged_.clear();
  std::vector<float>& kept = pending_.back().sum;
  if (!unused_.empty()) {
    kept = std::move(unused_.back());
    unused_.pop_back();
  }
  kept.resize(static_cast<size_t>(memory_.numel()));
  const float* sum = elements_;
  parallel_for(memory_.numel(), block_elements,
               [&](int64_t begin, int64_t end) { std::copy(sum + begin, sum + end, kept.data() + begin); });
}

/// The gradients of a bucket, for which marks may stand, are written and added to their neighbours.
void LeafSums::add_neighbours(size_t bucket) {
  for (const size_t tensor : tensors_[bucket]) gradients_[tensor].tensor.data();
  float* const sum = elements_ + range(bucket).begin;
  for (const std::vector<float>& memory : merged_) {
    const float* const left = memory.data() + range(bucket).begin;
    parallel_for(range(bucket).count(), block_elements, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum[i] += left[i];
    });
  }
}

/// The next bucket of this round may be exchanged.
void LeafSums::complete_bucket() {
  if (!plan_.sent(ranks_.rank(), round_).empty()) add_neighbours(next_bucket_);
  if (ranks_.size() > 1)
    jobs_[next_bucket_] =
        background_.add([this, bucket = next_bucket_, round = round_] { exchange(bucket, round); });
  ++next_bucket_;
}

void LeafSums::end_round() {
  while (next_bucket_ < bounds_.size()) complete_bucket();
  next_bucket_ = 0;
  ++round_;
}

void LeafSums::finish(bool whole) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  if (ranks_.size() > 1) {
    while (round_ < plan_.rounds()) end_round();  // in which this rank has no leaf
    background_.wait(jobs_.back());
    if (whole) gather();
  }
  for (std::vector<float>& memory : merged_) unused_.push_back(std::move(memory));
  for (Node& node : pending_)
    if (!node.sum.empty()) unused_.push_back(std::move(node.sum));
  merged_.clear();
  pending_.clear();
  done_leaves_ = round_ = 0;
  waited_ = std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Exchanges one bucket in one round, and adds what belongs to this rank.
void LeafSums::exchange(size_t bucket, int64_t round) {
  const int size = ranks_.size(), self = ranks_.rank();
  const Range own = part(bucket, self);
  const auto count = static_cast<size_t>(own.count());
  const auto level = [&](size_t i) { return levels_[i].data() + share_offset_[bucket]; };

  // The sums of earlier rounds, and those that come now.
  std::vector<Leaves> nodes = plan_.before(round);
  std::vector<const float*> parts;
  for (size_t i = 0; i < nodes.size(); ++i) parts.push_back(level(i));
  std::vector<comm::Communicator::Pending> transfers;
  size_t received = 0;
  for (int rank = 0; rank < size; ++rank) {
    const std::vector<Leaves> sent = plan_.sent(rank, round);
    for (size_t k = 0; k < sent.size(); ++k) {
      nodes.push_back(sent[k]);
      if (rank == self) {
        parts.push_back(sum_of(k) + own.begin);
        continue;
      }
      if (received == received_.size()) received_.emplace_back();
      std::vector<float>& into = received_[received++];
      into.resize(std::max(into.size(), count));
      parts.push_back(into.data());
      const auto bytes = std::as_writable_bytes(std::span(into.data(), count));
      transfers.push_back({ranks_.receive(bytes, rank, static_cast<int>(k) + 1), rank});
    }
  }
  for (int step = 1; step < size; ++step) {
    const int to = (self + step) % size;
    const Range theirs = part(bucket, to);
    for (size_t k = 0; k < plan_.sent(self, round).size(); ++k) {
      const std::span values(sum_of(k) + theirs.begin, static_cast<size_t>(theirs.count()));
      transfers.push_back({ranks_.send(std::as_bytes(values), to, static_cast<int>(k) + 1), to});
    }
  }
  ranks_.wait(transfers, what_is_exchanged, &background_.cancelled());

  const std::vector<Leaves> sums = plan_.before(round + 1);
  const bool last = round + 1 == plan_.rounds();
  while (!last && levels_.size() < sums.size()) levels_.emplace_back(share_elements_);
  parallel_for(own.count(), block_elements, [&](int64_t begin, int64_t end) {
    float sum[block_elements];  // a part of the tree may lie where its sum will
    size_t next = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      add_tree(sums[i], nodes, parts, begin, next, sum, end - begin);
      std::copy_n(sum, end - begin, (last ? elements_ + own.begin : level(i)) + begin);
    }
  });
  if (!plan_.is_early()) return;
  release({range(bucket).begin, last ? own.begin : own.end});
  release({own.end, range(bucket).end});
}

/// Sum k of those that this rank sends.
const float* LeafSums::sum_of(size_t k) const {
  const bool in_memory = plan_.is_early() || k + 1 == pending_.size();
  return in_memory ? elements_ : pending_[k].sum.data();
}

/// Gives memory that nobody reads any more back to the system.
void LeafSums::release(const Range& range) {
  detail::release_pages(reinterpret_cast<std::byte*>(elements_ + range.begin),
                        static_cast<size_t>(std::max<int64_t>(0, range.count())) * sizeof(float));
}

void LeafSums::gather() {
  std::vector<comm::Communicator::Pending> transfers;
  const int size = ranks_.size(), self = ranks_.rank();
  const auto bytes = [&](size_t bucket, int rank) {
    const Range range = part(bucket, rank);
    return std::as_writable_bytes(std::span(elements_ + range.begin, static_cast<size_t>(range.count())));
  };
  for (size_t bucket = 0; bucket < bounds_.size(); ++bucket)
    for (int step = 1; step < size; ++step) {
      const int other = (self + step) % size;
      transfers.push_back({ranks_.receive(bytes(bucket, other), other, 0), other});
      transfers.push_back({ranks_.send(bytes(bucket, self), other, 0), other});
    }
  ranks_.wait(transfers, what_is_exchanged);
}

}  // namespace cladtorch::train
