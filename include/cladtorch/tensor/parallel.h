// Loops over threads whose results do not depend on how many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace cladtorch {

/// The most threads that a caller may ask for.
inline constexpr int most_threads = 1024;

/// The number of threads that operations use, at first OpenMP's default.
int num_threads();
/// Throws Error unless 1 <= count <= most_threads.
void set_num_threads(int count);

namespace detail {

/// A reference to a callable, valid during the call it is passed to.
template <class... Arguments>
class CallableRef {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, CallableRef>)
  CallableRef(F&& callable)  // NOLINT(google-explicit-constructor): made at the call of parallel_for
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Arguments... arguments) {
          (*static_cast<std::remove_reference_t<F>*>(object))(arguments...);
        }) {}
  void operator()(Arguments... arguments) const { call_(object_, arguments...); }

 private:
  void* object_;
  void (*call_)(void*, Arguments...);
};

using RangeBody = CallableRef<int64_t, int64_t>;  ///< (begin, end)
using ThreadBody = CallableRef<>;

}  // namespace detail

/// Calls body(begin, end) for consecutive pieces of [0, n) of `grain` each (the last may be smaller), on any
/// thread in any order. The pieces depend only on n and grain. The body must not throw. Nested calls run on
/// one thread.
void parallel_for(int64_t n, int64_t grain, detail::RangeBody body);

/// The same, but every thread calls prepare() first, even one that then finds no piece left. Take memory that
/// the thread keeps in prepare(): which thread gets a piece is random, and a later call must find the memory.
void parallel_for(int64_t n, int64_t grain, detail::ThreadBody prepare, detail::RangeBody body);

}  // namespace cladtorch
