// All steps of a recurrent network. A task takes some sequences of the batch through all of them, so that
// threads meet only at the end; both products of a step read the weight from panels that are packed once.
// The pullback leaves the derivatives of all linear parts behind, and the weight's is one product of them.
#include <algorithm>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/recurrent.h"
#include "cladtorch/tensor/parallel.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/common/one_device.h"
#include "ops/common/reduce_to.h"
#include "ops/common/scratch.h"
#include "ops/common/target.h"
#include "ops/matmul/gemm.h"
#include "ops/matmul/packed_operand.h"
#include "ops/recurrent/cells.h"
#include "tensor/indices.h"

namespace cladtorch {
namespace {

using detail::divided_up;
using detail::PackedOperand;

constexpr int64_t most_sequences = 64;  // of a task, whose gates stay in the cache

template <class C>
const C* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<C>() : nullptr;
}
/// Part of an array, or zeros if that is null.
template <class C>
void load(int64_t n, const C* from, int64_t offset, C* to) {
  if (from) {
    std::copy_n(from + offset, n, to);
  } else {
    std::fill_n(to, n, C(0));
  }
}

/// A network of cells, computed in C.
template <class Cell, class C>
class Sequence {
  static constexpr DType dtype = dtype_of<C>::value;

 public:
  /// `weight` is dense, and `lengths` int32 or undefined.
  Sequence(const Shape& from_x, const Tensor& weight, const Tensor& lengths, bool backward)
      : steps_(from_x[0]),
        batch_(from_x[1]),
        n_(weight.size(1)),
        weight_(weight.data<C>()),
        lengths_(data_or_null<int32_t>(lengths)),
        backward_(backward) {}

  /// Operands are dense or undefined. `state` may be null.
  RecurrentResult forward(const Tensor& from_x, const Tensor& bias, const Tensor& h, const Tensor& c,
                          SequenceState* state) const {
    const auto make = [&](int64_t width) { return Tensor::empty({steps_, batch_, width}, dtype); };
    RecurrentResult y{make(n_), Tensor::empty({batch_, n_}, dtype), Tensor()};
    if (Cell::has_c) y.c = Tensor::empty({batch_, n_}, dtype);
    if (state) {
      state->gates = make(width());
      state->h = make(n_);
      if (Cell::has_c) state->c = make(n_);
      if (!Cell::adds_parts) state->from_h = make(width());
    }
    const auto kept = [](Tensor* all) { return all && all->defined() ? all->data<C>() : nullptr; };
    C *const gates = kept(state ? &state->gates : nullptr), *const kept_h = kept(state ? &state->h : nullptr),
             *const kept_c = kept(state ? &state->c : nullptr),
             *const parts = kept(state ? &state->from_h : nullptr), *const last_c = kept(&y.c);
    const C *const x = from_x.data<C>(), *const first_h = data_or_null<C>(h),
                   *const first_c = data_or_null<C>(c), *const b = data_or_null<C>(bias);
    C *const output = y.output.template data<C>(), *const last_h = y.h.template data<C>();
    const PackedOperand<C> transposed(n_, width(), weight_, 1, n_,
                                      operand_memory(PackedOperand<C>::size(n_, width())));
    for_each_task(3 * n_ + 2 * width(), [&](int64_t first, int64_t count, C* memory) {
      C *const now_h = take(memory, count * n_), *const now_c = take(memory, count * n_),
               *const tanh_c = take(memory, n_), *const own_gates = take(memory, count * width()),
               *const own_parts = memory;
      load(count * n_, first_h, first * n_, now_h);
      load(count * n_, first_c, first * n_, now_c);
      for (int64_t step = 0; step < steps_; ++step) {
        const int64_t t = time(step), row = t * batch_ + first;
        C* const g = gates ? gates + row * width() : own_gates;
        C* const from_h = parts ? parts + row * width() : own_parts;
        if (kept_h) std::copy_n(now_h, count * n_, kept_h + row * n_);
        if (kept_c) std::copy_n(now_c, count * n_, kept_c + row * n_);
        std::copy_n(x + row * width(), count * width(), g);
        C* const sums = Cell::adds_parts ? g : from_h;
        for (int64_t i = 0; i < count; ++i) add_bias(b, sums + i * width());
        transposed.multiply(count, now_h, sums, Cell::adds_parts || b);
        for (int64_t i = 0; i < count; ++i) {
          C *const to = output + (row + i) * n_, *const own_h = now_h + i * n_, *const own_c = now_c + i * n_;
          if (has(t, first + i)) {
            Cell::template forward<C>(n_, {.gates = g + i * width(),
                                           .from_h = from_h + i * width(),
                                           .h = own_h,
                                           .c = own_c,
                                           .tanh_c = tanh_c,
                                           .next_h = own_h,
                                           .next_c = own_c});
            std::copy_n(own_h, n_, to);
          } else {
            std::fill_n(to, n_, C(0));
          }
        }
      }
      std::copy_n(now_h, count * n_, last_h + first * n_);
      if (last_c) std::copy_n(now_c, count * n_, last_c + first * n_);
    });
    return y;
  }

