#include "train/step/shares.h"

#include <algorithm>

namespace cladtorch::train {
namespace {

/// The first of the pieces begin to end - 1 that each rank gets, and `end`; there are `all` elements in them.
template <class Elements>
std::vector<size_t> deal(size_t begin, size_t end, int ranks, int64_t all, const Elements& elements) {
  std::vector<size_t> first;
  int64_t before = 0;
  for (size_t piece = begin; piece < end; ++piece) {
    // The rank whose even share begins here or before has its first piece.
    while (static_cast<int64_t>(first.size()) < ranks &&
           before >= all * static_cast<int64_t>(first.size()) / ranks)
      first.push_back(piece);
    before += elements(piece);
  }
  first.resize(static_cast<size_t>(ranks) + 1, end);
  return first;
}

}  // namespace

Shares::Shares(const TensorList& parameters, int ranks, int64_t bucket_elements)
    : pieces_(static_cast<size_t>(ranks)) {
  const std::vector<TensorList::Piece>& pieces = parameters.pieces();
  const auto elements = [&](size_t piece) { return pieces[piece].end - pieces[piece].begin; };
  for (size_t end = pieces.size(); end > 0;) {
    size_t begin = end;
    int64_t all = 0;
    while (begin > 0 && (all < bucket_elements || end - begin < static_cast<size_t>(ranks)))
      all += elements(--begin);
    first_piece_.push_back(deal(begin, end, ranks, all, elements));
    end = begin;
  }
  runs_.resize(buckets(), std::vector<std::vector<Run>>(static_cast<size_t>(ranks)));
  for (int rank = 0; rank < ranks; ++rank)
    for (size_t bucket = buckets(); bucket-- > 0;)
      for (auto [piece, last] = this->pieces(bucket, rank); piece < last; ++piece) {
        pieces_[static_cast<size_t>(rank)].push_back(piece);
        const auto& [tensor, first, end] = pieces[piece];
        std::vector<Run>& runs = runs_[bucket][static_cast<size_t>(rank)];
        if (!runs.empty() && runs.back().tensor == tensor && runs.back().end == first)
          runs.back().end = end;
        else
          runs.push_back({tensor, first, end});
      }
}

std::vector<Run> Shares::runs(int rank) const {
  std::vector<Run> all;
  for (size_t bucket = buckets(); bucket-- > 0;) {
    const std::vector<Run>& here = runs(bucket, rank);
    all.insert(all.end(), here.begin(), here.end());
  }
  return all;
}

void Shares::collect(comm::Communicator& ranks, Tensor values, Tensor whole, size_t tensor,
                     const std::string& what, const std::atomic<bool>* cancelled) const {
  std::vector<comm::Communicator::Pending> transfers;
  auto* const mine = static_cast<std::byte*>(values.data());
  auto* const all = ranks.is_first() ? static_cast<std::byte*>(whole.data()) : nullptr;
  for (int rank = 0; rank < ranks.size(); ++rank)
    for (const Run& run : runs(rank)) {
      if (run.tensor != tensor) continue;
      if (rank == ranks.rank() && rank > 0)
        transfers.push_back({ranks.send(bytes_of(mine, values.dtype(), run), 0, 0), 0});
      else if (ranks.is_first() && rank > 0)
        transfers.push_back({ranks.receive(bytes_of(all, values.dtype(), run), rank, 0), rank});
      else if (ranks.is_first() && all != mine)
        std::ranges::copy(bytes_of(mine, values.dtype(), run), bytes_of(all, values.dtype(), run).begin());
    }
  ranks.wait(transfers, what, cancelled);
}

}  // namespace cladtorch::train
