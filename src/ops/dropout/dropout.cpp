#include "cladtorch/ops/dropout.h"

#include <clad/checkpoint.h>

#include "cladtorch/ops/count.h"
#include "cladtorch/random.h"
#include "ops/common/elementwise.h"

namespace cladtorch {
namespace {

thread_local TrainingScope* current_scope = nullptr;

/// *to = or += x where the mask keeps an element, scaled; four elements share one block of random words.
template <class T>
void masked_scale(const DropoutState& state, double probability, int64_t n, const T* x,
                  detail::Target<T> to) {
  using C = detail::Computed<T>;
  const auto threshold = static_cast<uint32_t>(probability * 0x1p32);
  const auto factor = static_cast<C>(1 / (1 - probability));
  parallel_for(n, detail::pointwise_grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 4) {  // pieces begin at multiples of 4
      const auto block = static_cast<uint64_t>(i) / 4;
      const std::array<uint32_t, 4> words =
          philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                      static_cast<uint32_t>(state.stream), static_cast<uint32_t>(state.stream >> 32)},
                     state.seed);
      for (int64_t j = i; j < std::min(i + 4, end); ++j) {
        const C value = words[static_cast<size_t>(j - i)] >= threshold ? static_cast<C>(x[j]) * factor : C(0);
        to.data[j] = static_cast<T>(to.add ? static_cast<C>(to.data[j]) + value : value);
      }
    }
  });
}

Tensor forward(const Tensor& x, double probability, const DropoutState& state) {
  require(x.defined(), "dropout: the tensor is undefined");
  require(probability >= 0 && probability < 1, "dropout: expected a probability in [0, 1), got ",
          probability);
  if (!state.active || probability == 0) return x;
  detail::count_op();
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  detail::dispatch_real("dropout", x.dtype(), [&]<class T>(T) {
    masked_scale(state, probability, x.numel(), dense.data<T>(), detail::Target<T>{y.data<T>()});
  });
  return y;
}

}  // namespace

TrainingScope::TrainingScope(uint64_t seed, uint64_t step) : seed_(seed), step_(step), outer_(current_scope) {
  current_scope = this;
}
TrainingScope::~TrainingScope() { current_scope = outer_; }

DropoutState DropoutState::draw() {
  TrainingScope* const scope = current_scope;
  if (!scope) return {};
  // 2^40 steps of 2^24 calls each.
  return {true, scope->seed_, scope->step_ << 24 | (scope->calls_++ & 0xffffffu)};
}

uint64_t DropoutState::drawn() { return current_scope ? current_scope->calls_ : 0; }
void DropoutState::rewind(uint64_t drawn) {
  if (current_scope) current_scope->calls_ = static_cast<uint32_t>(drawn);
}

namespace {
const clad::replayed masks(DropoutState::drawn, DropoutState::rewind);
}

Tensor dropout(const Tensor& x, double probability) { return forward(x, probability, DropoutState::draw()); }

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using namespace ::cladtorch;
namespace detail = ::cladtorch::detail;

Tensor dropout_reverse_forw(const Tensor& x, double probability, pullback_state<DropoutState>& state) {
  state.data = DropoutState::draw();
  return ::cladtorch::forward(x, probability, state.data);
}

void dropout_pullback(const Tensor&, double probability, Tensor d_y, Tensor* d_x, double*,
                      pullback_state<DropoutState>& state) {
  if (!d_y.defined() || !d_x) return;
  if (!state.data.active || probability == 0) {
    d_x->accumulate(std::move(d_y));
    return;
  }
  const Tensor d = d_y.contiguous();
  detail::dispatch_real("dropout", d.dtype(), [&]<class T>(T) {
    detail::contribute<T>(d_x, d.shape(), [&](detail::Target<T> target) {
      ::cladtorch::masked_scale(state.data, probability, d.numel(), d.data<T>(), target);
    });
  });
}

}  // namespace clad::custom_derivatives::cladtorch
