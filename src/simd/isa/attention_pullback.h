// The pullback of causal attention, one tile of queries against one tile of keys at a time. Each lane of a
// vector is one key: probabilities come from the log-sum-exp that the forward kept, so no row is looked at
// twice.

/// Rows of a head as a product's B: in place, or copied and padded where the last vector of a row would reach
/// beyond it.
struct DenseRows {
  const float* data;
  int64_t row;

  DenseRows(int64_t rows, int64_t head_size, const float* from, int64_t from_row, float* memory)
      : data(from), row(from_row) {
    const int64_t padded = round_up(head_size, width);
    if (padded == head_size) return;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t d = 0; d < head_size; ++d) memory[i * padded + d] = from[i * from_row + d];
      for (int64_t d = head_size; d < padded; ++d) memory[i * padded + d] = 0;
    }
    data = memory;
    row = padded;
  }
};

/// A tile of keys and what a tile of queries contributes to it.
struct KeyTile {
  int64_t padded;    ///< head_size, in whole vectors
  float *k, *v;      ///< [head_size, tile keys]
  float *p, *d_s;    ///< [tile queries, tile keys]: probabilities, and the cotangents of the scores
  float *d_k, *d_v;  ///< [tile keys, padded]
  float* copies[3];  ///< of rows of k, q and d_y, where their size is no multiple of the vector length

  static int64_t size(int64_t head_size) {
    return (2 * head_size + 2 * tile + 5 * round_up(head_size, width)) * tile;
  }
  KeyTile(int64_t head_size, float* memory)
      : padded(round_up(head_size, width)),
        k(memory),
        v(k + head_size * tile),
        p(v + head_size * tile),
        d_s(p + tile * tile),
        d_k(d_s + tile * tile),
        d_v(d_k + tile * padded) {
    for (int i = 0; i < 3; ++i) copies[i] = d_v + (i + 1) * tile * padded;
  }
};

/// Transposes keys and values.
int64_t load_keys(const AttentionGradient& head, const KeyTile& t, int64_t first_key) {
  const AttentionShape& shape = head.shape;
  const int64_t keys = smaller(tile, shape.length - first_key);
  const int64_t row = shape.k_row, first = first_key * row;
  transpose_tile(keys, shape.head_size, head.k + first, row, t.k, tile, nullptr, true);
  transpose_tile(keys, shape.head_size, head.v + first, row, t.v, tile, nullptr, true);
  return keys;
}

/// Scores and d_y v^T become P and scale P (d_y v^T - delta), for keys [from, visible) of row i; the rest 0.
/// A query that sees one key has P = 1 whatever its score: exactly 0, not what rounding leaves of a
/// difference.
void differentiate_row(const AttentionGradient& head, const KeyTile& t, int64_t query, int64_t i,
                       int64_t from, int64_t visible, int64_t keys) {
  const AttentionShape& shape = head.shape;
  const float scale = scale_of(shape);
  const Floats factor = broadcast(scale * log2_e), shift = broadcast(head.log_sum_exp[query] * log2_e);
  const Floats delta = broadcast(head.delta[query]);
  const float d_scale = query == 0 || shape.window == 1 ? 0.0f : scale;
  const Ints lane = lane_numbers();
  float *const p = t.p + i * tile, *const d_s = t.d_s + i * tile;
  int64_t j = 0;
  const auto masked = [&](int64_t end) {
    for (; j < end; j += width) {
      Ints seen = lane < static_cast<int32_t>(visible - j);
      if (from > j) seen &= lane >= static_cast<int32_t>(from - j);
      const Floats e = seen ? exp2(load(p + j) * factor - shift) : Floats{};
      store(p + j, e);
      store(d_s + j, seen ? e * d_scale * (load(d_s + j) - delta) : Floats{});
    }
  };
  masked(smaller(from, keys));
  for (; j + width <= visible; j += width) {
    const Floats e = exp2(load(p + j) * factor - shift);
    store(p + j, e);
    store(d_s + j, e * d_scale * (load(d_s + j) - delta));
  }
  masked(keys);
}

