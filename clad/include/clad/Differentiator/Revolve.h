// Binomial checkpointing of loops: a few snapshots of the variables that iterations change, instead of a tape
// of all iterations. A segment of the loop runs again from its snapshot, once for the next snapshot and
// finally once for each iteration, which is then reversed. A. Griewank and A. Walther, "Algorithm 799:
// Revolve", ACM Transactions on Mathematical Software 26 (2000).
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "clad/Differentiator/Adjoint.h"
#include "clad/checkpoint.h"

namespace clad {
namespace revolve {

/// The number of a loop's iterations if it is known only after running the loop.
inline constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

/// The longest loop that `snapshots` reverse without running any iteration more than `repeats` times before
/// its reversal: the binomial coefficient (snapshots + repeats over snapshots), or `unknown` if that is huge.
constexpr std::size_t reach(std::size_t snapshots, std::size_t repeats) {
  std::size_t b = 1;
  for (std::size_t i = 1; i <= repeats; ++i) {
    if (b > unknown / (snapshots + i)) return unknown;
    b = b * (snapshots + i) / i;
  }
  return b;
}

/// The least number of repeats with which `snapshots` reverse n iterations.
constexpr std::size_t repeats(std::size_t n, std::size_t snapshots) {
  std::size_t r = 0;
  for (std::size_t b = 1; b < n; b = b * (snapshots + r) / r) {
    ++r;
    if (b > unknown / (snapshots + r)) break;
  }
  return r;
}

/// The number of iterations that run, besides each one's own reversal, to reverse n >= 1 iterations in the
/// best order. The first snapshot is that of the start. If the rest of the program runs, and is reversed,
/// before the loop is reversed, it counts as one more iteration, so the loop takes runs(n + 1, snapshots).
constexpr std::size_t runs(std::size_t n, std::size_t snapshots) {
  const std::size_t r = repeats(n, snapshots);
  return r == 0 ? 0 : r * n - reach(snapshots + 1, r - 1);
}

/// The number of iterations between the snapshot of the start of n >= 2 iterations and the next snapshot, if
/// including the former `snapshots` >= 2 are left.
constexpr std::size_t advance(std::size_t n, std::size_t snapshots) {
  const std::size_t r = repeats(n, snapshots);
  return std::min(reach(snapshots, r - 1), n - reach(snapshots - 1, r - 1));
}

/// The fewest snapshots with which no iteration is run more than three times before its reversal: about the
/// cube root of 6 n.
constexpr std::size_t three_repeats(std::size_t n) {
  std::size_t c = 1;
  while (reach(c, 3) < n) ++c;
  return c;
}

}  // namespace revolve

/// How many snapshots a loop may take: a given number, as many as fit into a number of bytes, or, if neither
/// is given, revolve::three_repeats.
struct checkpoint_budget {
  std::size_t snapshots = 0;
  std::size_t bytes = 0;
};
inline checkpoint_budget at_most(std::size_t snapshots) { return {snapshots != 0 ? snapshots : 1, 0}; }
inline checkpoint_budget at_most_bytes(std::size_t bytes) { return {0, bytes != 0 ? bytes : 1}; }

/// How often `for (T i = first; i < end; i += step)` runs, or with `i > end` and a negative step.
template <class T>
constexpr std::size_t trips(T first, std::type_identity_t<T> end, long long step) {
  if (step > 0 ? !(first < end) : !(end < first)) return 0;
  using U = std::make_unsigned_t<T>;
  const U distance = step > 0 ? U(end) - U(first) : U(first) - U(end);
  const U size = U(step > 0 ? step : -step);
  return static_cast<std::size_t>((distance - 1) / size + 1);
}

/// Numbers behind a pointer that iterations change.
template <class T>
struct elements {
  elements(T* first, std::size_t n) : data(first), size(n) {}
  T* data;
  std::size_t size;
};

/// The variables that iterations change: references to variables, and `elements`.
template <class... T>
std::tuple<T...> carried(T&&... variables) {
  return std::tuple<T...>(std::forward<T>(variables)...);
}

namespace detail {

/// A copy of one variable.
template <class T>
struct kept {
  explicit kept(const T& from) : value(from) {}
  void restore(T& to) const { to = value; }  // pointers into `to` stay valid
  T value;
};
template <class T, std::size_t n>
struct kept<T[n]> {
  explicit kept(const T (&from)[n]) { clad::assign(value, from); }
  void restore(T (&to)[n]) const { clad::assign(to, value); }
  T value[n];
};
template <class T>
struct kept<elements<T>> {
  explicit kept(const elements<T>& from) : value(from.data, from.data + from.size) {}
  void restore(const elements<T>& to) const { std::copy(value.begin(), value.end(), to.data); }
  std::vector<T> value;
};

/// The memory that a copy takes, as far as its class tells.
template <class T>
std::size_t bytes_of(const T& x) {
  if constexpr (std::is_array_v<T> || requires { x.begin(), x.end(); }) {
    std::size_t sum = std::is_array_v<T> ? 0 : sizeof(T);
    for (const auto& element : x) sum += bytes_of(element);
    return sum;
  } else if constexpr (requires { std::size_t{x.nbytes()}; }) {
    return sizeof(T) + x.nbytes();
  } else if constexpr (requires(T& a) { clad_fields(a, x, [](auto&, const auto&) {}); }) {
    std::size_t sum = sizeof(T);
    clad_fields(const_cast<T&>(x), x,
                [&](auto&, const auto& field) { sum += bytes_of(field) - sizeof(field); });
    return sum;
  } else {
    return sizeof(T);
  }
}
template <class T>
std::size_t bytes_of(const elements<T>& x) {
  return x.size * sizeof(T);
}

}  // namespace detail

/// The snapshots of one run of a loop whose iterations change variables of these types.
template <class... T>
class snapshots {
 public:
  /// Runs the loop. `step` runs one iteration, `more` says whether there is another one, `n` is the number of
  /// iterations or revolve::unknown, and `first` says whether there is a first one.
  template <class State, class More, class Step>
  void forward(checkpoint_budget budget, std::size_t n, const State& state, bool first, const More& more,
               const Step& step) {
    kept_.clear();
    if (budget.bytes != 0) {
      const std::size_t size = bytes_of(state, std::index_sequence_for<T...>{});
      budget.snapshots = std::max<std::size_t>(1, size == 0 ? budget.bytes : budget.bytes / size);
    }
    std::size_t next = 0, stride = 1;
    end_ = 0;
    for (bool go = first; go; go = more()) {
      if (end_ == next)
        next = n == revolve::unknown ? take_online(budget, stride, state) : take(budget, n, state);
      step();
      ++end_;
    }
    limit_ = limit(budget, end_);
  }

