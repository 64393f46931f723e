#include "device/fault_report.h"

#include <csignal>
#include <cstdio>
#include <memory>

#include "device/block.h"
#include "runtime/runtime.h"
#include "tensor/sanitizers.h"

namespace cuda_host::detail {
namespace {
struct sigaction previous;

// The process is about to end, so that a message may cost what handlers of signals should not do.
void handle(int, siginfo_t* info, void*) {
  sigaction(SIGSEGV, &previous, nullptr);  // the fault comes again when this returns
  const void* address = info->si_addr;
  const Block* block = current_block();
  const DeviceMemory& memory = runtime().memory;
  if (block != nullptr && block->lane().fiber->is_past_stack(address)) {
    std::fprintf(stderr, "cuda_host: %s has more local variables than its stack can hold\n",
                 block->place().c_str());
  } else if (block != nullptr) {
    std::fprintf(stderr, "cuda_host: %s touched %p: %s\n", block->place().c_str(), address,
                 memory.describe(address).c_str());
  } else if (memory.owns(address)) {
    std::fprintf(stderr, "cuda_host: the host touched %p: %s\n", address, memory.describe(address).c_str());
  }
}

// A handler cannot run on a stack that has overflowed.
class SignalStack {
 public:
  SignalStack() : memory_(std::make_unique<char[]>(bytes)) {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = bytes;
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    stack_t stack{};
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr size_t bytes = size_t{256} * 1024;
  std::unique_ptr<char[]> memory_;
};
}  // namespace

void report_faults() {
  if (CLADTORCH_ADDRESS_SANITIZER || CLADTORCH_THREAD_SANITIZER) return;
  static const int installed = [] {
    struct sigaction action{};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, &previous);
  }();
  static_cast<void>(installed);
  thread_local const SignalStack stack;
  static_cast<void>(stack);
}

}  // namespace cuda_host::detail
