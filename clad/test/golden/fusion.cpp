// A fusion rule sees through the layers of a model; the sum that two operations share becomes a part of the
// result of one.
#include "clad/fusion.h"
#include "clad/Differentiator/Differentiator.h"

class CLAD_OPAQUE Tensor {
 public:
  void accumulate(const Tensor& d);
  double item() const;
};
Tensor linear(const Tensor& x, const Tensor& w);
Tensor gelu(const Tensor& x);
Tensor linear_gelu(const Tensor& x, const Tensor& w);
Tensor add(const Tensor& a, const Tensor& b);
Tensor norm(const Tensor& x);
struct SumAndNorm {
  Tensor sum, normalized;
};
SumAndNorm add_norm(const Tensor& a, const Tensor& b);

CLAD_PATTERN(linear_gelu)
inline Tensor gelu_of_linear(const Tensor& x, const Tensor& w) { return gelu(linear(x, w)); }
CLAD_PATTERN(add_norm)
inline SumAndNorm norm_of_sum(const Tensor& a, const Tensor& b) {
  const Tensor sum = add(a, b);
  return {sum, norm(sum)};
}

namespace clad::custom_derivatives {
void linear_pullback(const Tensor& x, const Tensor& w, Tensor d_y, Tensor* d_x, Tensor* d_w);
void gelu_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);
void linear_gelu_pullback(const Tensor& x, const Tensor& w, Tensor d_y, Tensor* d_x, Tensor* d_w);
void add_pullback(CLAD_UNUSED const Tensor& a, CLAD_UNUSED const Tensor& b, Tensor d_y, Tensor* d_a,
                  Tensor* d_b);
void norm_pullback(const Tensor& x, Tensor d_y, Tensor* d_x);
void add_norm_pullback(const Tensor& a, const Tensor& b, SumAndNorm d_y, Tensor* d_a, Tensor* d_b);
namespace class_functions {
void item_pullback(CLAD_UNUSED const Tensor* self, double d_y, Tensor* d_self);
}  // namespace class_functions
}  // namespace clad::custom_derivatives

struct Linear {
  Tensor weight;
  Tensor forward(const Tensor& x) const { return linear(x, weight); }
  Tensor operator()(const Tensor& x) const { return forward(x); }
};
struct MLP {
  Linear in, out;
  Tensor operator()(const Tensor& x) const { return out(gelu(in(x))); }
};
struct Block {
  MLP first, second;
  Tensor operator()(const Tensor& x) const {
    const Tensor y = add(x, first(norm(x)));
    return add(y, second(norm(y)));
  }
};
double f(const Block& block, const Tensor& x) { return block(x).item(); }
auto g = clad::gradient(f, "block");