  /// Derivatives of the linear parts, [T, N, gates H] each; the same tensor if the cell adds them.
  struct Parts {
    Tensor from_x, from_h;
  };
  /// d_h and d_c, [N, H], become those of the first states.
  Parts pullback(const SequenceState& state, const RecurrentResult& d_y, Tensor& d_h, Tensor& d_c) const {
    Parts d{Tensor::empty({steps_, batch_, width()}, dtype), Tensor()};
    if (!Cell::adds_parts) d.from_h = Tensor::empty({steps_, batch_, width()}, dtype);
    const C *const gates = state.gates.data<C>(), *const h = state.h.data<C>(),
                   *const c = data_or_null<C>(state.c), *const parts = data_or_null<C>(state.from_h);
    const C *const of_output = data_or_null<C>(d_y.output), *const of_h = data_or_null<C>(d_y.h),
                   *const of_c = data_or_null<C>(d_y.c);
    C *const to_x = d.from_x.template data<C>(), *const to_h =
                                                     Cell::adds_parts ? to_x : d.from_h.template data<C>();
    C *const first_h = d_h.data<C>(), *const first_c = Cell::has_c ? d_c.data<C>() : nullptr;
    const PackedOperand<C> weight(width(), n_, weight_, n_, 1,
                                  operand_memory(PackedOperand<C>::size(width(), n_)));
    for_each_task(3 * n_, [&](int64_t first, int64_t count, C* memory) {
      C *const now_h = take(memory, count * n_), *const now_c = take(memory, count * n_),
               *const tanh_c = memory;
      load(count * n_, of_h, first * n_, now_h);
      load(count * n_, of_c, first * n_, now_c);
      for (int64_t step = steps_ - 1; step >= 0; --step) {
        const int64_t t = time(step);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t row = t * batch_ + first + i;
          if (!has(t, first + i)) {
            std::fill_n(to_x + row * width(), width(), C(0));
            if (!Cell::adds_parts) std::fill_n(to_h + row * width(), width(), C(0));
            continue;
          }
          C *const own_h = now_h + i * n_, *const own_c = now_c + i * n_;
          if (of_output)
            for (int64_t k = 0; k < n_; ++k) own_h[k] += of_output[row * n_ + k];
          if (Cell::has_c) next_tanh_c(gates + row * width(), c + row * n_, tanh_c);
          Cell::template pullback<C>(n_, {.gates = gates + row * width(),
                                          .from_h = Cell::adds_parts ? nullptr : parts + row * width(),
                                          .h = h + row * n_,
                                          .c = Cell::has_c ? c + row * n_ : nullptr,
                                          .tanh_c = tanh_c,
                                          .d_h = own_h,
                                          .d_c = own_c,
                                          .d_from_x = to_x + row * width(),
                                          .d_from_h = to_h + row * width()});
        }
        weight.multiply(count, to_h + (t * batch_ + first) * width(), now_h, true);
      }
      std::copy_n(now_h, count * n_, first_h + first * n_);
      if (first_c) std::copy_n(now_c, count * n_, first_c + first * n_);
    });
    if (Cell::adds_parts) d.from_h = d.from_x;
    return d;
  }

