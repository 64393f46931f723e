// What the fixed order of the sums costs: the exchange of a step's gradient between ranks beside
// MPI_Reduce_scatter of the same numbers, which leaves the order to MPI. Both leave the sum of its share on
// each rank. `bench/ranks` starts this on several ranks.
//
//   mpirun -np 2 ranks_exchange [ELEMENTS [ROUNDS]]
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cladtorch/comm/communicator.h"
#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "train/step/leaf_sums.h"

namespace cladtorch::train {
namespace {

constexpr int64_t gpt2_elements = 124'439'808;
constexpr int64_t tensor_elements = int64_t{1} << 21;
constexpr int64_t bucket_elements = 8'000'000;  // as distributed.bucket_mb says

/// An element of the gradient of a rank. Its sum over ranks depends on the order.
float element_of(int rank, int64_t index) {
  auto bits = static_cast<uint32_t>(index) * 2654435761U + static_cast<uint32_t>(rank + 1) * 40503U;
  bits = (bits ^ (bits >> 15)) * 2246822519U;
  bits ^= bits >> 13;
  return static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31F;
}

/// The sum that the tree of leaves gives, of which each rank has one.
float sum_of(const Leaves& ranks, int64_t index) {
  if (ranks.count() == 1) return element_of(static_cast<int>(ranks.begin), index);
  return sum_of({ranks.begin, ranks.middle()}, index) + sum_of({ranks.middle(), ranks.end}, index);
}

/// A gradient of many tensors, as a model has.
struct Gradient {
  Tensor memory;
  TensorList list;

  explicit Gradient(int64_t elements)
      : memory(Tensor::empty({elements}, DType::float32)), list(tensors_in(memory)) {}

  static std::vector<NamedTensor> tensors_in(const Tensor& memory) {
    std::vector<NamedTensor> tensors;
    for (int64_t begin = 0; begin < memory.numel(); begin += tensor_elements)
      tensors.push_back(
          {std::to_string(begin),
           gradient_buffer_in(memory, begin, {std::min(tensor_elements, memory.numel() - begin)})});
    return tensors;
  }
  void fill(int rank) {
    for (NamedTensor& named : list) {
      const int64_t offset = named.tensor.offset_in(memory);
      float* values = named.tensor.data<float>();
      parallel_for(named.tensor.numel(), 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) values[i] = element_of(rank, offset + i);
      });
    }
  }
};

/// Milliseconds of the slowest rank; all begin together.
template <class Action>
double slowest(Action&& action) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  action();
  const double mine = 1e3 * (MPI_Wtime() - begin);
  double most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

