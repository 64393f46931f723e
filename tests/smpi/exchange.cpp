// The messages of an update and nothing else: what LeafSums and Shares send, for SimGrid's SMPI to simulate.
//
//     exchange LEAVES EARLY PARTS
//
// The file PARTS has the number of buckets and, for each of them, the bytes that each rank owns; then for
// each of them and each rank the number of the rank's runs of parameters and their bytes. Prints the seconds
// of the exchange of gradients and of the gathering of parameters.
#include <smpi/smpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "train/step/leaves.h"

namespace {

using cladtorch::train::LeafPlan;
using Sizes = std::vector<int>;

struct Parts {
  std::vector<Sizes> buckets;  ///< of each, the ranks' bytes
  std::vector<Sizes> runs;     ///< of each bucket and rank
};

Parts read_parts(const char* path, int ranks) {
  std::ifstream file(path);
  const auto number = [&] {
    int value = 0;
    file >> value;
    return value;
  };
  Parts parts;
  parts.buckets.resize(static_cast<size_t>(number()));
  for (Sizes& bucket : parts.buckets)
    for (int rank = 0; rank < ranks; ++rank) bucket.push_back(number());
  for (size_t i = 0; i < parts.buckets.size() * static_cast<size_t>(ranks); ++i) {
    Sizes& runs = parts.runs.emplace_back(static_cast<size_t>(number()));
    for (int& run : runs) run = number();
  }
  if (!file) MPI_Abort(MPI_COMM_WORLD, 1);
  return parts;
}

/// One rank's messages, in the order in which the program sends them.
class Rank {
 public:
  Rank(const Parts& parts, const LeafPlan& plan) : parts_(parts), plan_(plan) {
    MPI_Comm_rank(MPI_COMM_WORLD, &self_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    int most = 1;
    for (const std::vector<Sizes>* lists : {&parts.buckets, &parts.runs})
      for (const Sizes& sizes : *lists)
        for (const int bytes : sizes) most = std::max(most, bytes);
    memory_ = SMPI_SHARED_MALLOC(static_cast<size_t>(most));  // one for all ranks, which nobody reads
  }
  ~Rank() { SMPI_SHARED_FREE(memory_); }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// As LeafSums::exchange() for each bucket.
  void exchange() {
    for (int64_t round = 0; round < plan_.rounds(); ++round)
      for (const Sizes& bucket : parts_.buckets) {
        for (int rank = 0; rank < size_; ++rank)
          if (rank != self_)
            for (size_t k = 0; k < sent(rank, round); ++k) receive(bucket, self_, rank, k);
        for (int step = 1; step < size_; ++step) {
          const int to = (self_ + step) % size_;
          for (size_t k = 0; k < sent(self_, round); ++k) send(bucket, to, to, k);
        }
        wait();
      }
  }

  /// As ParameterGather::exchange() for each bucket.
  void gather() {
    for (size_t bucket = 0; bucket < parts_.buckets.size(); ++bucket) {
      for (int step = 1; step < size_; ++step) {
        const int from = (self_ + step) % size_;
        for (size_t run = 0; run < runs(bucket, from).size(); ++run)
          receive(runs(bucket, from), static_cast<int>(run), from, 0);
      }
      for (int step = 1; step < size_; ++step)
        for (size_t run = 0; run < runs(bucket, self_).size(); ++run)
          send(runs(bucket, self_), static_cast<int>(run), (self_ + step) % size_, 0);
      wait();
    }
  }

 private:
  const Sizes& runs(size_t bucket, int rank) const {
    return parts_.runs[bucket * static_cast<size_t>(size_) + static_cast<size_t>(rank)];
  }
  size_t sent(int rank, int64_t round) const { return plan_.sent(rank, round).size(); }
  void receive(const Sizes& sizes, int which, int from, size_t tag) {
    MPI_Irecv(memory_, sizes[static_cast<size_t>(which)], MPI_BYTE, from, static_cast<int>(tag),
              MPI_COMM_WORLD, &requests_.emplace_back());
  }
  void send(const Sizes& sizes, int which, int to, size_t tag) {
    MPI_Isend(memory_, sizes[static_cast<size_t>(which)], MPI_BYTE, to, static_cast<int>(tag), MPI_COMM_WORLD,
              &requests_.emplace_back());
  }
  void wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

  const Parts& parts_;
  const LeafPlan& plan_;
  int self_ = 0, size_ = 1;
  void* memory_;
  std::vector<MPI_Request> requests_;
};

/// Until the last rank is done.
template <class Action>
double seconds_of(Action action) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  action();
  double mine = MPI_Wtime() - begin, longest = 0;
  MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return longest;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  {
    const Parts parts = read_parts(argv[3], size);
    const LeafPlan plan(std::atoll(argv[1]), size, std::atoi(argv[2]) != 0);
    Rank own(parts, plan);
    const double exchange = seconds_of([&] { own.exchange(); });
    const double gather = seconds_of([&] { own.gather(); });
    if (rank == 0) std::printf("%.9g %.9g\n", exchange, gather);
  }
  MPI_Finalize();
}
