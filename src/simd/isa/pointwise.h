// Elementwise kernels. The tail goes through the same vector code, so a result does not depend on where an
// element lies in its piece.
struct ExpOfFloats {
  Floats operator()(Floats x) const { return exp(x); }
};

void gelu_tanh(int64_t n, const float* x, float* y) {
  int64_t i = 0;
  for (; i + width <= n; i += width) store(y + i, gelu_tanh_value<float>(load(x + i), ExpOfFloats{}));
  if (i < n) store_part(y + i, gelu_tanh_value<float>(load_part(x + i, n - i, 0), ExpOfFloats{}), n - i);
}

void gelu_tanh_pullback(int64_t n, const float* x, const float* d_y, float* d_x, bool add) {
  int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Floats d = gelu_tanh_derivative<float>(load(x + i), ExpOfFloats{}) * load(d_y + i);
    store(d_x + i, add ? load(d_x + i) + d : d);
  }
  if (i < n) {
    const int64_t rest = n - i;
    const Floats d =
        gelu_tanh_derivative<float>(load_part(x + i, rest, 0), ExpOfFloats{}) * load_part(d_y + i, rest, 0);
    store_part(d_x + i, add ? load_part(d_x + i, rest, 0) + d : d, rest);
  }
}

void scaled_exp(int64_t n, const float* x, float shift, float factor, float* y, bool add) {
  int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Floats value = factor * exp(load(x + i) - shift);
    store(y + i, add ? load(y + i) + value : value);
  }
  if (i < n) {
    const Floats value = factor * exp(load_part(x + i, n - i, 0) - shift);
    store_part(y + i, add ? load_part(y + i, n - i, 0) + value : value, n - i);
  }
}