int64_t sum_over_ranks(int64_t count) {
  int64_t sum = 0;
  MPI_Allreduce(&count, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

class Exchange {
 public:
  Exchange(comm::Communicator& ranks, int64_t elements)
      : ranks_(ranks),
        all_{0, ranks.size()},
        gradient_(elements),
        shares_(gradient_.list, ranks.size(), bucket_elements),
        sums_(ranks, LeafPlan(ranks.size(), ranks.size(), /*early=*/false), gradient_.list, gradient_.memory,
              shares_, /*overlap=*/false, background_) {
    result_.resize(static_cast<size_t>(elements / ranks.size() + elements / bucket_elements + 2));
  }

  double in_fixed_order() {
    gradient_.fill(ranks_.rank());
    return slowest([&] {
      sums_.begin(/*ends_leaf=*/true);
      sums_.end_leaf();
      sums_.finish(/*whole=*/false);
    });
  }
  /// All at once, or in buckets as large as ours: MPI takes memory for what it receives.
  double by_mpi(bool in_buckets) {
    gradient_.fill(ranks_.rank());
    const int64_t elements = gradient_.memory.numel(), step = in_buckets ? bucket_elements : elements;
    results_.clear();
    return slowest([&] {
      size_t used = 0;
      for (int64_t begin = 0; begin < elements; begin += step) {
        const int64_t count = std::min(step, elements - begin);
        std::vector<int> counts;
        for (int64_t rank = 0; rank < all_.end; ++rank)
          counts.push_back(static_cast<int>(part(count, rank + 1) - part(count, rank)));
        MPI_Reduce_scatter(gradient_.memory.data<float>() + begin, result_.data() + used, counts.data(),
                           MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        const auto own = static_cast<size_t>(counts[static_cast<size_t>(ranks_.rank())]);
        results_.push_back({begin + part(count, ranks_.rank()), {result_.data() + used, own}});
        used += own;
      }
    });
  }

  /// Elements of all shares in which in_fixed_order() left other bits than the tree has.
  int64_t wrong() {
    int64_t count = 0;
    for (const Run& run : shares_.runs(ranks_.rank())) {
      const Tensor& tensor = gradient_.list[run.tensor].tensor;
      const int64_t offset = tensor.offset_in(gradient_.memory);
      for (int64_t i = run.begin; i < run.end; ++i)
        count += differ(std::as_const(tensor).data<float>()[i], sum_of(all_, offset + i));
    }
    return sum_over_ranks(count);
  }
  /// The share of elements in which by_mpi() left other bits. Throws where one is not the sum.
  double differs_by_mpi() {
    int64_t count = 0, wrong = 0;
    for (const auto& [first, sums] : results_)
      for (size_t i = 0; i < sums.size(); ++i) {
        const float expected = sum_of(all_, first + static_cast<int64_t>(i));
        count += differ(sums[i], expected);
        wrong += std::abs(sums[i] - expected) <= 0x1p-22F * static_cast<float>(all_.end) ? 0 : 1;
      }
    require(sum_over_ranks(wrong) == 0, "ranks_exchange: MPI_Reduce_scatter has not left the sums");
    return static_cast<double>(sum_over_ranks(count)) / static_cast<double>(gradient_.memory.numel());
  }

 private:
  /// Where the part of a rank begins in so many elements.
  int64_t part(int64_t elements, int64_t rank) const { return elements * rank / all_.end; }
  static int64_t differ(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 ? 0 : 1; }

  comm::Communicator& ranks_;
  Leaves all_;
  Gradient gradient_;
  Shares shares_;
  Background background_{/*threaded=*/false};
  LeafSums sums_;
  struct Sums {
    int64_t first;  ///< of these elements
    std::span<const float> values;
  };
  std::vector<float> result_;  ///< of MPI: the share of this rank
  std::vector<Sums> results_;  ///< its parts
};

void run(int64_t elements, int64_t rounds) {
  comm::Communicator& ranks = comm::world();
  require(ranks.size() > 1, "ranks_exchange: there is one rank; start it with mpirun -np 2");
  Exchange exchange(ranks, elements);
  exchange.in_fixed_order();
  const int64_t wrong = exchange.wrong();
  require(wrong == 0, "ranks_exchange: ", wrong, " of ", elements,
          " elements are not the sum in the order of the tree");
  double other_bits = 0;
  for (const bool in_buckets : {true, false}) {
    exchange.by_mpi(in_buckets);
    other_bits = exchange.differs_by_mpi();
  }
  std::vector<double> ours, mpi, mpi_in_buckets;
  for (int64_t round = 0; round < rounds; ++round) {
    ours.push_back(exchange.in_fixed_order());
    mpi.push_back(exchange.by_mpi(/*in_buckets=*/false));
    mpi_in_buckets.push_back(exchange.by_mpi(/*in_buckets=*/true));
  }
  if (ranks.is_first())
    fmt::print("{}\n", nlohmann::ordered_json{{"ranks", ranks.size()},
                                              {"elements", elements},
                                              {"fixed_order_ms", ours},
                                              {"reduce_scatter_ms", mpi},
                                              {"reduce_scatter_in_buckets_ms", mpi_in_buckets},
                                              {"other_bits", other_bits}}
                           .dump());
}

}  // namespace
}  // namespace cladtorch::train

int main(int count, char** arguments) {
  try {
    cladtorch::train::run(count > 1 ? std::stoll(arguments[1]) : cladtorch::train::gpt2_elements,
                          count > 2 ? std::stoll(arguments[2]) : 9);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    cladtorch::comm::started().abort(1);
  }
  cladtorch::comm::leave_world();
}
