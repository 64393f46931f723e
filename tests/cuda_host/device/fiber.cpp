#include "device/fiber.h"

#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

#include "tensor/sanitizers.h"

#if CLADTORCH_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if CLADTORCH_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace cuda_host::detail {
namespace {
// Kernels keep little on the stack; the address sanitizer's frames are several times as large.
constexpr size_t stack_bytes = (CLADTORCH_ADDRESS_SANITIZER ? 512 : 128) * 1024;

// The fiber's memory is ours: it has to be known before the first switch, and is released with the Fiber.
struct Borrowed {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) {}
};
}  // namespace

Fiber::Fiber(std::function<void(Fiber&)> body)
    : body_(std::move(body)), stack_(boost::context::protected_fixedsize_stack(stack_bytes).allocate()) {
  const boost::context::preallocated memory(stack_.sp, stack_.size, stack_);
  inside_ = boost::context::fiber(std::allocator_arg, memory, Borrowed{},
                                  [this](boost::context::fiber&& caller) { return run(std::move(caller)); });
#if CLADTORCH_THREAD_SANITIZER
  inside_record_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  ending_ = true;
  resume();
#if CLADTORCH_THREAD_SANITIZER
  __tsan_destroy_fiber(inside_record_);
#endif
  boost::context::protected_fixedsize_stack(stack_bytes).deallocate(stack_);
}

// The lowest page of the stack cannot be touched.
bool Fiber::is_past_stack(const void* address) const {
  const char* bottom = static_cast<const char*>(stack_.sp) - stack_.size;
  return address >= bottom && address < bottom + 4096;
}

void Fiber::resume() {
  void* fake_stack = nullptr;
#if CLADTORCH_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&fake_stack, static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
#endif
#if CLADTORCH_THREAD_SANITIZER
  caller_record_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(inside_record_, 0);
#endif
  idle_ = false;
  inside_ = std::move(inside_).resume();
#if CLADTORCH_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  static_cast<void>(fake_stack);
}

void Fiber::suspend() {
  leave(false);
  caller_ = std::move(caller_).resume();
  enter();
}

boost::context::fiber Fiber::run(boost::context::fiber&& caller) {
  caller_ = std::move(caller);
  enter();
  while (!ending_) {
    body_(*this);
    idle_ = true;
    suspend();
  }
  leave(true);
  return std::move(caller_);
}

void Fiber::enter() {
#if CLADTORCH_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(inside_fake_stack_, &caller_stack_, &caller_stack_bytes_);
#endif
}

void Fiber::leave([[maybe_unused]] bool forever) {
#if CLADTORCH_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(forever ? nullptr : &inside_fake_stack_, caller_stack_, caller_stack_bytes_);
#endif
#if CLADTORCH_THREAD_SANITIZER
  __tsan_switch_to_fiber(caller_record_, 0);
#endif
}

}  // namespace cuda_host::detail
