#include "train/step/shares.h"

#include <algorithm>

namespace cladtorch::train {
namespace {

using Pending = comm::Communicator::Pending;

std::span<std::byte> bytes_of(Tensor tensor, const Shares::Run& run) {
  const size_t element = size_of(tensor.dtype());
  auto* const bytes = static_cast<std::byte*>(tensor.data());
  return {bytes + static_cast<size_t>(run.begin) * element,
          static_cast<size_t>(run.end - run.begin) * element};
}

void send(comm::Communicator& ranks, const Shares& shares, const TensorList& tensors, int to,
          std::vector<Pending>& transfers) {
  for (const Shares::Run& run : shares.runs(ranks.rank()))
    transfers.push_back({ranks.send(bytes_of(tensors[run.tensor].tensor, run), to, 0), to});
}

void receive(comm::Communicator& ranks, const Shares& shares, const TensorList& tensors, int from,
             std::vector<Pending>& transfers) {
  for (const Shares::Run& run : shares.runs(from))
    transfers.push_back({ranks.receive(bytes_of(tensors[run.tensor].tensor, run), from, 0), from});
}

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
    : pieces_(static_cast<size_t>(ranks)), runs_(static_cast<size_t>(ranks)) {
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
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<size_t>& mine = pieces_[static_cast<size_t>(rank)];
    for (size_t bucket = buckets(); bucket-- > 0;)
      for (auto [piece, last] = this->pieces(bucket, rank); piece < last; ++piece) mine.push_back(piece);
    std::vector<Run>& runs = runs_[static_cast<size_t>(rank)];
    for (const size_t piece : mine) {
      const auto& [tensor, first, last] = pieces[piece];
      if (!runs.empty() && runs.back().tensor == tensor && runs.back().end == first)
        runs.back().end = last;
      else
        runs.push_back({tensor, first, last});
    }
  }
}

void Shares::gather(comm::Communicator& ranks, TensorList& tensors, const std::string& what) const {
  std::vector<Pending> transfers;
  for (int step = 1; step < ranks.size(); ++step)
    receive(ranks, *this, tensors, (ranks.rank() + step) % ranks.size(), transfers);
  for (int step = 1; step < ranks.size(); ++step)
    send(ranks, *this, tensors, (ranks.rank() + step) % ranks.size(), transfers);
  ranks.wait(transfers, what);
}

Tensor Shares::on_first(comm::Communicator& ranks, const Tensor& values, size_t tensor,
                        const std::string& what) const {
  std::vector<Pending> transfers;
  Tensor whole = ranks.is_first() ? Tensor::empty(values.shape(), values.dtype()) : values;
  for (int rank = 0; rank < ranks.size(); ++rank)
    for (const Run& run : runs(rank)) {
      if (run.tensor != tensor) continue;
      if (ranks.is_first() && rank == 0)
        std::ranges::copy(bytes_of(values, run), bytes_of(whole, run).begin());
      else if (ranks.is_first())
        transfers.push_back({ranks.receive(bytes_of(whole, run), rank, 0), rank});
      else if (rank == ranks.rank())
        transfers.push_back({ranks.send(bytes_of(values, run), 0, 0), 0});
    }
  ranks.wait(transfers, what);
  return ranks.is_first() ? whole : Tensor();
}

}  // namespace cladtorch::train