 private:
  int64_t width() const { return Cell::gates * n_; }
  /// In the order of the network.
  int64_t time(int64_t step) const { return backward_ ? steps_ - 1 - step : step; }
  bool has(int64_t t, int64_t sequence) const { return !lengths_ || t < lengths_[sequence]; }
  void add_bias(const C* bias, C* to) const {
    if (!bias) return;
    for (int64_t i = 0; i < width(); ++i) to[i] = (Cell::adds_parts ? to[i] : C(0)) + bias[i];
  }
  /// tanh of the c after a step from the c before it.
  void next_tanh_c(const C* gates, const C* c, C* tanh_c) const {
    for (int64_t i = 0; i < n_; ++i) tanh_c[i] = gates[n_ + i] * c[i] + gates[i] * gates[2 * n_ + i];
    detail::apply_in_place<functions::Tanh>(n_, tanh_c);
  }

  static C* take(C*& memory, int64_t count) { return std::exchange(memory, memory + count); }
  /// In which the calling thread keeps packed operands.
  static C* operand_memory(int64_t count) {
    static thread_local detail::Scratch memory;
    return memory.get<C>(count);
  }
  /// Calls body(first sequence, count, memory) for tasks, with `elements` of memory for each sequence.
  template <class Body>
  void for_each_task(int64_t elements, Body&& body) const {
    const int64_t size = std::clamp<int64_t>(divided_up(batch_, num_threads()), 1, most_sequences);
    const auto memory = [&] { return detail::thread_scratch<C>(size * elements); };
    parallel_for(
        divided_up(batch_, size), 1, [&] { memory(); },
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) body(i * size, std::min(size, batch_ - i * size), memory());
        });
  }

  int64_t steps_, batch_, n_;
  const C* weight_;
  const int32_t* lengths_;
  bool backward_;
};

/// Operands as they are computed with.
struct Operands {
  Tensor from_x, weight, bias, h, c, lengths;
};

template <class Cell>
Operands checked(const Operands& in) {
  const char* const name = Cell::name;
  detail::check_operands(name, in.from_x, in.weight);
  for (const Tensor* const optional : {&in.bias, &in.h, &in.c})
    if (optional->defined()) detail::check_operands(name, in.from_x, *optional);
  detail::require_cpu(name, in.from_x);
  const int64_t n = in.weight.dim() == 2 ? in.weight.size(1) : 0, width = Cell::gates * n;
  require(in.from_x.dim() == 3 && in.weight.dim() == 2 && in.weight.size(0) == width &&
              in.from_x.size(2) == width,
          name, ": expected from_x [T, N, ", Cell::gates, " H] and weight [", Cell::gates, " H, H], got ",
          in.from_x.shape(), " and ", in.weight.shape());
  const int64_t steps = in.from_x.size(0), batch = in.from_x.size(1);
  require(!in.bias.defined() || in.bias.shape() == Shape{width}, name, ": expected bias [", width, "], got ",
          in.bias.shape());
  for (const Tensor* const first : {&in.h, &in.c})
    require(!first->defined() || first->shape() == Shape{batch, n}, name, ": expected first states ",
            Shape{batch, n}, ", got ", first->shape());
  const DType computed = detail::computed_in(in.from_x.dtype());
  const auto dense = [&](const Tensor& x) { return x.defined() ? x.to(computed).contiguous() : x; };
  Operands out{dense(in.from_x), dense(in.weight), dense(in.bias), dense(in.h), dense(in.c), in.lengths};
  if (!in.lengths.defined()) return out;
  out.lengths = detail::as_int32(name, "lengths", in.lengths).contiguous();
  require(out.lengths.shape() == Shape{batch}, name, ": expected lengths ", Shape{batch}, ", got ",
          out.lengths.shape());
  const int32_t* const lengths = std::as_const(out.lengths).data<int32_t>();
  for (int64_t i = 0; i < batch; ++i)
    require(lengths[i] >= 0 && lengths[i] <= steps, name, ": length ", lengths[i], " of sequence ", i,
            " is not in 0..", steps);
  return out;
}

