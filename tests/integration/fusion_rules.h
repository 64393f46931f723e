// What the library's fusion rules match, as one writes it from primitive operations. Each file that includes
// this has its own derivatives of it.
#pragma once

#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/ops/ops.h"

namespace fusion_rules {

using cladtorch::Tensor;

/// A function of three tensors and its gradient, which is added to.
struct Case {
  const char* name;
  int saved;  ///< operations that the rules spare
  double (*function)(const Tensor& x, const Tensor& z, const Tensor& w);
  void (*gradient)(const Tensor& x, const Tensor& z, const Tensor& w, Tensor* d_x, Tensor* d_z, Tensor* d_w);
};

namespace {

double squared_sum(const Tensor& y) { return sum(mul(y, y)).item(); }

double swish(const Tensor& x, const Tensor&, const Tensor&) { return squared_sum(x * sigmoid(x)); }
double swish_exchanged(const Tensor& x, const Tensor& z, const Tensor&) {
  const Tensor y = x + z;
  return squared_sum(sigmoid(y) * y);
}
double gate(const Tensor& x, const Tensor& z, const Tensor&) { return squared_sum(silu(x) * z); }
double gate_exchanged(const Tensor& x, const Tensor& z, const Tensor&) {
  return squared_sum(z * (sigmoid(x) * x));
}
double gate_of_a_row(const Tensor& x, const Tensor&, const Tensor& w) { return squared_sum(w * silu(x)); }
double other_sigmoid(const Tensor& x, const Tensor& z, const Tensor&) { return squared_sum(z * sigmoid(x)); }

double norm(const Tensor& x, const Tensor&, const Tensor& w) {
  return squared_sum(x * rsqrt(mean(x * x, -1, true) + 1e-3) * w);
}
double norm_exchanged(const Tensor& x, const Tensor&, const Tensor& w) {
  const Tensor inverse = rsqrt(1e-3 + mean(x * x, -1, true));
  return squared_sum(w * (inverse * x));
}
double norm_by_many_weights(const Tensor& x, const Tensor& z, const Tensor&) {
  return squared_sum(x * rsqrt(mean(x * x, -1, true) + 1e-3) * z);
}
double norm_of_another(const Tensor& x, const Tensor& z, const Tensor& w) {
  return squared_sum(x * rsqrt(mean(z * z, -1, true) + 1e-3) * w);
}
double sum_and_norm(const Tensor& x, const Tensor& z, const Tensor& w) {
  const Tensor sum = z + x;
  return squared_sum(layer_norm(sum, w, w) + sum);
}

double sum_and_rms_norm(const Tensor& x, const Tensor& z, const Tensor& w) {
  const Tensor sum = z + x;
  return squared_sum(rms_norm(sum, w) + sum);
}
double mlp(const Tensor& x, const Tensor& z, const Tensor& w) {
  const Tensor weight = z.reshape({z.size(0) * z.size(1), z.size(2)}), bias = sum(weight, -1);
  return squared_sum(linear(gelu_tanh(linear(x, weight, bias)), weight.transpose(0, 1), w));
}

#define FUSION_CASE(saved, f)                                                                          \
  Case {                                                                                               \
    #f, saved, f,                                                                                      \
        [](const Tensor& x, const Tensor& z, const Tensor& w, Tensor* d_x, Tensor* d_z, Tensor* d_w) { \
          clad::gradient(f).execute(x, z, w, d_x, d_z, d_w);                                           \
        }                                                                                              \
  }
const Case cases[] = {
    FUSION_CASE(1, swish),
    FUSION_CASE(1, swish_exchanged),
    FUSION_CASE(1, gate),
    FUSION_CASE(2, gate_exchanged),
    FUSION_CASE(0, gate_of_a_row),
    FUSION_CASE(0, other_sigmoid),
    FUSION_CASE(6, norm),
    FUSION_CASE(6, norm_exchanged),
    FUSION_CASE(0, norm_by_many_weights),
    FUSION_CASE(0, norm_of_another),
    FUSION_CASE(1, sum_and_norm),
    FUSION_CASE(1, sum_and_rms_norm),
    FUSION_CASE(2, mlp),
};
#undef FUSION_CASE

}  // namespace

/// The same without the rules.
const Case& without_rules(size_t index);

}  // namespace fusion_rules
