// Elementwise kernels. The tail goes through the same vector code, so a result does not depend on where an
// element lies in its piece.
struct ExpOfFloats {
  Floats operator()(Floats x) const { return exp(x); }
  static Floats reciprocal_of(Floats x) { return reciprocal(x); }
};

void gelu_tanh(int64_t n, const float* x, float* y) {
  each_vector(n, [&](int64_t i, auto part) {
    part.put(y + i, gelu_tanh_value<float>(part.get(x + i, 0), ExpOfFloats{}));
  });
}

void gelu_tanh_pullback(int64_t n, const float* x, const float* d_y, float* d_x, bool add) {
  each_vector(n, [&](int64_t i, auto part) {
    const Floats d = part.get(d_y + i, 0) * gelu_tanh_derivative<float>(part.get(x + i, 0), ExpOfFloats{});
    part.put(d_x + i, add ? part.get(d_x + i, 0) + d : d);
  });
}

void scaled_exp(int64_t n, const float* x, float shift, float factor, float* y, bool add) {
  each_vector(n, [&](int64_t i, auto part) {
    const Floats value = factor * exp(part.get(x + i, 0) - shift);
    part.put(y + i, add ? part.get(y + i, 0) + value : value);
  });
}
