#include "ops/causal_attention/attention_implementation.h"

#include <algorithm>
#include <sstream>

#include "cuda/address.h"
#include "ops/causal_attention/attention_choice.h"

namespace cladtorch::cuda {
namespace {

/// Never destroyed: registrations of static lifetime leave it at the end.
std::vector<AttentionImplementation*>& registered() {
  static auto* const all = new std::vector<AttentionImplementation*>;
  return *all;
}

/// The largest power of two up to 16 that divides all addresses.
class Alignment {
 public:
  void add(const void* data) { bits_ |= reinterpret_cast<uintptr_t>(data); }
  void add(const Tensor& x) {
    if (x.defined()) add(address(x));
  }
  int64_t bytes() const { return static_cast<int64_t>((bits_ | 16) & (~(bits_ | 16) + 1)); }

 private:
  uintptr_t bits_ = 0;
};

AttentionProblem problem_of(AttentionPass pass, const detail::AttentionLayout& layout,
                            const detail::AttentionOperands& in, Alignment& alignment) {
  AttentionProblem problem{.pass = pass, .device = in.q.device(), .dtype = in.q.dtype(), .layout = layout};
  const Tensor* const operands[] = {&in.q, &in.k, &in.v};
  for (size_t i = 0; i < 3; ++i) {
    const Tensor& x = *operands[i];
    problem.in[i] = {x.strides()[0], x.strides()[1]};
    // Strides that nothing is reached by are as if dense, so that they make no difference.
    if (x.size(1) <= 1) problem.in[i].row = x.size(2);
    if (x.size(0) <= 1) problem.in[i].batch = x.size(1) * problem.in[i].row;
    alignment.add(x);
  }
  return problem;
}

}  // namespace

AttentionProblem AttentionProblem::forward(const detail::AttentionLayout& layout,
                                           const detail::AttentionOperands& in, int64_t past, const Tensor& y,
                                           const Tensor& log_sum_exp) {
  Alignment alignment;
  AttentionProblem problem = problem_of(AttentionPass::forward, layout, in, alignment);
  alignment.add(y);
  alignment.add(log_sum_exp);
  problem.past = past;
  problem.statistics = log_sum_exp.defined();
  problem.alignment = alignment.bytes();
  return problem;
}

AttentionProblem AttentionProblem::pullback(const detail::AttentionLayout& layout,
                                            const detail::AttentionOperands& in, const Tensor& y,
                                            const Tensor& d_y,
                                            const std::array<detail::AttentionGradientPlace, 3>& to) {
  Alignment alignment;
  AttentionProblem problem = problem_of(AttentionPass::pullback, layout, in, alignment);
  alignment.add(y);
  alignment.add(d_y);
  for (size_t i = 0; i < 3; ++i) {
    if (to[i].data == nullptr) continue;
    alignment.add(to[i].data);
    problem.to[i] = {true, to[i].add, to[i].row};
  }
  problem.statistics = true;
  problem.alignment = alignment.bytes();
  return problem;
}

bool AttentionProblem::is_packed() const {
  constexpr int64_t bytes = 16;
  const int64_t elements = bytes / static_cast<int64_t>(size_of(dtype));
  return alignment >= bytes && std::all_of(in.begin(), in.end(), [&](const Operand& operand) {
           return operand.row % elements == 0 && operand.batch % elements == 0;
         });
}

AttentionProblem::Numbers AttentionProblem::numbers() const {
  const auto kind = [](const Gradient& g) { return int64_t{g.wanted} + 2 * int64_t{g.add}; };
  return {static_cast<int64_t>(pass),
          device.index,
          static_cast<int64_t>(dtype),
          layout.batch,
          layout.length,
          layout.heads,
          layout.key_heads,
          layout.head_size,
          std::min(layout.window, past + layout.length),
          past,
          int64_t{statistics},
          alignment,
          in[0].batch,
          in[0].row,
          in[1].batch,
          in[1].row,
          in[2].batch,
          in[2].row,
          kind(to[0]),
          to[0].row,
          kind(to[1]),
          to[1].row,
          kind(to[2]),
          to[2].row};
}

std::string AttentionProblem::text() const {
  std::ostringstream out;
  out << "attention " << (pass == AttentionPass::forward ? "forward " : "pullback ") << dtype;
  const Numbers all = numbers();
  for (size_t i = 3; i < all.size(); ++i) out << ' ' << all[i];
  return out.str();
}

std::vector<AttentionImplementation*> attention_implementations() { return registered(); }

AttentionRegistration::AttentionRegistration(AttentionImplementation& implementation)
    : implementation_(&implementation) {
  registered().push_back(implementation_);
  forget_attention_choices();
}

AttentionRegistration::~AttentionRegistration() {
  std::erase(registered(), implementation_);
  forget_attention_choices();
}

}  // namespace cladtorch::cuda
