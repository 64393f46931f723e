// What is queued, as operations that wait for others. Nothing runs before somebody waits for it; then one is
// picked at random among those that can run, over and over.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "device/random.h"
#include "runtime/device_memory.h"

namespace cuda_host::detail {

// Returns whether it went well.
using Work = std::function<bool()>;

struct Operation {
  Work work;
  std::vector<std::shared_ptr<Operation>> before;  // empty once it is done
  std::vector<std::shared_ptr<Operation>> after;
  size_t missing = 0;  // how many of `before` are not done
  size_t* pending = nullptr;
  size_t search = 0;  // the last search that came by
  bool done = false;
};
using OperationPointer = std::shared_ptr<Operation>;

class Queue {
 public:
  explicit Queue(DeviceMemory& memory) : memory_(memory), random_(seed()) {}

  // `pending` counts what is not done yet of the stream that it belongs to.
  OperationPointer add(Work work, const std::vector<OperationPointer>& before, size_t* pending);

  // Runs until it is done: what it needs alone, or anything, as chance will have it.
  void finish(const OperationPointer& operation);
  void finish_all();

  // Runs until no more than `most` are pending.
  void finish_until(const size_t& pending, size_t most);

  // Runs one operation that `operation` needs, or itself.
  void advance(const OperationPointer& operation);

  // After a failure nothing that is queued runs any more.
  void drop_all();

 private:
  void run_one(const std::vector<OperationPointer>& choice);
  void mark_needed(const OperationPointer& operation);
  std::vector<OperationPointer> needed() const;
  void complete(Operation& operation);

  DeviceMemory& memory_;
  Random random_;
  std::vector<OperationPointer> ready_;
  size_t search_ = 0;
};

}  // namespace cuda_host::detail
