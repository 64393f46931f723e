// Mini-batches of any data set, made by worker threads while the model trains.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "cladtorch/random.h"
#include "cladtorch/tensor/tensor.h"

namespace cladtorch::data {

struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;    ///< another order every epoch
  bool drop_last = false;  ///< leaves out a last batch that is not full
  int workers = 0;         ///< threads that make batches ahead; without any, next() makes its batch itself
  int prefetch = 2;        ///< batches that each worker may be ahead
};

/// What DataLoader takes, PyTorch's map-style data set: `size()` samples, each of which `get(i)` returns as a
/// std::vector<Tensor>, such as an image and its label. Samples have the same shapes and types, on the CPU.
/// Augmentations are random by `get(i, random)`, whose numbers depend on the seed, the epoch and the place of
/// the sample in it. With workers, several threads call get() at once.
template <class T>
concept MapStyleDataset = requires(const T& dataset, int64_t i, Random& random) {
  { dataset.size() } -> std::convertible_to<int64_t>;
  requires requires {
    { dataset.get(i) } -> std::convertible_to<std::vector<Tensor>>;
  } || requires {
    { dataset.get(i, random) } -> std::convertible_to<std::vector<Tensor>>;
  };
};

/// The rows of some tensors, the same row of each: torch.utils.data.TensorDataset.
class TensorDataset {
 public:
  /// The tensors have the same first extent, the number of rows; any dtype, on the CPU. Throws Error
  /// otherwise.
  explicit TensorDataset(std::vector<Tensor> tensors);

  int64_t size() const { return tensors_[0].size(0); }
  std::vector<Tensor> get(int64_t i) const;
  /// get() without an allocation.
  void get_into(int64_t i, std::vector<Tensor>& sample) const;

 private:
  std::vector<Tensor> tensors_;
};

namespace detail {

/// Writes sample `i` to the vector.
using GetSample = std::function<void(int64_t i, Random& random, std::vector<Tensor>& sample)>;

template <MapStyleDataset D>
GetSample sample_of(const D& dataset) {
  return [&dataset](int64_t i, [[maybe_unused]] Random& random, std::vector<Tensor>& sample) {
    if constexpr (requires { dataset.get_into(i, sample); }) {
      dataset.get_into(i, sample);
    } else if constexpr (requires { dataset.get(i, random); }) {
      sample = dataset.get(i, random);
    } else {
      sample = dataset.get(i);
    }
  };
}

/// Batches of samples by their number, some of them made ahead.
class BatchQueue {
 public:
  BatchQueue(int64_t size, GetSample get, const DataLoaderOptions& options, uint64_t seed);
  ~BatchQueue();
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;

  const std::vector<Tensor>& next();
  int64_t batches_per_epoch() const;
  int64_t given() const;
  void seek(int64_t given);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace detail

/// The samples of a data set in batches, epoch after epoch: torch.utils.data.DataLoader.
///
///     data::DataLoader loader(data::TensorDataset({x, labels}), {.batch_size = 32, .shuffle = true}, seed);
///     const std::vector<Tensor>& batch = loader.next();                // endless
///     for (const std::vector<Tensor>& batch : loader) ...              // to the end of the epoch
///
/// Tensor k of a batch holds tensor k of its samples along a new first dimension. Batches depend on the seed
/// and on how many were given before, and on nothing else: not on the number of workers, and not on threads.
template <MapStyleDataset D>
class DataLoader {
 public:
  /// Gets sample 0 to learn the shapes, and takes the memory for all batches that are made ahead. Throws
  /// Error if there is not one batch in an epoch.
  explicit DataLoader(D dataset, const DataLoaderOptions& options = {}, uint64_t seed = 0)
      : dataset_(std::make_unique<const D>(std::move(dataset))),
        queue_(std::make_unique<detail::BatchQueue>(static_cast<int64_t>(dataset_->size()),
                                                    detail::sample_of(*dataset_), options, seed)) {}

  /// The next batch, valid until the next call of next() or seek(). Throws what get() threw, and Error if the
  /// samples have different shapes; the next call tries again.
  const std::vector<Tensor>& next() { return queue_->next(); }

  int64_t batches_per_epoch() const { return queue_->batches_per_epoch(); }
  /// Batches given so far: store it with a checkpoint, and seek() goes on from there.
  int64_t given() const { return queue_->given(); }
  void seek(int64_t given) { queue_->seek(given); }
  const D& dataset() const { return *dataset_; }

  /// Goes over the batches that the epoch still has.
  class Iterator {
   public:
    explicit Iterator(DataLoader& loader) : loader_(loader), batch_(&loader.next()) {}
    const std::vector<Tensor>& operator*() const { return *batch_; }
    void operator++() {
      batch_ = loader_.given() % loader_.batches_per_epoch() == 0 ? nullptr : &loader_.next();
    }
    bool operator==(std::default_sentinel_t) const { return batch_ == nullptr; }

   private:
    DataLoader& loader_;
    const std::vector<Tensor>* batch_;
  };
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::unique_ptr<const D> dataset_;
  std::unique_ptr<detail::BatchQueue> queue_;
};

}  // namespace cladtorch::data
