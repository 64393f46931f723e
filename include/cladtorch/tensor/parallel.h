// Loops over threads whose results do not depend on how many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace cladtorch {

/// Threads used by operations; at first what OpenMP offers.
int num_threads();
/// Throws Error unless count >= 1.
void set_num_threads(int count);

namespace detail {

/// A reference to a callable (begin, end), valid during the call it is passed to.
class RangeBody {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, RangeBody>)
  RangeBody(F&& body)  // NOLINT(google-explicit-constructor): made at the call of parallel_for
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<F>*>(object))(begin, end);
        }) {}
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t);
};

}  // namespace detail

/// Calls body(begin, end) for consecutive pieces of [0, n) of `grain` each (the last may be smaller), on any
/// thread in any order. The pieces depend on n and grain only. The body must not throw. Nested calls run on
/// one thread.
void parallel_for(int64_t n, int64_t grain, detail::RangeBody body);

}  // namespace cladtorch
