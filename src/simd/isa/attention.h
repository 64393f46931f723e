// Causal attention of one head in blocks of keys and queries: scores live in one block-sized buffer.
constexpr int64_t block = 64;

constexpr int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Scratch memory of one call; all row strides are multiples of the vector length.
struct AttentionBuffers {
  int64_t rows, columns;               // length and head size, rounded up
  float *q, *k, *v, *d_out, *d_q;      // [rows, columns]
  float *k_transposed, *v_transposed;  // [columns, rows]
  float *scores, *d_scores;            // [block, block]
  float *d_k, *d_v;                    // [block, columns]
  float* delta;                        // [rows]

  AttentionBuffers(int64_t length, int64_t head_size, float* scratch)
      : rows(round_up(length, block)), columns(round_up(head_size, width)) {
    float** const matrices[] = {&q, &k, &v, &d_out, &d_q, &k_transposed, &v_transposed};
    for (float** matrix : matrices) {
      *matrix = scratch;
      scratch += rows * columns;
    }
    scores = scratch;
    d_scores = scores + block * block;
    d_k = d_scores + block * block;
    d_v = d_k + block * columns;
    delta = d_v + block * columns;
  }
};

int64_t attention_scratch(int64_t length, int64_t head_size) {
  const int64_t rows = round_up(length, block), columns = round_up(head_size, width);
  return 7 * rows * columns + 2 * block * block + 2 * block * columns + rows;
}

/// Dense zero-padded copy, times `factor`.
void copy_rows(const AttentionShape& shape, const float* from, int64_t row, float factor, float* to,
               int64_t rows, int64_t columns) {
  for (int64_t t = 0; t < shape.length; ++t) {
    for (int64_t d = 0; d < shape.head_size; ++d) to[t * columns + d] = factor * from[t * row + d];
    for (int64_t d = shape.head_size; d < columns; ++d) to[t * columns + d] = 0;
  }
  for (int64_t i = shape.length * columns; i < rows * columns; ++i) to[i] = 0;
}

/// [rows, columns] to [columns, rows].
void transpose_rows(const float* from, float* to, int64_t rows, int64_t columns) {
  transpose(rows, columns, from, columns, to, rows);
}

/// How many of the block's keys query position `query` sees.
inline int64_t visible(int64_t query, int64_t first_key) {
  const int64_t n = query - first_key + 1;
  return n < 0 ? 0 : n > block ? block : n;
}

/// Whole blocks are processed, so what a query must not see is overwritten: scores by -inf, whose exponential
/// is exactly 0, and their cotangents by 0.
inline void hide_from(int64_t n, float* row, float value) {
  if (n >= block) return;
  Ints lane;
  for (int32_t i = 0; i < width; ++i) lane[i] = i;
  for (int64_t j = 0; j < block; j += width, lane += static_cast<int32_t>(width))
    store(row + j, lane < static_cast<int32_t>(n) ? load(row + j) : broadcast(value));
}

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

inline float scale_of(const AttentionShape& shape) {
  return 1.0f / __builtin_sqrtf(static_cast<float>(shape.head_size));
}

/// One block of queries against one block of keys: updates the running maximum and sum of each row and the
/// output.
void attend_block(const AttentionShape& shape, const AttentionBuffers& buffers, int64_t first_query,
                  int64_t first_key, float* out, float* maximum, float* sum) {
  const int64_t queries = smaller(block, shape.length - first_query);
  const int64_t keys = smaller(block, shape.length - first_key);
  float* const scores = buffers.scores;
  gemm_small(queries, block, shape.head_size, buffers.q + first_query * buffers.columns, buffers.columns, 1,
             buffers.k_transposed + first_key, buffers.rows, scores, block, false);
  for (int64_t i = 0; i < queries; ++i) {
    float* const row = scores + i * block;
    hide_from(visible(first_query + i, first_key), row, -infinity);
    const float largest = row_maximum(block, row);
    const float shift = largest > maximum[i] || largest != largest ? largest : maximum[i];
    const float rescale = exp(broadcast(maximum[i] - shift))[0];
    sum[i] = sum[i] * rescale + exp_and_sum(block, row, shift, row);
    maximum[i] = shift;
    for (int64_t d = 0; d < buffers.columns; ++d) out[i * buffers.columns + d] *= rescale;
  }
  gemm_small(queries, buffers.columns, keys, scores, block, 1, buffers.v + first_key * buffers.columns,
             buffers.columns, out, buffers.columns, true);
}

