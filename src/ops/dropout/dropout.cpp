#include "cladtorch/ops/dropout.h"

#include <clad/checkpoint.h>

#include "cladtorch/random.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/elementwise.h"
#include "ops/dropout/dropout_on_device.h"
#include "simd/kernels.h"

namespace cladtorch {
namespace {

thread_local TrainingScope* current_scope = nullptr;

/// The reference, and for double: four elements share one block of random words.
void masked_scale(const simd::DropoutMask& mask, double factor, int64_t first, int64_t n, const double* x,
                  double* y, bool add) {
  for (int64_t i = 0; i < n; ++i) {
    const bool kept = random_word(mask.seed, mask.stream, static_cast<uint64_t>(first + i)) >= mask.threshold;
    y[i] = (add ? y[i] : 0.0) + (kept ? x[i] * factor : 0.0);
  }
}

/// *to = or += x where the mask keeps an element, scaled.
template <class T>
void masked_scale(const DropoutState& state, double probability, int64_t n, const T* x,
                  detail::Target<T> to) {
  const double factor = 1 / (1 - probability);
  const simd::DropoutMask mask{state.seed, state.stream, static_cast<uint32_t>(probability * 0x1p32),
                               static_cast<float>(factor)};
  // Pieces and blocks begin at multiples of 4.
  parallel_for(n, detail::pointwise_grain, [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, double>) {
      masked_scale(mask, factor, begin, end - begin, x + begin, to.data + begin, to.add);
    } else {
      for (int64_t i = begin; i < end; i += detail::widened_block) {
        const int64_t count = std::min(detail::widened_block, end - i);
        float memory[2][detail::widened_block];
        const detail::Written<T> out(count, to.data + i, to.add, memory[0]);
        simd::kernels().dropout(mask, i, count, detail::readable(count, x + i, memory[1]), out.data(),
                                to.add);
      }
    }
  });
}

Tensor forward(const Tensor& x, double probability, const DropoutState& state) {
  const detail::Call call("dropout", {{"x", x}});
  require(probability >= 0 && probability < 1, "dropout: expected a probability in [0, 1), got ",
          probability);
  if (!state.active || probability == 0) return x;
  const Tensor dense = x.contiguous();
  return call.result(
      x.shape(), [&](const GradientTarget& y) { detail::dropout_on_device(state, probability, dense, y); },
      [&]<class T>(detail::Target<T> y) { masked_scale(state, probability, x.numel(), dense.data<T>(), y); });
}

}  // namespace

TrainingScope::TrainingScope(uint64_t seed, uint64_t step) : seed_(seed), step_(step), outer_(current_scope) {
  current_scope = this;
}
TrainingScope::TrainingScope(uint64_t seed, uint64_t step, const Tensor& step_on_device)
    : TrainingScope(seed, step) {
  step_on_device_ = step_on_device.device_data<int32_t>();
}
TrainingScope::~TrainingScope() { current_scope = outer_; }
bool TrainingScope::is_active() { return current_scope != nullptr; }
uint32_t TrainingScope::next_call() {
  const uint32_t call = calls_++;
  furthest_ = std::max(furthest_, calls_);
  return call;
}
bool TrainingScope::is_first_run() {
  if (!current_scope) return true;
  const uint32_t furthest = current_scope->furthest_;
  return current_scope->next_call() >= furthest;
}

DropoutState DropoutState::draw() {
  TrainingScope* const scope = current_scope;
  if (!scope) return {};
  // 2^40 steps of 2^24 calls each.
  return {true, scope->seed_, scope->step_ << 24 | (scope->next_call() & 0xffffffu), scope->step_on_device_};
}

uint64_t DropoutState::drawn() { return current_scope ? current_scope->calls_ : 0; }
void DropoutState::rewind(uint64_t drawn) {
  if (current_scope) current_scope->calls_ = static_cast<uint32_t>(drawn);
}

namespace {
const clad::replayed masks(DropoutState::drawn, DropoutState::rewind);
}

Tensor dropout(const Tensor& x, double probability) {
  CLADTORCH_RECORD_STATE(DropoutState, dropout, unread(x), probability);
  return forward(x, probability, DropoutState::draw());
}

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
  d_x = wanted(d_x);
  if (!d_y.defined() || !d_x) return;
  if (!state.data.active || probability == 0) {
    d_x->accumulate(std::move(d_y));
    return;
  }
  const Tensor d = d_y.contiguous();
  detail::add_gradient(
      "dropout", d_x, d,
      [&](const GradientTarget& to) { detail::dropout_on_device(state.data, probability, d, to); },
      [&]<class T>(detail::Target<T> to) {
        ::cladtorch::masked_scale(state.data, probability, d.numel(), d.data<T>(), to);
      });
}

}  // namespace clad::custom_derivatives::cladtorch