template <class Cell>
RecurrentResult forward(const Operands& given, bool backward, SequenceState* state) {
  const Operands in = checked<Cell>(given);
  detail::count_op();
  detail::count_flops(2 * in.from_x.numel() * in.weight.size(1));
  const bool frozen = all_frozen(given.from_x, given.weight, given.bias, given.h, given.c);
  RecurrentResult y;
  detail::dispatch_floating(Cell::name, in.from_x.dtype(), [&]<class C>(C) {
    y = Sequence<Cell, C>(in.from_x.shape(), in.weight, in.lengths, backward)
            .forward(in.from_x, in.bias, in.h, in.c, state);
  });
  for (Tensor* const one : {&y.output, &y.h, &y.c}) {
    if (!one->defined()) continue;
    *one = one->to(given.from_x.dtype());
    one->set_frozen(frozen);
  }
  if (state) state->gates.set_frozen(given.from_x.is_frozen());
  return y;
}

template <class Cell>
void pullback(const Operands& given, bool backward, const RecurrentResult& d_y, Tensor* d_from_x,
              Tensor* d_weight, Tensor* d_bias, Tensor* d_h, Tensor* d_c, const SequenceState& state) {
  d_from_x = wanted(d_from_x, state.gates);
  d_weight = wanted(d_weight, given.weight);
  d_bias = given.bias.defined() ? wanted(d_bias, given.bias) : nullptr;
  d_h = given.h.defined() ? wanted(d_h, given.h) : nullptr;
  d_c = given.c.defined() ? wanted(d_c, given.c) : nullptr;
  if (!d_y.output.defined() && !d_y.h.defined() && !d_y.c.defined()) return;
  if (!d_from_x && !d_weight && !d_bias && !d_h && !d_c) return;
  const DType dtype = given.weight.dtype(), computed = detail::computed_in(dtype);
  const auto dense = [&](const Tensor& x) { return x.defined() ? x.to(computed).contiguous() : x; };
  const RecurrentResult seed{dense(d_y.output), dense(d_y.h), dense(d_y.c)};
  const Tensor weight = dense(given.weight);
  const Tensor lengths = given.lengths.defined()
                             ? detail::as_int32(Cell::name, "lengths", given.lengths).contiguous()
                             : Tensor();
  const int64_t batch = state.h.size(1), n = state.h.size(2), width = Cell::gates * n,
                rows = state.h.size(0) * batch;
  Tensor first_h = Tensor::empty({batch, n}, computed),
         first_c = Cell::has_c ? Tensor::empty({batch, n}, computed) : Tensor();
  detail::dispatch_floating(Cell::name, computed, [&]<class C>(C) {
    const auto d = Sequence<Cell, C>(state.gates.shape(), weight, lengths, backward)
                       .pullback(state, seed, first_h, first_c);
    const auto contribute_sum = [&](Tensor* to, const Shape& shape, auto write) {
      if (dtype == DType::bfloat16) {
        if constexpr (std::is_same_v<C, float>) detail::contribute_sum<bfloat16>(to, shape, write);
      } else {
        detail::contribute_sum<C>(to, shape, write);
      }
    };
    const C* const parts = std::as_const(d.from_h).template data<C>();
    if (d_weight)
      contribute_sum(d_weight, given.weight.shape(), [&](const detail::Target<C>& to) {
        detail::gemm<C, C>(width, n, rows, {parts, 1, width}, {state.h.data<C>(), n, 1}, to.data, n, to.add,
                           nullptr, to.squares);
      });
    if (d_bias)
      contribute_sum(d_bias, given.bias.shape(),
                     [&](const detail::Target<C>& to) { detail::sum_rows<C, C>(rows, width, parts, to); });
    if (d_from_x) d_from_x->accumulate(d.from_x.to(dtype));
  });
  if (d_h) d_h->accumulate(first_h.to(dtype));
  if (d_c) d_c->accumulate(first_c.to(dtype));
}

}  // namespace

