#include "cladtorch/data/data_loader.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "cladtorch/data/permutation.h"
#include "cladtorch/error.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch::data {

TensorDataset::TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
  require(!tensors_.empty(), "TensorDataset: expected at least one tensor");
  for (Tensor& tensor : tensors_) {
    require(tensor.dim() > 0 && tensor.size(0) == tensors_[0].size(0),
            "TensorDataset: the tensors have different numbers of rows: ", tensors_[0].shape(), " and ",
            tensor.shape());
    tensor = tensor.contiguous();
  }
}

std::vector<Tensor> TensorDataset::get(int64_t i) const {
  std::vector<Tensor> sample;
  get_into(i, sample);
  return sample;
}

void TensorDataset::get_into(int64_t i, std::vector<Tensor>& sample) const {
  sample.clear();
  for (const Tensor& tensor : tensors_) sample.push_back(tensor.select(0, i));
}

namespace detail {
namespace {

/// Streams of random numbers for samples; the orders of epochs have those below.
constexpr uint64_t sample_streams = uint64_t{1} << 63;

}  // namespace

struct BatchQueue::Implementation {
  /// Memory for one batch.
  struct Slot {
    std::vector<Tensor> rows, batch;  ///< batch_size rows, and those that the batch has
    std::vector<Tensor> sample;
    int64_t holds = -1;  ///< the number of the batch that is ready here
    std::exception_ptr error;
  };

  int64_t size, per_epoch;
  GetSample get;
  DataLoaderOptions options;
  uint64_t seed;
  std::vector<Slot> slots;  // batch n is made in slot n % slots.size()
  int64_t given = 0;

  // With workers, what follows, `given` and the state of the slots change under the mutex.
  std::mutex mutex;
  std::condition_variable work, done;
  int64_t claimed = 0;  // batches that workers have begun
  int busy = 0;
  bool stopping = false;
  std::vector<std::thread> workers;

  Implementation(int64_t samples, GetSample getter, const DataLoaderOptions& wanted, uint64_t the_seed)
      : size(samples), get(std::move(getter)), options(wanted), seed(the_seed) {
    const int64_t batch = options.batch_size;
    require(batch > 0 && size > 0 && (batch <= size || !options.drop_last), "DataLoader: batches of ", batch,
            " rows cannot be made of ", size);
    require(options.workers >= 0 && options.workers <= most_threads && options.prefetch > 0,
            "DataLoader: expected 0 to ", most_threads, " workers and a prefetch of at least 1, got ",
            options.workers, " and ", options.prefetch);
    per_epoch = options.drop_last ? size / batch : (size - 1) / batch + 1;
    // The caller has one of them while the others are made.
    slots.resize(static_cast<size_t>(options.workers) * static_cast<size_t>(options.prefetch) + 1);
    Random random(seed, sample_streams);
    std::vector<Tensor> sample;
    get(0, random, sample);
    require(!sample.empty(), "DataLoader: sample 0 has no tensors");
    for (Slot& slot : slots) {
      for (const Tensor& tensor : sample) {
        require(tensor.defined(), "DataLoader: sample 0 has an undefined tensor");
        Shape shape{batch};
        for (const int64_t extent : tensor.shape()) shape.push_back(extent);
        slot.rows.push_back(Tensor::empty(shape, tensor.dtype()));
      }
      slot.batch = slot.rows;
      slot.sample.reserve(sample.size());
    }
  }

  ~Implementation() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    work.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  Slot& slot_of(int64_t number) { return slots[static_cast<size_t>(number) % slots.size()]; }