void attention(const AttentionShape& shape, const float* q, const float* k, const float* v, float* y,
               float* log_sum_exp_out, float* scratch) {
  const AttentionBuffers buffers(shape.length, shape.head_size, scratch);
  const float scale = scale_of(shape);
  copy_rows(shape, q, shape.row, scale, buffers.q, buffers.rows, buffers.columns);
  copy_rows(shape, k, shape.row, 1.0f, buffers.k, buffers.rows, buffers.columns);
  transpose_rows(buffers.k, buffers.k_transposed, buffers.rows, buffers.columns);
  copy_rows(shape, v, shape.row, 1.0f, buffers.v, buffers.rows, buffers.columns);

  float* const out = buffers.d_v;
  for (int64_t first_query = 0; first_query < shape.length; first_query += block) {
    float maximum[block], sum[block];
    for (int64_t i = 0; i < block; ++i) {
      maximum[i] = -infinity;
      sum[i] = 0;
    }
    for (int64_t i = 0; i < block * buffers.columns; ++i) out[i] = 0;
    for (int64_t first_key = 0; first_key <= first_query; first_key += block)
      attend_block(shape, buffers, first_query, first_key, out, maximum, sum);

    for (int64_t i = 0; i < smaller(block, shape.length - first_query); ++i) {
      const float factor = 1.0f / sum[i];
      float* const to = y + (first_query + i) * shape.y_row;
      for (int64_t d = 0; d < shape.head_size; ++d) to[d] = out[i * buffers.columns + d] * factor;
      if (log_sum_exp_out) log_sum_exp_out[first_query + i] = maximum[i] + __builtin_logf(sum[i]);
    }
  }
}

/// Turns the block's scores into probabilities P, and d_scores from dP into dS = P * (dP - delta).
void differentiate_scores(const AttentionShape& shape, const AttentionBuffers& buffers,
                          const float* log_sum_exp_in, int64_t first_query, int64_t first_key) {
  for (int64_t i = 0; i < smaller(block, shape.length - first_query); ++i) {
    float *const p = buffers.scores + i * block, *const d = buffers.d_scores + i * block;
    const int64_t n = visible(first_query + i, first_key);
    hide_from(n, p, -infinity);
    scaled_exp(block, p, log_sum_exp_in[first_query + i], 1.0f, p, false);
    const float delta = buffers.delta[first_query + i];
    for (int64_t j = 0; j < block; ++j) d[j] = p[j] * (d[j] - delta);
    hide_from(n, d, 0.0f);
  }
}

/// rows [t0, t1) of a padded buffer to strided memory, times `factor`.
void put_rows(const AttentionShape& shape, const float* from, int64_t columns, float factor, float* to,
              int64_t count, bool add) {
  for (int64_t t = 0; t < count; ++t)
    for (int64_t d = 0; d < shape.head_size; ++d) {
      const float value = factor * from[t * columns + d];
      float* const out = to + t * shape.row + d;
      *out = add ? *out + value : value;
    }
}

void attention_pullback(const AttentionShape& shape, const float* q, const float* k, const float* v,
                        const float* y, const float* log_sum_exp_in, const float* d_y, float* d_q, float* d_k,
                        float* d_v, bool add, float* scratch) {
  const AttentionBuffers buffers(shape.length, shape.head_size, scratch);
  const int64_t rows = buffers.rows, columns = buffers.columns;
  const float scale = scale_of(shape);
  copy_rows(shape, q, shape.row, scale, buffers.q, rows, columns);
  copy_rows(shape, v, shape.row, 1.0f, buffers.v, rows, columns);
  transpose_rows(buffers.v, buffers.v_transposed, rows, columns);
  copy_rows(shape, k, shape.row, 1.0f, buffers.k, rows, columns);
  transpose_rows(buffers.k, buffers.k_transposed, rows, columns);
  copy_rows(shape, d_y, shape.y_row, 1.0f, buffers.d_out, rows, columns);
  for (int64_t t = 0; t < shape.length; ++t)
    buffers.delta[t] = dot(shape.head_size, y + t * shape.y_row, d_y + t * shape.y_row);
  for (int64_t i = 0; i < rows * columns; ++i) buffers.d_q[i] = 0;

  for (int64_t first_key = 0; first_key < shape.length; first_key += block) {
    const int64_t keys = smaller(block, shape.length - first_key);
    for (int64_t i = 0; i < block * columns; ++i) buffers.d_k[i] = buffers.d_v[i] = 0;
    for (int64_t first_query = first_key; first_query < shape.length; first_query += block) {
      const int64_t queries = smaller(block, shape.length - first_query);
      const float *const q_block = buffers.q + first_query * columns, *const d_block = buffers.d_out +
                                                                                       first_query * columns;
      gemm_small(queries, block, shape.head_size, q_block, columns, 1, buffers.k_transposed + first_key, rows,
                 buffers.scores, block, false);
      gemm_small(queries, block, shape.head_size, d_block, columns, 1, buffers.v_transposed + first_key, rows,
                 buffers.d_scores, block, false);
      differentiate_scores(shape, buffers, log_sum_exp_in, first_query, first_key);
      gemm_small(keys, columns, queries, buffers.scores, 1, block, d_block, columns, buffers.d_v, columns,
                 true);
      gemm_small(keys, columns, queries, buffers.d_scores, 1, block, q_block, columns, buffers.d_k, columns,
                 true);
      gemm_small(queries, columns, keys, buffers.d_scores, block, 1, buffers.k + first_key * columns, columns,
                 buffers.d_q + first_query * columns, columns, true);
    }
    put_rows(shape, buffers.d_k, columns, 1.0f, d_k + first_key * shape.row, keys, add);
    put_rows(shape, buffers.d_v, columns, 1.0f, d_v + first_key * shape.row, keys, add);
  }
  put_rows(shape, buffers.d_q, columns, scale, d_q, shape.length, add);
}
