// A thread that does jobs one after the other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace cladtorch::train {

class Background {
 public:
  using Job = std::function<void()>;

  /// If `threaded` is false, jobs are done inside add().
  explicit Background(bool threaded) : threaded_(threaded) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() { stop(); }

  /// Does the job after those before it, and returns its number. Operations inside it run on one thread.
  int64_t add(Job job);
  /// Returns when this job and those before it are done. Throws what one of them threw; then no other is
  /// done.
  void wait(int64_t job);
  /// The same for all jobs.
  void wait() { wait(added_ - 1); }
  /// Leaves out the jobs that have not begun, and waits for the one that has.
  void stop();
  /// Whether the job under way should end without having done its work.
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  void run();

  bool threaded_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  int64_t added_ = 0, done_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> cancelled_ = false;
  std::thread thread_;  // from the first job on
};

}  // namespace cladtorch::train