RecurrentResult lstm_sequence(const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                              const Tensor& c, const Tensor& lengths, bool backward) {
  CLADTORCH_RECORD_STATE(SequenceState, lstm_sequence, unread(from_x), weight, bias, h, c, lengths, backward);
  return forward<detail::LstmCell>({from_x, weight, bias, h, c, lengths}, backward, nullptr);
}
RecurrentResult gru_sequence(const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                             const Tensor& lengths, bool backward) {
  CLADTORCH_RECORD_STATE(SequenceState, gru_sequence, unread(from_x), weight, bias, h, lengths, backward);
  return forward<detail::GruCell>({from_x, weight, bias, h, {}, lengths}, backward, nullptr);
}
RecurrentResult rnn_sequence(const Tensor& from_x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                             const Tensor& lengths, bool backward) {
  CLADTORCH_RECORD_STATE(SequenceState, rnn_sequence, unread(from_x), weight, bias, h, lengths, backward);
  return forward<detail::TanhCell>({from_x, weight, bias, h, {}, lengths}, backward, nullptr);
}

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
namespace ops = ::cladtorch;

RecurrentResult lstm_sequence_reverse_forw(const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                                           const Tensor& h, const Tensor& c, const Tensor& lengths,
                                           bool backward, pullback_state<SequenceState>& state) {
  return ops::forward<ops::detail::LstmCell>({from_x, weight, bias, h, c, lengths}, backward, &state.data);
}
void lstm_sequence_pullback(const Tensor&, const Tensor& weight, const Tensor& bias, const Tensor& h,
                            const Tensor& c, const Tensor& lengths, bool backward, RecurrentResult d_y,
                            Tensor* d_from_x, Tensor* d_weight, Tensor* d_bias, Tensor* d_h, Tensor* d_c,
                            Tensor*, pullback_state<SequenceState>& state) {
  ops::pullback<ops::detail::LstmCell>({{}, weight, bias, h, c, lengths}, backward, d_y, d_from_x, d_weight,
                                       d_bias, d_h, d_c, state.data);
}

RecurrentResult gru_sequence_reverse_forw(const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& h, const Tensor& lengths, bool backward,
                                          pullback_state<SequenceState>& state) {
  return ops::forward<ops::detail::GruCell>({from_x, weight, bias, h, {}, lengths}, backward, &state.data);
}
void gru_sequence_pullback(const Tensor&, const Tensor& weight, const Tensor& bias, const Tensor& h,
                           const Tensor& lengths, bool backward, RecurrentResult d_y, Tensor* d_from_x,
                           Tensor* d_weight, Tensor* d_bias, Tensor* d_h, Tensor*,
                           pullback_state<SequenceState>& state) {
  ops::pullback<ops::detail::GruCell>({{}, weight, bias, h, {}, lengths}, backward, d_y, d_from_x, d_weight,
                                      d_bias, d_h, nullptr, state.data);
}

RecurrentResult rnn_sequence_reverse_forw(const Tensor& from_x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& h, const Tensor& lengths, bool backward,
                                          pullback_state<SequenceState>& state) {
  return ops::forward<ops::detail::TanhCell>({from_x, weight, bias, h, {}, lengths}, backward, &state.data);
}
void rnn_sequence_pullback(const Tensor&, const Tensor& weight, const Tensor& bias, const Tensor& h,
                           const Tensor& lengths, bool backward, RecurrentResult d_y, Tensor* d_from_x,
                           Tensor* d_weight, Tensor* d_bias, Tensor* d_h, Tensor*,
                           pullback_state<SequenceState>& state) {
  ops::pullback<ops::detail::TanhCell>({{}, weight, bias, h, {}, lengths}, backward, d_y, d_from_x, d_weight,
                                       d_bias, d_h, nullptr, state.data);
}

}  // namespace clad::custom_derivatives::cladtorch
