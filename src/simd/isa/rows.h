// Kernels along one row: softmax and layer normalization.
constexpr float infinity = __builtin_inff();

float row_maximum(int64_t n, const float* x) {
  Floats largest = broadcast(-infinity);
  int64_t i = 0;
  for (; i + width <= n; i += width) largest = larger(largest, load(x + i));
  if (i < n) largest = larger(largest, load_part(x + i, n - i, -infinity));
  return largest_lane(largest);
}

/// Writes exp(x - shift) to y unless y is null; returns the sum.
float exp_and_sum(int64_t n, const float* x, float shift, float* y) {
  Floats sum{};
  int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Floats e = exp(load(x + i) - shift);
    sum += e;
    if (y) store(y + i, e);
  }
  if (i < n) {
    const Floats e = exp(load_part(x + i, n - i, -infinity) - shift);
    sum += e;
    if (y) store_part(y + i, e, n - i);
  }
  return sum_lanes(sum);
}

void softmax_row(int64_t n, const float* x, float* y) {
  const float factor = 1.0f / exp_and_sum(n, x, row_maximum(n, x), y);
  for (int64_t i = 0; i < n; ++i) y[i] *= factor;
}

float log_sum_exp(int64_t n, const float* x) {
  const float largest = row_maximum(n, x);
  return largest + __builtin_logf(exp_and_sum(n, x, largest, nullptr));
}

void layer_norm_row(int64_t n, const float* x, const float* weight, const float* bias, float epsilon,
                    float* y, float* mean_out, float* rstd_out) {
  Floats sum{};
  int64_t i = 0;
  for (; i + width <= n; i += width) sum += load(x + i);
  if (i < n) sum += load_part(x + i, n - i, 0);
  const float mean = sum_lanes(sum) / static_cast<float>(n);

  Floats squares{};  // a second pass: subtracting the mean first keeps the digits that E[x^2] - E[x]^2 loses
  for (i = 0; i + width <= n; i += width) {
    const Floats centered = load(x + i) - mean;
    squares += centered * centered;
  }
  if (i < n) {
    const Floats centered = load_part(x + i, n - i, mean) - mean;
    squares += centered * centered;
  }
  const float rstd = 1.0f / __builtin_sqrtf(sum_lanes(squares) / static_cast<float>(n) + epsilon);

  if (bias) {
    for (i = 0; i < n; ++i) y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
  } else {
    for (i = 0; i < n; ++i) y[i] = (x[i] - mean) * rstd * weight[i];
  }
  if (mean_out) *mean_out = mean;
  if (rstd_out) *rstd_out = rstd;
}

float layer_norm_pullback_row(int64_t n, const float* x, const float* weight, float mean, float rstd,
                              const float* d_y, float* d_x, bool add, float* d_weight, float* d_bias) {
  Floats sum{}, projected{};
  int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Floats d = load(d_y + i), normalized = (load(x + i) - mean) * rstd, scaled = d * load(weight + i);
    sum += scaled;
    projected += scaled * normalized;
    if (d_weight) store(d_weight + i, load(d_weight + i) + d * normalized);
    if (d_bias) store(d_bias + i, load(d_bias + i) + d);
  }
  if (i < n) {
    const int64_t rest = n - i;
    const Floats d = load_part(d_y + i, rest, 0), normalized = (load_part(x + i, rest, mean) - mean) * rstd;
    const Floats scaled = d * load_part(weight + i, rest, 0);
    sum += scaled;
    projected += scaled * normalized;
    if (d_weight) store_part(d_weight + i, load_part(d_weight + i, rest, 0) + d * normalized, rest);
    if (d_bias) store_part(d_bias + i, load_part(d_bias + i, rest, 0) + d, rest);
  }
  const float total = sum_lanes(projected);
  if (d_x) {
    const float mean_d = sum_lanes(sum) / static_cast<float>(n), mean_p = total / static_cast<float>(n);
    for (i = 0; i < n; ++i) {
      const float d = rstd * (d_y[i] * weight[i] - mean_d - (x[i] - mean) * rstd * mean_p);
      d_x[i] = add ? d_x[i] + d : d;
    }
  }
  return total;
}
