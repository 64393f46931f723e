// Elementwise kernels. The tail goes through the same vector code, so a result does not depend on where an
// element lies in its piece.
void swiglu(int64_t n, const float* gate, const float* up, float* y) {
  each_vector(n, [&](int64_t i, auto part) {
    part.put(y + i, functions::Silu{}(Lanes(part.get(gate + i, 0))).lanes * part.get(up + i, 0));
  });
}

void swiglu_pullback(int64_t n, const float* gate, const float* up, const float* d_y, float* d_gate,
                     bool add_gate, float* d_up, bool add_up) {
  each_vector(n, [&](int64_t i, auto part) {
    const Lanes x = part.get(gate + i, 0), s = falling_sigmoid(-x);
    const Floats d = part.get(d_y + i, 0);
    if (d_gate) {
      const Floats of_gate = d * part.get(up + i, 0) * functions::Silu::slope_of_gate(x, s).lanes;
      part.put(d_gate + i, add_gate ? part.get(d_gate + i, 0) + of_gate : of_gate);
    }
    if (d_up) {
      const Floats of_up = d * (x * s).lanes;
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
