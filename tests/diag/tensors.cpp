// What the plugin says where code needs it to look into a tensor: an error at the user's line, with the way
// out.
#include <clad/Differentiator/Differentiator.h>

#include "cladtorch/nn/nn.h"

namespace cladtorch {

Tensor clamped(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape());
  const float* in = x.data<float>();
  // expected-error@-1 {{cannot differentiate call to 'Tensor::data<float>': the plugin does not see the elements of a tensor; use operations on tensors, make the loop over the elements an operation of its own with a pullback (docs/adding-an-op.md), or read one number by x.select(0, i).item()}}
  float* out = y.data<float>();
  // expected-error@-1 {{cannot differentiate call to 'Tensor::data<float>'}}
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
  return y;
}
double loop(const nn::Linear& model, const Tensor& x) { return mean(clamped(model(x))).item(); }

double in_place(const nn::Linear& model, const Tensor& x) {
  Tensor y = model(x);
  y.fill_(1);
  // expected-error@-1 {{cannot differentiate call to 'Tensor::fill_': it changes a tensor in place; assign a new one: x = full(x.shape(), value)}}
  y.zero_();
  // expected-error@-1 {{cannot differentiate call to 'Tensor::zero_': it changes a tensor in place; assign a new one: x = zeros(x.shape())}}
  y.copy_from(model(x));
  // expected-error@-1 {{cannot differentiate call to 'Tensor::copy_from': it changes a tensor in place; assign the other one: x = source}}
  y.accumulate(model(x));
  // expected-error@-1 {{cannot differentiate call to 'Tensor::accumulate': it changes a tensor in place; assign a new one: x = add(x, d)}}
  return mean(y).item();
}
double constants_in_place(const nn::Linear& model, const Tensor& x) {
  Tensor shift = zeros({1});
  shift.fill_(2);
  return mean(add(model(x), shift)).item();
}

Tensor no_number(const nn::Linear& model, const Tensor& x) { return mean(model(x)); }

void use() {
  clad::gradient(loop, "model");
  clad::gradient(in_place, "model");
  clad::gradient(constants_in_place, "model");
  clad::gradient(no_number, "model");
  // expected-error@-1 {{cannot differentiate 'no_number': it returns 'cladtorch::Tensor'; a gradient is taken of a floating-point value, so let it return a double}}
}

}  // namespace cladtorch
