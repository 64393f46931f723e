#include "runtime/queue.h"

#include <algorithm>
#include <utility>

namespace cuda_host::detail {

OperationPointer Queue::add(Work work, const std::vector<OperationPointer>& before, size_t* pending) {
  auto operation = std::make_shared<Operation>();
  operation->work = std::move(work);
  operation->pending = pending;
  if (pending != nullptr) ++*pending;
  for (const OperationPointer& other : before) {
    if (other == nullptr || other->done) continue;
    operation->before.push_back(other);
    other->after.push_back(operation);
    ++operation->missing;
  }
  if (operation->missing == 0) ready_.push_back(operation);
  return operation;
}

void Queue::run_one(const std::vector<OperationPointer>& choice) {
  const OperationPointer operation = choice[random_.below(choice.size())];
  std::erase(ready_, operation);
  const bool succeeded = operation->work();
  complete(*operation);
  if (!succeeded) drop_all();
}

void Queue::complete(Operation& operation) {
  operation.done = true;
  operation.work = nullptr;
  operation.before.clear();
  if (operation.pending != nullptr) --*operation.pending;
  for (OperationPointer& next : std::exchange(operation.after, {})) {
    if (--next->missing == 0) ready_.push_back(std::move(next));
  }
}

void Queue::finish(const OperationPointer& operation) {
  if (operation == nullptr || operation->done) return;
  const DeviceMemory::Access access(memory_);
  const bool anything = random_.below(2) == 0;
  if (!anything) mark_needed(operation);
  while (!operation->done) run_one(anything ? ready_ : needed());
}

void Queue::finish_all() {
  const DeviceMemory::Access access(memory_);
  while (!ready_.empty()) run_one(ready_);
}

void Queue::finish_until(const size_t& pending, size_t most) {
  const DeviceMemory::Access access(memory_);
  while (pending > most) run_one(ready_);
}

void Queue::advance(const OperationPointer& operation) {
  if (operation == nullptr || operation->done) return;
  const DeviceMemory::Access access(memory_);
  mark_needed(operation);
  run_one(needed());
}

void Queue::mark_needed(const OperationPointer& operation) {
  ++search_;
  std::vector<Operation*> left{operation.get()};
  operation->search = search_;
  while (!left.empty()) {
    const Operation* next = left.back();
    left.pop_back();
    for (const OperationPointer& other : next->before) {
      if (other->done || other->search == search_) continue;
      other->search = search_;
      left.push_back(other.get());
    }
  }
}

std::vector<OperationPointer> Queue::needed() const {
  std::vector<OperationPointer> found;
  for (const OperationPointer& operation : ready_) {
    if (operation->search == search_) found.push_back(operation);
  }
  return found;
}

void Queue::drop_all() {
  while (!ready_.empty()) {
    const OperationPointer operation = ready_.back();
    ready_.pop_back();
    complete(*operation);
  }
}

}  // namespace cuda_host::detail
