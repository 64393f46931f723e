#include "cladtorch/data/data_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cladtorch/data/permutation.h"
#include "cladtorch/error.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"
#include "io/temporary_folder.h"

namespace cladtorch::data {
namespace {

using ::testing::ElementsAre;

std::vector<int32_t> labels(const std::vector<Tensor>& batch) {
  const Tensor& last = batch.back();
  return {last.data<int32_t>(), last.data<int32_t>() + last.numel()};
}

TensorDataset numbers(int64_t count) { return TensorDataset({arange(count)}); }

/// Sample i is two random numbers and i.
struct Noise {
  int64_t count;

  int64_t size() const { return count; }
  std::vector<Tensor> get(int64_t i, Random& random) const {
    return {rand({2}, random), full({}, static_cast<double>(i), DType::int32)};
  }
};

/// All that a loader gives from now on, as text.
template <class Loader>
std::string next_batches(Loader& loader, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    for (const Tensor& tensor : loader.next()) all += tensor.to_string() + "\n";
  return all;
}

TEST(DataLoader, GivesSamplesInOrder) {
  DataLoader loader(numbers(5), {.batch_size = 2});
  EXPECT_EQ(loader.batches_per_epoch(), 3);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_THAT(labels(loader.next()), ElementsAre(0, 1));
    EXPECT_THAT(labels(loader.next()), ElementsAre(2, 3));
    EXPECT_THAT(labels(loader.next()), ElementsAre(4));
  }
  EXPECT_EQ(loader.given(), 6);
}

TEST(DataLoader, LeavesOutALastBatchThatIsNotFull) {
  DataLoader loader(numbers(5), {.batch_size = 2, .drop_last = true});
  EXPECT_EQ(loader.batches_per_epoch(), 2);
  loader.next();
  EXPECT_THAT(labels(loader.next()), ElementsAre(2, 3));
  EXPECT_THAT(labels(loader.next()), ElementsAre(0, 1));
}

TEST(DataLoader, TakesABatchThatIsLargerThanTheDataSet) {
  DataLoader loader(numbers(3), {.batch_size = 8});
  EXPECT_THAT(labels(loader.next()), ElementsAre(0, 1, 2));
}

TEST(DataLoader, ShufflesEveryEpochInItsOwnOrder) {
  constexpr uint64_t seed = 3;
  DataLoader loader(numbers(50), {.batch_size = 50, .shuffle = true}, seed);
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const Permutation order(50, seed, epoch);
    const std::vector<int32_t> found = labels(loader.next());
    for (uint64_t i = 0; i < 50; ++i) EXPECT_EQ(found[i], static_cast<int32_t>(order(i)));
  }
  DataLoader other(numbers(50), {.batch_size = 50, .shuffle = true}, seed + 1);
  loader.seek(0);
  EXPECT_NE(labels(other.next()), labels(loader.next()));
}

TEST(DataLoader, StacksTheTensorsOfSamples) {
  const Tensor x = from_values<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  DataLoader loader(TensorDataset({x.transpose(0, 1), from_values<int32_t>({2}, {7, 8})}), {.batch_size = 2});
  const std::vector<Tensor>& batch = loader.next();
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch[0].to_string(), x.transpose(0, 1).to_string());
  EXPECT_THAT(labels(batch), ElementsAre(7, 8));
}

TEST(DataLoader, GivesTheSameBatchesWithAnyNumberOfWorkers) {
  const DataLoaderOptions options{.batch_size = 3, .shuffle = true};
  DataLoader alone(Noise{20}, options, 5);
  const std::string expected = next_batches(alone, 40);
  for (const int workers : {1, 2, 5}) {
    for (const int prefetch : {1, 4}) {
      DataLoaderOptions wanted = options;
      wanted.workers = workers;
      wanted.prefetch = prefetch;
      DataLoader loader(Noise{20}, wanted, 5);
      EXPECT_EQ(next_batches(loader, 40), expected) << workers << " workers, " << prefetch << " ahead";
    }
  }
}

TEST(DataLoader, DrawsOtherNumbersForASampleInEveryEpoch) {
  DataLoader loader(Noise{1});
  const std::string first = loader.next()[0].to_string(), second = loader.next()[0].to_string();
  EXPECT_NE(first, second);
  loader.seek(0);
  EXPECT_EQ(loader.next()[0].to_string(), first);
}

TEST(DataLoader, GoesOnWhereItWas) {
  for (const int workers : {0, 2}) {
    const DataLoaderOptions options{.batch_size = 4, .shuffle = true, .workers = workers};
    DataLoader loader(Noise{22}, options, 7), resumed(Noise{22}, options, 7);
    next_batches(loader, 9);
    resumed.seek(loader.given());
    EXPECT_EQ(next_batches(resumed, 9), next_batches(loader, 9));
    // Back, and forth, while workers make what nobody will ask for.
    for (const int64_t place : {0, 5, 6, 100, 3}) {
      resumed.seek(place);
      loader.seek(place);
      EXPECT_EQ(next_batches(resumed, 2), next_batches(loader, 2));
      EXPECT_EQ(loader.given(), place + 2);
    }
  }
}

