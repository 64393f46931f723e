#include "bench/styles/hand_ordered.h"

#include "ops/causal_attention/attention_kernel.h"
#include "ops/common/reduce_to.h"
#include "ops/common/scratch.h"
#include "ops/embedding/embedding_kernel.h"
#include "ops/matmul/gemm.h"
#include "ops/norm/norm_kernel.h"
#include "ops/pointwise/pointwise_kernel.h"

namespace cladtorch::bench {
namespace {

using namespace gpt2_arena;
using To = detail::Target<float>;

float* scratch(int64_t count) {
  static detail::Scratch memory;
  return memory.get<float>(count);
}

void matmul_backward(const float* d_out, const float* inp, const float* weight, int64_t N, int64_t C,
                     int64_t OC, float* d_inp, float* d_weight, float* d_bias) {
  detail::gemm<float>(OC, C, N, {d_out, 1, OC}, {inp, C, 1}, d_weight, C, false);
  detail::gemm<float>(N, C, OC, {d_out, OC, 1}, {weight, C, 1}, d_inp, C, false);
  detail::sum_rows<float>(N, OC, d_out, To{d_bias});
}

void layernorm_backward(const float* d_out, const float* inp, const float* weight, const float* mean,
                        const float* rstd, int64_t N, int64_t C, To d_inp, float* d_weight, float* d_bias) {
  detail::norm_pullback<float>(N, C, inp, weight, mean, rstd, d_out, d_inp, To{d_weight}, To{d_bias}, nullptr,
                               scratch(detail::norm_pullback_work(N, C)));
}

void block_backward(const BlockParameters& w, const BlockActivations& a, const Size& s,
                    const BlockParameters& d_w, const BlockActivations& d) {
  const int64_t N = s.N, C = s.C;
  float* const stream = d.inp;
  matmul_backward(stream, a.gelu, w.mlp_proj_weight, N, 4 * C, C, d.gelu, d_w.mlp_proj_weight,
                  d_w.mlp_proj_bias);
  detail::function_pullback<functions::GeluTanh, float>({}, N * 4 * C, a.fc, d.gelu, To{d.fc});
  matmul_backward(d.fc, a.ln_2, w.c_fc_weight, N, C, 4 * C, d.ln_2, d_w.c_fc_weight, d_w.c_fc_bias);
  layernorm_backward(d.ln_2, a.middle, w.ln_2_weight, a.ln_2_mean, a.ln_2_rstd, N, C, To{stream, true},
                     d_w.ln_2_weight, d_w.ln_2_bias);
  matmul_backward(stream, a.attention, w.attn_proj_weight, N, C, C, d.attention, d_w.attn_proj_weight,
                  d_w.attn_proj_bias);
  const auto heads = detail::AttentionLayout::packed(s.B, s.T, C, s.heads);
  detail::attention_pullback<float>(
      heads, detail::AttentionInputs<float>::packed(a.qkv, C), a.attention, a.log_sum_exp, d.attention,
      detail::AttentionTargets<float>::packed({d.qkv}, C), scratch(heads.statistics()));
  matmul_backward(d.qkv, a.ln_1, w.c_attn_weight, N, C, 3 * C, d.ln_1, d_w.c_attn_weight, d_w.c_attn_bias);
  layernorm_backward(d.ln_1, a.inp, w.ln_1_weight, a.ln_1_mean, a.ln_1_rstd, N, C, To{stream, true},
                     d_w.ln_1_weight, d_w.ln_1_bias);
}

void encoder_backward(const float* d_out, const int32_t* tokens, const Size& s, float* d_wte, float* d_wpe) {
  detail::scatter_rows<float>(s.N, s.V, s.C, tokens, d_out, To{d_wte, true});
  const int64_t first = s.T * s.C;
  detail::sum_rows<float>(s.B, first, d_out, To{d_wpe});
  parallel_for(s.positions * s.C - first, 1 << 14, [&](int64_t begin, int64_t end) {
    std::fill(d_wpe + first + begin, d_wpe + first + end, 0.0f);
  });
}

}  // namespace

double hand_ordered_step(const Parameters& p, const Activations& a, const int32_t* tokens,
                         const int32_t* targets, const Size& s, const Parameters& d_p,
                         const Activations& d_a) {
  using namespace kernels;
  namespace pullbacks = clad::custom_derivatives::cladtorch::kernels;
  encoder_forward(a.h[0].inp, tokens, p.wte, p.wpe, s.B, s.T, s.C, s.V, s.positions);
  for (size_t l = 0; l < a.h.size(); ++l) {
    BlockActivations block = a.h[l];
    forward(p.h[l], block, s);
  }
  layernorm_forward(a.ln_f, a.ln_f_mean, a.ln_f_rstd, a.h.back().out, p.ln_f_weight, p.ln_f_bias, s.N, s.C,
                    s.epsilon);
  clad::pullback_state<ClassifierState> state;
  const float loss = pullbacks::linear_cross_entropy_forward_reverse_forw(a.classifier, a.ln_f, p.wte,
                                                                          targets, s.N, s.C, s.V, state);

  pullbacks::linear_cross_entropy_forward_pullback<float>(a.classifier, a.ln_f, p.wte, targets, s.N, s.C, s.V,
                                                          1, nullptr, d_a.ln_f, d_p.wte, state);
  float* const stream = d_a.h[0].inp;
  layernorm_backward(d_a.ln_f, a.h.back().out, p.ln_f_weight, a.ln_f_mean, a.ln_f_rstd, s.N, s.C, To{stream},
                     d_p.ln_f_weight, d_p.ln_f_bias);
  for (size_t l = a.h.size(); l-- > 0;) block_backward(p.h[l], a.h[l], s, d_p.h[l], d_a.h[l]);
  encoder_backward(stream, tokens, s, d_p.wte, d_p.wpe);
  return loss;
}

}  // namespace cladtorch::bench
