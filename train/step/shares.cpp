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

}  // namespace

Shares::Shares(const TensorList& parameters, int ranks) {
  const std::vector<TensorList::Piece>& pieces = parameters.pieces();
  const int64_t all = parameters.numel();
  int64_t before = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    // The rank whose even share begins here or before has its first piece.
    while (static_cast<int64_t>(first_piece_.size()) < ranks &&
           before >= all * static_cast<int64_t>(first_piece_.size()) / ranks)
      first_piece_.push_back(i);
    before += pieces[i].end - pieces[i].begin;
  }
  first_piece_.resize(static_cast<size_t>(ranks) + 1, pieces.size());
  runs_.resize(static_cast<size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Run>& runs = runs_[static_cast<size_t>(rank)];
    const auto [first, last] = this->pieces(rank);
    for (size_t i = first; i < last; ++i) {
      if (!runs.empty() && runs.back().tensor == pieces[i].tensor)
        runs.back().end = pieces[i].end;
      else
        runs.push_back({pieces[i].tensor, pieces[i].begin, pieces[i].end});
    }
  }
}

std::pair<size_t, size_t> Shares::pieces(int rank) const {
  return {first_piece_[static_cast<size_t>(rank)], first_piece_[static_cast<size_t>(rank) + 1]};
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