/// Rows to fetch while a block is worked on, in the order of its products.
struct Upcoming {
  Ahead scores, d_scores, d_v, d_k, d_q;
};

/// One block: `queries` from first_query on against `keys` from first_key on. On the diagonal it goes in
/// steps of one vector, so that little is computed that no query sees.
struct Block {
  int64_t first_query, first_key, queries, keys, step;
  bool diagonal;

  Block(const AttentionShape& shape, int64_t query, int64_t key)
      : first_query(query),
        first_key(key),
        queries(smaller(tile, shape.length - query)),
        keys(smaller(tile, shape.length - key)),
        step(query == key ? width : tile),
        diagonal(query == key) {}
  /// Keys that the queries of the step at i see, and queries that see the keys of the step at j: from this
  /// one on.
  int64_t visible(int64_t i) const { return diagonal ? smaller(i + step, keys) : keys; }
  int64_t first_to_see(int64_t j) const { return diagonal ? j : 0; }
};

/// P and the cotangents of the scores.
void differentiate_scores(const AttentionGradient& head, const KeyTile& t, const Block& block,
                          const Upcoming& upcoming) {
  const int64_t head_size = head.shape.head_size, row = head.shape.q_row, y_row = head.shape.y_row;
  const float *const q = head.q + block.first_query * row, *const d_y = head.d_y + block.first_query * y_row;
  for (int64_t i = 0; i < block.queries; i += block.step) {
    const int64_t n = smaller(block.step, block.queries - i), columns = round_up(block.visible(i), width);
    product(n, columns, head_size, q + i * row, row, 1, t.k, tile, {t.p + i * tile, tile, false, nullptr},
            upcoming.scores.from(i));
    product(n, columns, head_size, d_y + i * y_row, y_row, 1, t.v, tile,
            {t.d_s + i * tile, tile, false, nullptr}, upcoming.d_scores.from(i));
  }
  for (int64_t i = 0; i < block.queries; ++i) {
    const int64_t query = block.first_query + i, from = query + 1 - head.shape.window - block.first_key;
    differentiate_row(head, t, query, i, from > 0 ? from : 0, block.diagonal ? i + 1 : block.keys,
                      block.keys);
  }
}

/// d_v and d_k = or += P^T d_y and d_s^T q. The block on the diagonal is the first of a head.
void add_to_keys(const AttentionGradient& head, const KeyTile& t, const Block& block, bool add,
                 const Upcoming& upcoming) {
  const int64_t head_size = head.shape.head_size, row = head.shape.q_row, y_row = head.shape.y_row;
  const DenseRows d_y(block.queries, head_size, head.d_y + block.first_query * y_row, y_row, t.copies[1]);
  const DenseRows q(block.queries, head_size, head.q + block.first_query * row, row, t.copies[2]);
  for (int64_t j = 0; j < block.keys; j += block.step) {
    const int64_t n = smaller(block.step, block.keys - j), first = block.first_to_see(j);
    const int64_t depth = block.queries - first, corner = first * tile + j;
    product(n, t.padded, depth, t.p + corner, 1, tile, d_y.data + first * d_y.row, d_y.row,
            {t.d_v + j * t.padded, t.padded, add, nullptr}, upcoming.d_v.from(j));
    product(n, t.padded, depth, t.d_s + corner, 1, tile, q.data + first * q.row, q.row,
            {t.d_k + j * t.padded, t.padded, add, nullptr}, upcoming.d_k.from(j));
  }
}

/// d_q += d_s k, in place: the first tile of keys stores, unless there is something to add to.
void add_to_queries(const AttentionGradient& head, const KeyTile& t, const Block& block,
                    const Upcoming& upcoming) {
  const AttentionShape& shape = head.shape;
  const int64_t head_size = shape.head_size, row = shape.q_row;
  const bool add = head.add_q || block.first_key > first_seen(shape, block.first_query);
  const DenseRows k(block.keys, head_size, head.k + block.first_key * shape.k_row, shape.k_row, t.copies[0]);
  for (int64_t i = 0; i < block.queries; i += block.step) {
    product(smaller(block.step, block.queries - i), head_size, block.visible(i), t.d_s + i * tile, tile, 1,
            k.data, k.row, {head.d_q + (block.first_query + i) * row, row, add, nullptr},
            upcoming.d_q.from(i));
  }
}

