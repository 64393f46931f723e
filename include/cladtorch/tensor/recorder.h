// Recording: while a computation graph is open (graph/tensors.h), each operation says what it did, so that
// the graph can run backward. Otherwise an operation pays for a look at a pointer.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Adds to *d_operands[i], which may be null, what it has of d_results, which may be moved from.
using RecordedPullback =
    std::function<void(std::span<Tensor> d_results, std::span<Tensor* const> d_operands)>;

/// Who records the operations of a thread on tensors that it knows.
class Recorder {
 public:
  Recorder();
  virtual ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  const uint32_t number;  ///< of the graph, in Recorded

  /// An operation has made `results` of `operands`.
  virtual void record(const char* operation, std::span<const Tensor* const> operands,
                      std::span<Tensor> results, RecordedPullback pullback) = 0;

  // Tensor's own methods, whose pullbacks are in a higher layer.
  virtual Tensor reshape(const Tensor& x, const Shape& shape) = 0;
  virtual Tensor flatten(const Tensor& x) = 0;
  virtual Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) = 0;
  virtual Tensor permute(const Tensor& x, const Shape& dims) = 0;
  virtual Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) = 0;
  virtual Tensor slice(const Tensor& x, int64_t dim, int64_t start, int64_t end) = 0;
  virtual Tensor select(const Tensor& x, int64_t dim, int64_t index) = 0;
  virtual std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim) = 0;
  virtual Tensor unsqueeze(const Tensor& x, int64_t dim) = 0;
  virtual Tensor squeeze(const Tensor& x, int64_t dim) = 0;
  virtual Tensor expand(const Tensor& x, const Shape& shape) = 0;
  virtual Tensor contiguous(const Tensor& x) = 0;
  virtual Tensor clone(const Tensor& x) = 0;
  virtual Tensor to(const Tensor& x, DType dtype) = 0;
};

namespace detail {
inline constinit thread_local int not_recorded = 0;  ///< how many NotRecorded this thread has open
}  // namespace detail

/// Nothing is recorded on this thread while it lives: inside an operation, and in what has no derivative.
class NotRecorded {
 public:
  NotRecorded() : recorder_(std::exchange(detail::recorder, nullptr)) { ++detail::not_recorded; }
  ~NotRecorded() {
    detail::recorder = recorder_;
    --detail::not_recorded;
  }
  NotRecorded(const NotRecorded&) = delete;
  NotRecorded& operator=(const NotRecorded&) = delete;

 private:
  Recorder* recorder_;
};

/// An operand that the pullback does not read (CLAD_UNUSED): the graph does not keep it.
struct Unread {
  const Tensor& x;
  operator const Tensor&() const { return x; }
};
inline Unread unread(const Tensor& x) { return {x}; }

