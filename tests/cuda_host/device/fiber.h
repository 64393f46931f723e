// A stack that runs one function again and again, and can leave it in the middle. Address and thread
// sanitizer are told of every switch.
#pragma once

#include <boost/context/fiber.hpp>

#include <cstddef>
#include <functional>

namespace cuda_host::detail {

class Fiber {
 public:
  explicit Fiber(std::function<void(Fiber&)> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body, from where it was suspended or anew, until it suspends or is done.
  void resume();

  // Called by the body: returns when the fiber is resumed.
  void suspend();

  bool idle() const { return idle_; }

  // Whether an address is where the stack would go on if it were larger.
  bool is_past_stack(const void* address) const;

 private:
  boost::context::fiber run(boost::context::fiber&& caller);
  void enter();
  void leave(bool forever);

  std::function<void(Fiber&)> body_;
  boost::context::stack_context stack_;
  boost::context::fiber inside_;
  boost::context::fiber caller_;
  bool idle_ = true;
  bool ending_ = false;

  // For the sanitizers.
  [[maybe_unused]] void* inside_fake_stack_ = nullptr;
  [[maybe_unused]] const void* caller_stack_ = nullptr;
  [[maybe_unused]] size_t caller_stack_bytes_ = 0;
  [[maybe_unused]] void* inside_record_ = nullptr;
  [[maybe_unused]] void* caller_record_ = nullptr;
};

}  // namespace cuda_host::detail