/// delta[i] = the sum of d_y y at position i.
void attention_delta(const AttentionShape& shape, int64_t first_query, const float* y, const float* d_y,
                     float* delta) {
  for (int64_t i = first_query; i < smaller(first_query + tile, shape.length); ++i)
    delta[i] = dot(shape.head_size, y + i * shape.y_row, d_y + i * shape.y_row);
}

int64_t attention_pullback_scratch(int64_t head_size) { return KeyTile::size(head_size); }

void put_rows(const AttentionShape& shape, const float* from, int64_t padded, float* to, bool add,
              int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) {
    float* const out = to + i * shape.k_row;
    const float* const in = from + i * padded;
    if (add) {
      for (int64_t d = 0; d < shape.head_size; ++d) out[d] += in[d];
    } else {
      for (int64_t d = 0; d < shape.head_size; ++d) out[d] = in[d];
    }
  }
}

/// The next of the heads that share k and v.
void advance(AttentionGradient& head) {
  head.q += head.shape.head_size;
  head.d_q += head.shape.head_size;
  head.d_y += head.shape.head_size;
  head.log_sum_exp += head.shape.length;
  head.delta += head.shape.length;
}

/// The blocks of one head against a tile of keys.
void differentiate_keys(const AttentionGradient& head, const KeyTile& t, int64_t first_key, bool to_queries,
                        bool add) {
  const AttentionShape& shape = head.shape;
  const int64_t q_row = shape.q_row, k_row = shape.k_row, size = shape.head_size;
  const int64_t end = smaller(shape.length, first_key + tile - 1 + shape.window);
  for (int64_t query = first_key; query < end; query += tile) {
    const Block block(shape, query, first_key);
    const int64_t after = query + tile;
    Upcoming upcoming;
    if (to_queries) upcoming.d_v = {head.d_q + query * q_row, q_row, size, true};
    if (after < end) {
      upcoming.scores = {head.q + after * q_row, q_row, size};
      upcoming.d_scores = {head.d_y + after * shape.y_row, shape.y_row, size};
    } else {
      upcoming.scores = {head.d_k + first_key * k_row, k_row, size, true};
      upcoming.d_scores = {head.d_v + first_key * k_row, k_row, size, true};
      upcoming.d_k = {head.k + (first_key + tile) * k_row, k_row, size};
      upcoming.d_q = {head.v + (first_key + tile) * k_row, k_row, size};
    }
    differentiate_scores(head, t, block, upcoming);
    add_to_keys(head, t, block, add || !block.diagonal, upcoming);
    if (to_queries) add_to_queries(head, t, block, upcoming);
  }
}

void attention_pullback_keys(const AttentionGradient& first, int64_t heads, int64_t first_key,
                             bool to_queries, float* scratch) {
  const AttentionShape& shape = first.shape;
  const KeyTile t(shape.head_size, scratch);
  const int64_t keys = load_keys(first, t, first_key);
  AttentionGradient head = first;
  for (int64_t i = 0; i < heads; ++i, advance(head))
    differentiate_keys(head, t, first_key, to_queries, i > 0);
  put_rows(shape, t.d_k, t.padded, first.d_k + first_key * shape.k_row, first.add_k, keys);
  put_rows(shape, t.d_v, t.padded, first.d_v + first_key * shape.k_row, first.add_v, keys);
}

void attention_pullback_queries(const AttentionGradient& head, int64_t first_query, float* scratch) {
  const KeyTile t(head.shape.head_size, scratch);
  for (int64_t key = first_seen(head.shape, first_query); key <= first_query; key += tile) {
    load_keys(head, t, key);
    const Block block(head.shape, first_query, key);
    differentiate_scores(head, t, block, {});
    add_to_queries(head, t, block, {});
  }
}
