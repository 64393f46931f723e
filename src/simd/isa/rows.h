// Kernels along rows: softmax and layer normalization.
constexpr float infinity = __builtin_inff();

float row_maximum(int64_t n, const float* x) {
  Floats largest[4];
  for (Floats& l : largest) l = broadcast(-infinity);
  each_vector_in_chains(n, [&](int64_t i, auto part, int chain) {
    largest[chain] = larger(largest[chain], part.get(x + i, -infinity));
  });
  const auto either = [](Floats a, Floats b) { return a != a ? a : larger(a, b); };
  return largest_lane(either(either(largest[0], largest[1]), either(largest[2], largest[3])));
}

/// Writes exp(x - shift) to y unless y is null; returns the sum.
float exp_and_sum(int64_t n, const float* x, float shift, float* y) {
  Floats sum{};
  each_vector(n, [&](int64_t i, auto part) {
    const Floats e = exp(part.get(x + i, -infinity) - shift);
    sum += e;
    if (y) part.put(y + i, e);
  });
  return sum_lanes(sum);
}

void softmax_row(int64_t n, const float* x, float* y) {
  const float factor = 1.0f / exp_and_sum(n, x, row_maximum(n, x), y);
  each_vector(n, [&](int64_t i, auto part) { part.put(y + i, part.get(y + i, 0) * factor); });
}

void softmax_pullback_row(int64_t n, const float* y, const float* d_y, float* d_x, bool add) {
  const float projection = dot(n, y, d_y);
  each_vector(n, [&](int64_t i, auto part) {
    const Floats d = part.get(y + i, 0) * (part.get(d_y + i, 0) - projection);
    part.put(d_x + i, add ? part.get(d_x + i, 0) + d : d);
  });
}

float log_sum_exp(int64_t n, const float* x) {
  const float largest = row_maximum(n, x);
  return largest + __builtin_logf(exp_and_sum(n, x, largest, nullptr));
}

typedef double Doubles __attribute__((vector_size(vector_bytes)));
typedef float HalfFloats __attribute__((vector_size(vector_bytes / 2), aligned(4), may_alias));

double sum(int64_t n, const float* x) {
  constexpr int64_t half = width / 2;
  Doubles sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * half <= n; i += 4 * half) {
    for (int chain = 0; chain < 4; ++chain)
      sums[chain] +=
          __builtin_convertvector(*reinterpret_cast<const HalfFloats*>(x + i + chain * half), Doubles);
  }
  const Doubles all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = 0;
  for (int64_t lane = 0; lane < half; ++lane) total += all[lane];
  for (; i < n; ++i) total += static_cast<double>(x[i]);
  return total;
}

void layer_norm_row(int64_t n, const float* x, const float* weight, const float* bias, float epsilon,
                    float* y, float* mean_out, float* rstd_out) {
  Floats sum[4] = {}, squares[4] = {};
  each_vector_in_chains(n, [&](int64_t i, auto part, int chain) { sum[chain] += part.get(x + i, 0); });
  const float mean = sum_chains(sum) / static_cast<float>(n);

  // A second pass: subtracting the mean first keeps the digits that E[x^2] - E[x]^2 loses.
  each_vector_in_chains(n, [&](int64_t i, auto part, int chain) {
    const Floats centered = part.get(x + i, mean) - mean;
    squares[chain] += centered * centered;
  });
  const float rstd = 1.0f / __builtin_sqrtf(sum_chains(squares) / static_cast<float>(n) + epsilon);

  each_vector(n, [&](int64_t i, auto part) {
    const Floats scaled = (part.get(x + i, 0) - mean) * rstd * part.get(weight + i, 0);
    part.put(y + i, bias ? scaled + part.get(bias + i, 0) : scaled);
  });
  if (mean_out) *mean_out = mean;
  if (rstd_out) *rstd_out = rstd;
}

void rms_norm_row(int64_t n, const float* x, const float* weight, float epsilon, float* y, float* rstd_out) {
  Floats squares[4] = {};
  each_vector_in_chains(n, [&](int64_t i, auto part, int chain) {
    const Floats v = part.get(x + i, 0);
    squares[chain] += v * v;
  });
  const float rstd = 1.0f / __builtin_sqrtf(sum_chains(squares) / static_cast<float>(n) + epsilon);
  each_vector(
      n, [&](int64_t i, auto part) { part.put(y + i, part.get(x + i, 0) * rstd * part.get(weight + i, 0)); });
  if (rstd_out) *rstd_out = rstd;
}

/// Rows [row, row + Rows) together, so that the gradients of weight and bias are loaded and stored once for
/// all. They are added to unless `first`. A mean that is not Centered is 0 and has no derivative.
template <int Rows, bool Centered>
void differentiate_rows(const LayerNormGradient& g, int64_t row, float* d_weight, float* d_bias, bool first) {
  const int64_t n = g.length;
  const float *const x = g.x + row * n, *const d_y = g.d_y + row * n;
  Floats sum[Rows] = {}, projected[Rows] = {};  // of g = d_y w, and of g z
  each_vector(n, [&](int64_t i, auto part) {
    const Floats weight = part.get(g.weight + i, 0);
    Floats of_weight = d_weight && !first ? part.get(d_weight + i, 0) : Floats{};
    Floats of_bias = d_bias && !first ? part.get(d_bias + i, 0) : Floats{};
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const float mean = Centered ? g.mean[row + r] : 0.0f, rstd = g.rstd[row + r];
      const Floats d = part.get(d_y + r * n + i, 0), z = (part.get(x + r * n + i, mean) - mean) * rstd;
      of_weight += d * z;
      of_bias += d;
      if constexpr (Centered) sum[r] += d * weight;
      projected[r] += d * weight * z;
    }
    if (d_weight) part.put(d_weight + i, of_weight);
    if (d_bias) part.put(d_bias + i, of_bias);
  });
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    const float mean = Centered ? g.mean[row + r] : 0.0f, rstd = g.rstd[row + r];
    const float total = sum_lanes(projected[r]);
    if (g.projected) g.projected[row + r] = total;
    if (!g.d_x) continue;
    const float mean_g = sum_lanes(sum[r]) / static_cast<float>(n), mean_gz = total / static_cast<float>(n);
    float* const d_x = g.d_x + (row + r) * n;
    each_vector(n, [&](int64_t i, auto part) {
      const Floats z = (part.get(x + r * n + i, 0) - mean) * rstd;
      const Floats d =
          rstd * (part.get(d_y + r * n + i, 0) * part.get(g.weight + i, 0) - mean_g - z * mean_gz);
      part.put(d_x + i, g.add ? part.get(d_x + i, 0) + d : d);
    });
  }
}

template <bool Centered>
void differentiate_all_rows(const LayerNormGradient& g, int64_t begin, int64_t end, float* d_weight,
                            float* d_bias) {
  int64_t row = begin;
  const auto first = [&] { return row == begin && !g.add_sums; };
  for (; row + 4 <= end; row += 4) differentiate_rows<4, Centered>(g, row, d_weight, d_bias, first());
  for (; row < end; ++row) differentiate_rows<1, Centered>(g, row, d_weight, d_bias, first());
}

void layer_norm_pullback(const LayerNormGradient& g, int64_t begin, int64_t end, float* d_weight,
                         float* d_bias) {
  const auto run = g.mean ? differentiate_all_rows<true> : differentiate_all_rows<false>;
  run(g, begin, end, d_weight, d_bias);
}
