#include <memory>

#include "bench/cuda/kernels.h"
#include "cladtorch/ops/ops.h"
#include "ops/causal_attention/attention_choice.h"
#include "ops/causal_attention/attention_implementation.h"

namespace cladtorch::bench {
namespace {

namespace pullbacks = clad::custom_derivatives::cladtorch;

/// 7 products of [T, T] and [T, D] matrices, two forward and five backward, of which causality leaves half.
/// By the implementation of that name, of which some do not have the memory to work in.
void add(std::vector<Kernel>& list, int64_t length, int64_t head_size, const std::string& by) {
  constexpr int64_t channels = 2048, tokens = 1 << 14, check_length = 32;
  const auto operands = [=](int64_t count) {
    const int64_t steps = count == tokens ? length : check_length;
    const int64_t width = count == tokens ? channels : 2 * head_size;
    return Operands{{{count / steps, steps, 3 * width}}, {{count / steps, steps, width}}};
  };
  const auto heads = [head_size](const Tensors& x) { return x[1].size(2) / head_size; };
  const double product = double{tokens} * double(length) * double{channels};
  const std::string suffix = ", head size " + std::to_string(head_size) + ", " + by;
  list.push_back({.name = "attention" + suffix,
                  .operands = operands,
                  .prepare =
                      [=](const Tensors& x) {
                        return [=] {
                          const cuda::ForcedAttention forced(by);
                          clad::pullback_state<AttentionState> state;
                          return Tensors{pullbacks::causal_attention_reverse_forw(x[0], heads(x), state)};
                        };
                      },
                  .rows = tokens,
                  .rows_check = check_length,
                  .flops = 2 * product,
                  .optional = by != "own"});
  list.push_back({.name = "attention backward" + suffix,
                  .operands = operands,
                  .prepare =
                      [=](const Tensors& x) {
                        const cuda::ForcedAttention forced(by);
                        const auto state = std::make_shared<clad::pullback_state<AttentionState>>();
                        pullbacks::causal_attention_reverse_forw(x[0], heads(x), *state);
                        return [=] {
                          const cuda::ForcedAttention forced_again(by);
                          Tensors d(1);
                          pullbacks::causal_attention_pullback(x[0], heads(x), x[1], &d[0], *state);
                          return d;
                        };
                      },
                  .rows = tokens,
                  .rows_check = check_length,
                  .flops = 5 * product,
                  .optional = by != "own"});
}

}  // namespace

void add_attention(std::vector<Kernel>& list) {
  for (const int64_t head_size : {64, 128})
    for (const int64_t length : {1024, 4096})
      for (const cuda::AttentionImplementation* one : cuda::attention_implementations())
        if (one->unavailable().empty()) add(list, length, head_size, one->name());
}

}  // namespace cladtorch::bench
