// A chain of layers on an opaque value: moved through the reverse sweep, never copied element by element.
#include <vector>

#include "clad/Differentiator/Differentiator.h"

class CLAD_OPAQUE Tensor {
 public:
  void accumulate(const Tensor& d);
  double item() const;
};
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor tanh(const Tensor& x);
namespace clad::custom_derivatives {
void matmul_pullback(const Tensor& a, const Tensor& b, Tensor d_y, Tensor* d_a, Tensor* d_b);
struct TanhState {
  Tensor y;
};
Tensor tanh_reverse_forw(const Tensor& x, pullback_state<TanhState>& state);
void tanh_pullback(CLAD_UNUSED const Tensor& x, Tensor d_y, Tensor* d_x, pullback_state<TanhState>& state);
namespace class_functions {
void item_pullback(CLAD_UNUSED const Tensor* self, double d_y, Tensor* d_self);
}  // namespace class_functions
}  // namespace clad::custom_derivatives

struct Layer {
  Tensor weight;
  Tensor forward(const Tensor& x) const { return tanh(matmul(x, weight)); }
};
struct Model {
  std::vector<Layer> layers;
  Tensor head;
};
double loss(const Model& model, Tensor x) {
  for (const Layer& layer : model.layers) x = layer.forward(x);
  return matmul(x, model.head).item();
}
auto gradient = clad::gradient(loss, "model");