  static void copy_sample(const std::vector<Tensor>& sample, std::vector<Tensor>& rows, int64_t row,
                          int64_t index) {
    require(sample.size() == rows.size(), "DataLoader: sample ", index, " has ", sample.size(),
            " tensors, expected ", rows.size(), " as in sample 0");
    for (size_t k = 0; k < sample.size(); ++k) {
      const Tensor dense = sample[k].contiguous();
      const bool fits = dense.dtype() == rows[k].dtype() && dense.shape() == rows[k].shape().without(0);
      require(fits, "DataLoader: tensor ", k, " of sample ", index, " is ", dense.dtype(), " ", dense.shape(),
              ", expected ", rows[k].dtype(), " ", rows[k].shape().without(0), " as in sample 0");
      auto* to = static_cast<char*>(rows[k].data()) + static_cast<size_t>(row) * dense.nbytes();
      if (dense.nbytes() > 0) std::memcpy(to, dense.data(), dense.nbytes());
    }
  }

  void make(int64_t number, Slot& slot) const {
    const auto epoch = static_cast<uint64_t>(number / per_epoch);
    const int64_t first = number % per_epoch * options.batch_size;
    const int64_t count = std::min(options.batch_size, size - first);
    const Permutation order(static_cast<uint64_t>(size), seed, epoch);
    for (int64_t row = 0; row < count; ++row) {
      const auto place = static_cast<uint64_t>(first + row);
      const auto index = static_cast<int64_t>(options.shuffle ? order(place) : place);
      Random random(seed, sample_streams | (epoch * static_cast<uint64_t>(size) + place));
      get(index, random, slot.sample);
      copy_sample(slot.sample, slot.rows, row, index);
    }
    for (size_t k = 0; k < slot.rows.size(); ++k)
      slot.batch[k] = count == options.batch_size ? slot.rows[k] : slot.rows[k].narrow(0, 0, count);
  }

  void run_worker() {
    set_num_threads(1);  // of operations on this thread; the workers together take the cores
    std::unique_lock lock(mutex);
    while (true) {
      work.wait(lock, [&] { return stopping || claimed < given + std::ssize(slots) - 1; });
      if (stopping) return;
      const int64_t number = claimed++;
      Slot& slot = slot_of(number);
      slot.holds = -1;
      slot.error = nullptr;
      ++busy;
      lock.unlock();
      std::exception_ptr error;
      try {
        make(number, slot);
      } catch (...) {  // whatever get() throws is for the caller of next()
        error = std::current_exception();
      }
      lock.lock();
      --busy;
      slot.holds = number;
      slot.error = error;
      done.notify_all();
    }
  }

  const std::vector<Tensor>& next() {
    if (options.workers == 0) {
      make(given, slots[0]);
      ++given;
      return slots[0].batch;
    }
    std::unique_lock lock(mutex);
    while (std::ssize(workers) < options.workers) workers.emplace_back([this] { run_worker(); });
    Slot& slot = slot_of(given);
    done.wait(lock, [&] { return slot.holds == given; });
    if (slot.error) {
      restart(lock, given);
      std::rethrow_exception(std::exchange(slot.error, nullptr));
    }
    ++given;
    work.notify_all();
    return slot.batch;
  }

  void seek(int64_t wanted) {
    require(wanted >= 0, "DataLoader: cannot go to batch ", wanted);
    std::unique_lock lock(mutex);
    restart(lock, wanted);
  }

  /// Forgets what was made ahead.
  void restart(std::unique_lock<std::mutex>& lock, int64_t wanted) {
    claimed = std::numeric_limits<int64_t>::max();  // nobody begins another one
    done.wait(lock, [&] { return busy == 0; });
    for (Slot& slot : slots) slot.holds = -1;
    given = claimed = wanted;
    work.notify_all();
  }
};

BatchQueue::BatchQueue(int64_t size, GetSample get, const DataLoaderOptions& options, uint64_t seed)
    : implementation_(std::make_unique<Implementation>(size, std::move(get), options, seed)) {}
BatchQueue::~BatchQueue() = default;
const std::vector<Tensor>& BatchQueue::next() { return implementation_->next(); }
int64_t BatchQueue::batches_per_epoch() const { return implementation_->per_epoch; }
int64_t BatchQueue::given() const { return implementation_->given; }
void BatchQueue::seek(int64_t given) { implementation_->seek(given); }

}  // namespace detail
}  // namespace cladtorch::data
