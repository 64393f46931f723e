// Elementwise arithmetic with broadcasting.
#pragma once

#include <clad/fusion.h>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// Elementwise a + b, a - b, a * b, a / b. Shapes broadcast by PyTorch's rules, and both must have the same
/// floating dtype. Throws Error naming both shapes otherwise.
CLAD_COMMUTATIVE Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
CLAD_COMMUTATIVE Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);

/// x * factor.
Tensor scale(const Tensor& x, double factor);
/// x + value.
Tensor add_scalar(const Tensor& x, double value);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator*(const Tensor& x, double factor) { return scale(x, factor); }
inline Tensor operator*(double factor, const Tensor& x) { return scale(x, factor); }
inline Tensor operator/(const Tensor& x, double divisor) { return scale(x, 1.0 / divisor); }
inline Tensor operator+(const Tensor& x, double value) { return add_scalar(x, value); }
inline Tensor operator+(double value, const Tensor& x) { return add_scalar(x, value); }
inline Tensor operator-(const Tensor& x, double value) { return add_scalar(x, -value); }
inline Tensor operator-(double value, const Tensor& x) { return add_scalar(scale(x, -1.0), value); }
inline Tensor operator-(const Tensor& x) { return scale(x, -1.0); }

/// What add and sub keep: the shapes before broadcasting, and which operand is a constant. No tensor is kept.
struct BroadcastState {
  Shape a, b;
  bool a_frozen = false, b_frozen = false;
};

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::BroadcastState;
using ::cladtorch::Tensor;

Tensor add_reverse_forw(const Tensor& a, const Tensor& b, pullback_state<BroadcastState>& state);
void add_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, Tensor d_y, Tensor* d_a,
                  Tensor* d_b, pullback_state<BroadcastState>& state);

Tensor sub_reverse_forw(const Tensor& a, const Tensor& b, pullback_state<BroadcastState>& state);
void sub_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, Tensor d_y, Tensor* d_a,
                  Tensor* d_b, pullback_state<BroadcastState>& state);

void mul_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b);
void div_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b);

void scale_pullback(const Tensor& x, double factor, Tensor d_y, Tensor* d_x, double* d_factor);
void add_scalar_pullback(CLAD_UNUSED const Tensor& x, double value, Tensor d_y, Tensor* d_x, double* d_value);
}  // namespace clad::custom_derivatives::cladtorch