TEST(DataLoader, IsARangeToTheEndOfTheEpoch) {
  for (const int workers : {0, 2}) {
    DataLoader loader(numbers(5), {.batch_size = 2, .workers = workers});
    std::vector<int32_t> seen;
    const auto go = [&] {
      for (const std::vector<Tensor>& batch : loader)
        for (const int32_t label : labels(batch)) seen.push_back(label);
    };
    loader.next();
    go();
    EXPECT_THAT(seen, ElementsAre(2, 3, 4));
    seen.clear();
    go();
    EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(loader.given(), 6);
  }
}

TEST(DataLoader, KeepsABatchUntilTheNextOne) {
  DataLoader loader(Noise{40}, {.batch_size = 2, .workers = 3, .prefetch = 1}, 1);
  for (int i = 0; i < 60; ++i) {
    const std::vector<Tensor>& batch = loader.next();
    const std::string before = batch[0].to_string();
    std::this_thread::yield();
    EXPECT_EQ(batch[0].to_string(), before);
  }
}

/// Fails at one sample, and notes the threads of operations where it is asked.
struct Failing {
  int64_t bad;
  std::shared_ptr<std::atomic<int>> threads = std::make_shared<std::atomic<int>>(0);

  int64_t size() const { return 10; }
  std::vector<Tensor> get(int64_t i) const {
    *threads = num_threads();
    require(i != bad, "sample ", i, " is bad");
    return {full({}, static_cast<double>(i), DType::int32)};
  }
};

TEST(DataLoader, ThrowsWhatTheDataSetThrewAtTheBatchOfTheSample) {
  for (const int workers : {0, 1, 4}) {
    DataLoader loader(Failing{5}, {.batch_size = 2, .workers = workers});
    EXPECT_THAT(labels(loader.next()), ElementsAre(0, 1));
    EXPECT_THAT(labels(loader.next()), ElementsAre(2, 3));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(io::error_of([&] { loader.next(); }), "sample 5 is bad");
    EXPECT_EQ(loader.given(), 2);
    loader.seek(3);
    EXPECT_THAT(labels(loader.next()), ElementsAre(6, 7));
  }
}

TEST(DataLoader, RunsOperationsOfAWorkerOnItsOwnThread) {
  const int threads = num_threads();
  set_num_threads(2);
  DataLoader loader(Failing{-1}, {.batch_size = 1, .workers = 1});
  loader.next();
  EXPECT_EQ(*loader.dataset().threads, 1);
  EXPECT_EQ(num_threads(), 2);
  set_num_threads(threads);
}

TEST(DataLoader, StopsWhileItsWorkersAreBusy) {
  for (int i = 0; i < 20; ++i) {
    DataLoader loader(Noise{1000}, {.batch_size = 100, .workers = 3});
    if (i % 2 == 0) loader.next();
    const DataLoader moved = std::move(loader);
    EXPECT_EQ(moved.batches_per_epoch(), 10);
  }
}

/// Sample i is what the function says.
struct Made {
  std::function<std::vector<Tensor>(int64_t)> make;

  int64_t size() const { return 4; }
  std::vector<Tensor> get(int64_t i) const { return make(i); }
};

TEST(DataLoader, SaysWhichSampleDoesNotFit) {
  const auto error_of = [](std::function<std::vector<Tensor>(int64_t)> make) {
    return io::error_of([&] {
      DataLoader loader(Made{std::move(make)}, {.batch_size = 4});
      loader.next();
    });
  };
  EXPECT_EQ(error_of([](int64_t i) { return std::vector{zeros({3, i < 2 ? 32 : 20})}; }),
            "DataLoader: tensor 0 of sample 2 is float32 [3,20], expected float32 [3,32] as in sample 0");
  EXPECT_EQ(error_of([](int64_t i) { return std::vector{zeros({}, i < 3 ? DType::float32 : DType::int32)}; }),
            "DataLoader: tensor 0 of sample 3 is int32 [], expected float32 [] as in sample 0");
  EXPECT_EQ(error_of([](int64_t i) { return std::vector<Tensor>(i == 1 ? 1 : 2, zeros({})); }),
            "DataLoader: sample 1 has 1 tensors, expected 2 as in sample 0");
  EXPECT_EQ(error_of([](int64_t) { return std::vector<Tensor>(); }), "DataLoader: sample 0 has no tensors");
  EXPECT_EQ(error_of([](int64_t) { return std::vector<Tensor>(1); }),
            "DataLoader: sample 0 has an undefined tensor");
}

TEST(DataLoader, SaysWhatCannotBe) {
  const auto error_of = [](int64_t samples, const DataLoaderOptions& options) {
    return io::error_of([&] { DataLoader loader(numbers(samples), options); });
  };
  EXPECT_EQ(error_of(3, {.batch_size = 4, .drop_last = true}),
            "DataLoader: batches of 4 rows cannot be made of 3");
  EXPECT_EQ(error_of(0, {.batch_size = 4}), "DataLoader: batches of 4 rows cannot be made of 0");
  EXPECT_EQ(error_of(3, {.batch_size = 0}), "DataLoader: batches of 0 rows cannot be made of 3");
  EXPECT_EQ(error_of(3, {.workers = -1}),
            "DataLoader: expected 0 to 1024 workers and a prefetch of at least 1, got -1 and 2");
  DataLoader loader(numbers(3));
  EXPECT_EQ(io::error_of([&] { loader.seek(-1); }), "DataLoader: cannot go to batch -1");
}

}  // namespace
}  // namespace cladtorch::data
