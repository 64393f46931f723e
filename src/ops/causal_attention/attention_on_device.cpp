#include "ops/causal_attention/attention_on_device.h"

#include <optional>
#include <utility>

#include "tensor/dispatch.h"

namespace cladtorch::detail {
namespace {

Tensor readable(const Tensor& x) {
  return x.is_cuda() && (x.size(2) <= 1 || x.strides()[2] == 1) ? x : x.contiguous();
}

/// Memory for a contribution of x's dtype to *d: a tensor of its own where *d has another dtype or gets
/// several contributions at once.
class Contribution {
 public:
  Contribution(Tensor* d, const Shape& shape, const Tensor& x, bool shared) : d_(d) {
    if (!d) return;
    const bool direct = !shared && (!d->defined() || d->dtype() == x.dtype());
    target_ = accumulate_into(direct ? d : &own_, shape, x.dtype(), x.device());
  }
  void finish() {
    if (own_.defined()) d_->accumulate(std::move(own_));
  }

  void* data() const { return target_ ? target_->data<void>() : nullptr; }
  bool add() const { return target_ && target_->add(); }

 private:
  Tensor* d_;
  Tensor own_;
  std::optional<GradientTarget> target_;
};

}  // namespace

AttentionOperands attention_operands(const Tensor& q, const Tensor& k, const Tensor& v) {
  return {readable(q), readable(k), readable(v)};
}

AttentionOperands packed_attention_operands(const Tensor& qkv) {
  const Tensor rows = readable(qkv);
  const int64_t channels = qkv.size(2) / 3;
  return {rows.narrow(2, 0, channels), rows.narrow(2, channels, channels),
          rows.narrow(2, 2 * channels, channels)};
}

void packed_attention_pullback(const AttentionLayout& layout, const Tensor& qkv, const Tensor& y,
                               const Tensor& log_sum_exp, const Tensor& d_y, Tensor* d_qkv) {
  Contribution to(d_qkv, qkv.shape(), qkv, false);
  const int64_t bytes = qkv.size(2) / 3 * static_cast<int64_t>(size_of(qkv.dtype()));
  auto* const data = static_cast<std::byte*>(to.data());
  attention_pullback_on_device(layout, packed_attention_operands(qkv), y, log_sum_exp, d_y.contiguous(),
                               {{{data, layout.q_row, to.add()},
                                 {data + bytes, layout.k_row, to.add()},
                                 {data + 2 * bytes, layout.k_row, to.add()}}});
  to.finish();
}

void separate_attention_pullback(const AttentionLayout& layout, const AttentionOperands& in, const Tensor& y,
                                 const Tensor& log_sum_exp, const Tensor& d_y,
                                 const std::array<Tensor*, 3>& d) {
  const auto place = [&](size_t i, const Tensor& x) {
    bool shared = false;
    for (size_t j = 0; j < 3; ++j) shared |= i != j && d[i] == d[j];
    return Contribution(d[i], x.shape(), x, shared);
  };
  Contribution q = place(0, in.q), k = place(1, in.k), v = place(2, in.v);
  attention_pullback_on_device(layout, in, y, log_sum_exp, d_y.contiguous(),
                               {{{q.data(), layout.q_row, q.add()},
                                 {k.data(), layout.k_row, k.add()},
                                 {v.data(), layout.k_row, v.add()}}});
  for (Contribution* one : {&q, &k, &v}) one->finish();
}

}  // namespace cladtorch::detail