namespace detail {

/// The tensors of an operand or a result, which is a Tensor, a vector of them, or a struct of nothing else;
/// none of a number or a shape.
template <class Value>
auto tensors_of(Value& value) {
  using Plain = std::remove_const_t<Value>;
  using Element = std::conditional_t<std::is_const_v<Value>, const Tensor, Tensor>;
  if constexpr (std::is_same_v<Plain, Tensor>) {
    return std::span<Element>(&value, 1);
  } else if constexpr (std::is_same_v<Plain, Unread>) {
    return std::span<Element>(&value.x, 1);
  } else if constexpr (std::is_same_v<Plain, std::vector<Tensor>>) {
    return std::span<Element>(value);
  } else if constexpr (std::is_const_v<Value>) {
    return std::span<Element>();
  } else {
    static_assert(std::is_aggregate_v<Value> && sizeof(Value) % sizeof(Tensor) == 0);
    return std::span<Element>(reinterpret_cast<Tensor*>(&value), sizeof(Value) / sizeof(Tensor));
  }
}

/// Throws Error if x is in a graph that is open, which then is another thread's.
void refuse_on_other_thread(const Tensor& x);

/// Who records an operation of these operands, or null if none of them is in the graph. Throws Error if one
/// is in another graph.
template <class... Operands>
Recorder* recorder_of(const Operands&... operands) {
  bool any = false;
  const auto look_at = [&any](std::span<const Tensor> tensors) {
    for (const Tensor& x : tensors) {
      if (x.recorded().graph == 0) continue;
      if (!recorder) {
        if (not_recorded == 0) refuse_on_other_thread(x);
        continue;
      }
      require(
          x.recorded().graph == recorder->number, "a tensor of ", x.shape(),
          " belongs to a computation graph that has ended or that is around this one; clad::stop_gradient(x) "
          "makes it a constant");
      any = true;
    }
  };
  (look_at(tensors_of(operands)), ...);
  return any ? recorder : nullptr;
}

/// The same for a method of Tensor, which a kernel may call on any thread.
inline Recorder* recorder_of_method(const Tensor& x) { return recorder ? recorder_of(x) : nullptr; }

/// The pointers to gradients that a pullback takes for an operand whose tensors have the gradients `d`: one
/// for a Tensor or a vector of them, null for a number, which is a constant, and none for what has no
/// derivative.
template <class Operand>
struct GradientPointers {
  explicit GradientPointers(std::span<Tensor* const>) {}
  std::tuple<> get() const { return {}; }
};
template <>
struct GradientPointers<double> {
  explicit GradientPointers(std::span<Tensor* const>) {}
  std::tuple<double*> get() const { return {nullptr}; }
};
template <>
struct GradientPointers<Tensor> {
  explicit GradientPointers(std::span<Tensor* const> d) : d_x(d[0]) {}
  std::tuple<Tensor*> get() const { return {d_x}; }
  Tensor* d_x;
};
template <>
struct GradientPointers<std::vector<Tensor>> {
  explicit GradientPointers(std::span<Tensor* const> d) : apart(d), together(d.size()) {
    for (size_t i = 0; i < d.size(); ++i)
      if (d[i]) together[i] = std::move(*d[i]);
  }
  ~GradientPointers() {
    for (size_t i = 0; i < apart.size(); ++i)
      if (apart[i]) apart[i]->accumulate(std::move(together[i]));
  }
  GradientPointers(const GradientPointers&) = delete;
  GradientPointers& operator=(const GradientPointers&) = delete;
  std::tuple<std::vector<Tensor>*> get() { return {&together}; }
  std::span<Tensor* const> apart;
  std::vector<Tensor> together;
};

/// call(pointers...) with those of all operands, whose tensors have the gradients `d` in this order.
template <class Call>
void with_gradients(std::span<Tensor* const>, const Call& call) {
  call();
}
template <class Call, class First, class... Rest>
void with_gradients(std::span<Tensor* const> d, const Call& call, const First& first, const Rest&... rest) {
  const size_t count = tensors_of(first).size();
  GradientPointers<First> of_first(d.subspan(0, count));
  with_gradients(
      d.subspan(count),
      [&](auto... of_rest) {
        std::apply([&](auto... pointers) { call(pointers..., of_rest...); }, of_first.get());
      },
      rest...);
}

/// What the graph keeps of an operand.
template <class Operand>
const Operand& kept(const Operand& x) {
  return x;
}
inline Tensor kept(const Unread&) { return {}; }

/// Runs forward(operands..., state...) and records it with pullback(operands..., d_y, gradients...,
/// state...), where State... is one class or none.
template <class... State, class Forward, class Pullback, class... Operands>
auto recorded(Recorder& recorder, const char* operation, const Forward& forward, const Pullback& pullback,
              const Operands&... operands) {
  using KeptOperands = std::tuple<std::remove_cvref_t<decltype(kept(operands))>...>;
  using States = std::tuple<State...>;
  const auto memory =
      std::make_shared<std::pair<KeptOperands, States>>(KeptOperands{kept(operands)...}, States());
  auto result = std::apply(
      [&](State&... state) {
        const NotRecorded inside;
        return forward(operands..., state...);
      },
      memory->second);
  std::vector<const Tensor*> parents;
  const auto add = [&](std::span<const Tensor> tensors) {
    for (const Tensor& x : tensors) parents.push_back(&x);
  };
  (add(tensors_of(operands)), ...);
  using Result = decltype(result);
  recorder.record(
      operation, parents, tensors_of(result),
      [memory, pullback](std::span<Tensor> d_results, std::span<Tensor* const> d_operands) {
        Result d_y{};
        if constexpr (requires { d_y.resize(size_t()); }) d_y.resize(d_results.size());
        std::move(d_results.begin(), d_results.end(), tensors_of(d_y).begin());
        std::apply(
            [&](const auto&... x) {
              const auto call = [&](auto... gradients) {
                std::apply([&](State&... state) { pullback(x..., std::move(d_y), gradients..., state...); },
                           memory->second);
              };
              with_gradients(d_operands, call, x...);
            },
            memory->first);
      });
  return result;
}

}  // namespace detail
}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch::linalg {}

/// The function of this name that belongs to an operation: its pullback or `_reverse_forw`.
#define CLADTORCH_DERIVATIVE(name)                                 \
  [](auto&&... x) {                                                \
    using namespace ::clad::custom_derivatives;                    \
    using namespace ::clad::custom_derivatives::cladtorch;         \
    using namespace ::clad::custom_derivatives::cladtorch::linalg; \
    return name(std::forward<decltype(x)>(x)...);                  \
  }

/// The first line of an operation with these operands: if the graph that is recorded knows one of them, the
/// operation runs as a part of that. The second form is for an operation with a `_reverse_forw`, which keeps
/// a State.
#define CLADTORCH_RECORD(operation, ...)                                                               \
  if (::cladtorch::Recorder* const graph = ::cladtorch::detail::recorder_of(__VA_ARGS__)) [[unlikely]] \
  return ::cladtorch::detail::recorded(                                                                \
      *graph, #operation, [](const auto&... x) { return operation(x...); },                            \
      CLADTORCH_DERIVATIVE(operation##_pullback), __VA_ARGS__)
#define CLADTORCH_RECORD_STATE(State, operation, ...)                                                  \
  if (::cladtorch::Recorder* const graph = ::cladtorch::detail::recorder_of(__VA_ARGS__)) [[unlikely]] \
  return ::cladtorch::detail::recorded<::clad::pullback_state<State>>(                                 \
      *graph, #operation, CLADTORCH_DERIVATIVE(operation##_reverse_forw),                              \
      CLADTORCH_DERIVATIVE(operation##_pullback), __VA_ARGS__)
