#include "train/step/background.h"

#include <omp.h>

namespace cladtorch::train {

void Background::stop() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

int64_t Background::add(Job job) {
  if (!threaded_) {
    job();
    return added_++;
  }
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ++added_;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
  return added_ - 1;
}

void Background::wait(int64_t job) {
  if (!threaded_) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || done_ > job; });
  if (failure_) std::rethrow_exception(failure_);
}

void Background::run() {
  omp_set_num_threads(1);  // of this thread; the cores are busy
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return cancelled_ || !jobs_.empty(); });
    if (cancelled_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      job();
    } catch (...) {  // whatever it is, who waits for the job gets it
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    if (!failure) ++done_;
    changed_.notify_all();
    if (failure) return;
  }
}

}  // namespace cladtorch::train
