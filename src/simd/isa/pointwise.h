// Elementwise kernels. The tail goes through the same vector code, so a result does not depend on where an
// element lies in its piece.
struct ExpOfFloats {
  /// Bounded so that one more than it has a normal reciprocal: denormal ones take 25 times as long.
  Floats operator()(Floats x) const { return exp(x > 87.0f ? broadcast(87.0f) : x); }
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

/// The lower tail is exp(-a^2 / 2) r(a) with a = |x|; r is smooth, and near 1 / (a sqrt(2 pi)) for large a: a
/// minimax polynomial of degree 9 in t = 1 / (1 + a / 4), times t, to 3.4e-8 of it. Bounded so that no result
/// is denormal.
struct NormalOfFloats {
  NormalAt<Floats> operator()(Floats x) const {
    const Floats size = x < 0.0f ? -x : x, a = size > 12.5f ? broadcast(12.5f) : size;
    const Floats e = exp(a * a * -0.5f), t = reciprocal(1.0f + a * 0.25f);
    Floats r = broadcast(1.978202895e-2f);
    r = r * t + broadcast(-8.087739415e-2f);
    r = r * t + broadcast(9.559722308e-2f);
    r = r * t + broadcast(-3.171764088e-2f);
    r = r * t + broadcast(6.369916565e-2f);
    r = r * t + broadcast(5.897513640e-2f);
    r = r * t + broadcast(8.160311042e-2f);
    r = r * t + broadcast(9.346635523e-2f);
    r = r * t + broadcast(9.973643161e-2f);
    r = r * t + broadcast(9.973556672e-2f);
    const Floats tail = r * t * e;
    return {x < 0.0f ? tail : 1.0f - tail, e * 0.398942280f};
  }
};

void gelu_erf(int64_t n, const float* x, float* y) {
  each_vector(n, [&](int64_t i, auto part) {
    part.put(y + i, gelu_erf_value(part.get(x + i, 0), NormalOfFloats{}));
  });
}

void gelu_erf_pullback(int64_t n, const float* x, const float* d_y, float* d_x, bool add) {
  each_vector(n, [&](int64_t i, auto part) {
    const Floats d = part.get(d_y + i, 0) * gelu_erf_derivative(part.get(x + i, 0), NormalOfFloats{});
    part.put(d_x + i, add ? part.get(d_x + i, 0) + d : d);
  });
}

void silu(int64_t n, const float* x, float* y) {
  each_vector(n, [&](int64_t i, auto part) {
    part.put(y + i, silu_value<float>(part.get(x + i, 0), ExpOfFloats{}));
  });
}

void silu_pullback(int64_t n, const float* x, const float* d_y, float* d_x, bool add) {
  each_vector(n, [&](int64_t i, auto part) {
    const Floats d = part.get(d_y + i, 0) * silu_derivative<float>(part.get(x + i, 0), ExpOfFloats{});
    part.put(d_x + i, add ? part.get(d_x + i, 0) + d : d);
  });
}

void swiglu(int64_t n, const float* gate, const float* up, float* y) {
  each_vector(n, [&](int64_t i, auto part) {
    part.put(y + i, silu_value<float>(part.get(gate + i, 0), ExpOfFloats{}) * part.get(up + i, 0));
  });
}

void swiglu_pullback(int64_t n, const float* gate, const float* up, const float* d_y, float* d_gate,
                     bool add_gate, float* d_up, bool add_up) {
  each_vector(n, [&](int64_t i, auto part) {
    const Floats x = part.get(gate + i, 0), d = part.get(d_y + i, 0), s = silu_gate<float>(x, ExpOfFloats{});
    if (d_gate) {
      const Floats of_gate = d * part.get(up + i, 0) * silu_slope<float>(x, s);
      part.put(d_gate + i, add_gate ? part.get(d_gate + i, 0) + of_gate : of_gate);
    }
    if (d_up) {
      const Floats of_up = d * (x * s);
      part.put(d_up + i, add_up ? part.get(d_up + i, 0) + of_up : of_up);
    }
  });
}

void rotate(int64_t heads, int64_t half, const float* x, const float* table, bool back, float* y, bool add) {
  for (int64_t h = 0; h < heads; ++h, x += 2 * half, y += 2 * half) {
    each_vector(half, [&](int64_t i, auto part) {
      const Floats cosine = part.get(table + i, 0), sine = part.get(table + half + i, 0);
      const Floats turn = back ? -sine : sine, a = part.get(x + i, 0), b = part.get(x + half + i, 0);
      const Floats first = a * cosine - b * turn, second = b * cosine + a * turn;
      part.put(y + i, add ? part.get(y + i, 0) + first : first);
      part.put(y + half + i, add ? part.get(y + half + i, 0) + second : second);
    });
  }
}

/// In terms of e = exp(-2 |x|), which loses nothing but where tanh(x) is near x: there a Taylor sum.
inline Floats tanh(Floats x) {
  const Floats size = x < 0.0f ? -x : x;
  const Floats e = exp(-2.0f * size);
  const Floats far = (1.0f - e) * reciprocal(1.0f + e), z = x * x;
  Floats near = z * broadcast(62.0f / 2835) - broadcast(17.0f / 315);
  near = near * z + broadcast(2.0f / 15);
  near = near * z - broadcast(1.0f / 3);
  return size < 0.25f ? x + x * z * near : (x < 0.0f ? -far : far);
}

void tanh(int64_t n, const float* x, float* y) {
  each_vector(n, [&](int64_t i, auto part) { part.put(y + i, tanh(part.get(x + i, 0))); });
}

void sigmoid(int64_t n, const float* x, float* y) {
  each_vector(n, [&](int64_t i, auto part) {
    const Floats v = part.get(x + i, 0), e = exp(v < 0.0f ? v : -v);
    const Floats upper = reciprocal(1.0f + e);
    part.put(y + i, v < 0.0f ? e * upper : upper);
  });
}

void dropout(const DropoutMask& mask, int64_t first, int64_t n, const float* x, float* y, bool add) {
  constexpr int64_t block = 4 * detail::philox_lanes;
  uint32_t words[block];
  for (int64_t done = 0; done < n; done += block) {
    detail::random_words(mask.seed, mask.stream, static_cast<uint64_t>(first + done) / 4, words);
    const int64_t count = n - done < block ? n - done : block;
    const float* const from = x + done;
    float* const to = y + done;
    for (int64_t i = 0; i < count; ++i) {
      const float value = words[i] >= mask.threshold ? from[i] * mask.factor : 0.0f;
      to[i] = add ? to[i] + value : value;
    }
  }
}

void scaled_exp(int64_t n, const float* x, float shift, float factor, float* y, bool add) {
  each_vector(n, [&](int64_t i, auto part) {
    const Floats value = factor * exp(part.get(x + i, 0) - shift);
    part.put(y + i, add ? part.get(y + i, 0) + value : value);
  });
}
