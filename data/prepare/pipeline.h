// Work on the units of a stream by several threads, with results in the order of the stream.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace cladtorch::data {

/// One thread makes units, `threads` work on them, the calling thread consumes the results in the order of
/// the units. So many units are on their way at most, whichever of the three is the slowest.
template <class Unit, class Result>
class OrderedPipeline {
 public:
  explicit OrderedPipeline(int threads) : threads_(threads), slots_(2 * static_cast<size_t>(threads) + 2) {}

  /// `produce()` returns the next unit, or nothing at the end; `work(unit)` runs on any thread;
  /// `consume(result)` on the calling one. An exception of any of them ends all and is thrown here: the first
  /// one in the order of the units, so it does not depend on the number of threads.
  template <class Produce, class Work, class Consume>
  void run(Produce produce, Work work, Consume consume) {
    const Threads guard(*this, produce, work);
    for (uint64_t at = 0;; ++at) {
      Slot& slot = slots_[at % slots_.size()];
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return (at < produced_ && slot.done) || (ended_ && at == produced_); });
        if (at == produced_) return;
      }
      if (slot.error) std::rethrow_exception(slot.error);
      consume(std::move(*slot.result));
      const std::lock_guard lock(mutex_);
      slot = Slot();
      ++consumed_;
      changed_.notify_all();
    }
  }

 private:
  struct Slot {
    std::optional<Unit> unit;
    std::optional<Result> result;
    std::exception_ptr error;
    bool done = false;
  };

  /// The threads of one run; joined however it ends.
  class Threads {
   public:
    template <class Produce, class Work>
    Threads(OrderedPipeline& pipeline, Produce& produce, Work& work) : pipeline_(pipeline) {
      try {
        threads_.emplace_back([&] { pipeline.produce_all(produce); });
        for (int i = 0; i < pipeline.threads_; ++i)
          threads_.emplace_back([&] { pipeline.work_on_all(work); });
      } catch (...) {  // no thread more: those that run are waited for
        join();
        throw;
      }
    }
    ~Threads() { join(); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

   private:
    void join() {
      {
        const std::lock_guard lock(pipeline_.mutex_);
        pipeline_.stopped_ = true;
      }
      pipeline_.changed_.notify_all();
      for (std::thread& thread : threads_) thread.join();
    }

    OrderedPipeline& pipeline_;
    std::vector<std::thread> threads_;
  };

  template <class Produce>
  void produce_all(Produce& produce) {
    for (bool more = true; more;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || produced_ - consumed_ < slots_.size(); });
        if (stopped_) return;
      }
      Slot slot;
      try {
        slot.unit = produce();
        more = slot.unit.has_value();
      } catch (...) {  // thrown again where the result is taken, in order
        slot.error = std::current_exception();
        slot.done = true;
        more = false;
      }
      const std::lock_guard lock(mutex_);
      if (slot.unit || slot.error) slots_[produced_++ % slots_.size()] = std::move(slot);
      ended_ = !more;
      changed_.notify_all();
    }
  }

  template <class Work>
  void work_on_all(Work& work) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopped_ || taken_ < produced_ || ended_; });
      if (stopped_ || taken_ == produced_) return;
      Slot& slot = slots_[taken_++ % slots_.size()];
      if (slot.done) continue;  // the error of the producer
      lock.unlock();
      try {
        slot.result = work(std::move(*slot.unit));
        slot.unit.reset();  // its memory, while the result waits for its turn
      } catch (...) {       // the same
        slot.error = std::current_exception();
      }
      lock.lock();
      slot.done = true;
      changed_.notify_all();
    }
  }

  int threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;  // unit n is in slot n modulo their number
  uint64_t produced_ = 0, taken_ = 0, consumed_ = 0;
  bool ended_ = false, stopped_ = false;
};

}  // namespace cladtorch::data