  /// Reverses the iterations, last to first, and leaves the variables as they were before the loop. `reverse`
  /// runs one iteration and reverses it.
  template <class State, class Step, class Reverse>
  void reverse(const State& state, const Step& step, const Reverse& reverse) {
    if (kept_.empty()) return;
    const Back back;
    bool here = false;  // the variables are those of the last snapshot
    for (std::size_t end = end_; end > 0;) {
      const snapshot& last = *kept_.back();
      if (!here) last.restore(state);
      const std::size_t at = last.at, n = end - at, left = limit_ - kept_.size() + 1;
      here = n > 1 && left > 1;
      const std::size_t ahead = here ? revolve::advance(n, left) : n - 1;
      for (std::size_t i = 0; i < ahead; ++i) step();
      if (here) {
        kept_.push_back(std::make_unique<snapshot>(at + ahead, state));
        continue;
      }
      if (n == 1 && at > 0) kept_.pop_back();
      reverse();
      --end;
    }
    rewind(state);
  }

  /// Leaves the variables as they were before the loop.
  template <class State>
  void rewind(const State& state) {
    if (!kept_.empty()) kept_.front()->restore(state);
    kept_.clear();
  }

 private:
  struct snapshot {
    template <class State>
    snapshot(std::size_t iteration, const State& state)
        : at(iteration),
          streams(now()),
          values(std::apply([](const auto&... v) { return std::tuple<detail::kept<T>...>(v...); }, state)) {}
    template <class State>
    void restore(const State& state) const {
      streams.restore();
      restore(state, std::index_sequence_for<T...>{});
    }
    template <class State, std::size_t... i>
    void restore(const State& state, std::index_sequence<i...>) const {
      (std::get<i>(values).restore(std::get<i>(state)), ...);
    }
    std::size_t at;
    moment streams;
    std::tuple<detail::kept<T>...> values;
  };
  struct Back {
    moment here = now();
    ~Back() { here.restore(); }
  };

  static std::size_t limit(const checkpoint_budget& budget, std::size_t n) {
    return budget.snapshots != 0 ? budget.snapshots : revolve::three_repeats(n);
  }

  /// Takes a snapshot, and decides where the next one is due.
  template <class State>
  std::size_t take(const checkpoint_budget& budget, std::size_t n, const State& state) {
    kept_.push_back(std::make_unique<snapshot>(end_, state));
    const std::size_t most = limit(budget, n);
    if (kept_.size() >= most) return revolve::unknown;
    return end_ + revolve::advance(n + 1 - end_, most - kept_.size() + 1);
  }

  /// The end of the loop is not known: the snapshots are `stride` iterations apart, and every second one is
  /// dropped when there are too many.
  template <class State>
  std::size_t take_online(const checkpoint_budget& budget, std::size_t& stride, const State& state) {
    const std::size_t most = limit(budget, end_ + 1);
    if (kept_.size() >= most) {
      if (most == 1) return revolve::unknown;
      for (std::size_t i = 0; i < kept_.size(); ++i)
        if (i % 2 == 0) std::swap(kept_[i / 2], kept_[i]);
      kept_.resize((kept_.size() + 1) / 2);
      stride *= 2;
    }
    if (end_ % stride == 0) kept_.push_back(std::make_unique<snapshot>(end_, state));
    return (end_ / stride + 1) * stride;
  }

  template <class State, std::size_t... i>
  static std::size_t bytes_of(const State& state, std::index_sequence<i...>) {
    return (std::size_t{0} + ... + detail::bytes_of(std::get<i>(state)));
  }

  std::vector<std::unique_ptr<snapshot>> kept_;
  std::size_t end_ = 0;    ///< how often the loop ran
  std::size_t limit_ = 0;  ///< of snapshots
};

}  // namespace clad
