// Causal attention, one tile of queries of one head at a time. Each lane of a vector is one query: maxima,
// sums and rescaling are lane by lane, keys and values are read in place, and only the queries of the tile
// are transposed on the way in, and the output on the way out.
constexpr float log2_e = 1.44269504f;

inline float scale_of(const AttentionShape& shape) {
  return 1.0f / __builtin_sqrtf(static_cast<float>(shape.head_size));
}

/// A tile of queries against the keys so far. Columns of all matrices are queries; rows lie `tile` apart.
struct QueryTile {
  float* q;        ///< [head_size, tile]
  float* scores;   ///< [tile keys, tile]; then their exponentials
  float* out;      ///< [head_size, tile]
  float* maximum;  ///< [tile] each; of the scores
  float* sum;      ///< of the exponentials
  float* rescale;  ///< what the newest maximum makes of earlier sums

  static int64_t size(int64_t head_size) { return (2 * head_size + tile + 3) * tile; }
  QueryTile(int64_t head_size, float* memory)
      : q(memory),
        scores(q + head_size * tile),
        out(scores + tile * tile),
        maximum(out + head_size * tile),
        sum(maximum + tile),
        rescale(sum + tile) {}
};

/// Which rows of a block, its keys, the lanes of one vector of columns see.
struct SeenRows {
  int64_t count;
  int64_t diagonal;  ///< of the rows from here on, a multiple of 4, lane 0 sees one, lane 1 two, ...
  int64_t window;    ///< lane i sees none before row window + i; may be negative
  int64_t clear;     ///< all lanes see the rows from here, a multiple of 4, up to `diagonal`

  SeenRows(int64_t count, int64_t diagonal, int64_t window)
      : count(count), diagonal(diagonal), window(window), clear(0) {
    if (windowed()) clear = smaller(round_up(window + width - 1, 4), diagonal);
  }
  bool windowed() const { return window > 1 - width; }
};

/// Turns the rows of one vector of columns from scores to exponentials and updates maximum, sum and rescale.
template <bool Windowed>
void exponentiate_rows(const QueryTile& t, int64_t column, const SeenRows& rows, float scale) {
  float* const scores = t.scores + column;
  const Ints lane = lane_numbers();
  const int64_t clear = Windowed ? rows.clear : 0;
  const auto hidden = [&](int64_t key) {
    const Ints later = lane < static_cast<int32_t>(key - rows.diagonal);
    if constexpr (Windowed) {
      return later | (lane > static_cast<int32_t>(key - rows.window));
    } else {
      return later;
    }
  };
  const auto each_masked = [&](auto visit) {
    for (int64_t key = 0; key < clear; ++key) visit(key);
    for (int64_t key = rows.diagonal; key < rows.count; ++key) visit(key);
  };
  const Floats before = load(t.maximum + column);
  Floats largest[4] = {before, before, before, before};
  for (int64_t key = clear; key < rows.diagonal; key += 4) {
    for (int i = 0; i < 4; ++i) {
      const Floats score = load(scores + (key + i) * tile);
      largest[i] = largest[i] > score ? largest[i] : score;
    }
  }
  each_masked([&](int64_t key) {
    const Floats score = load(scores + key * tile);
    largest[0] = hidden(key) || largest[0] > score ? largest[0] : score;
  });
  for (int i = 1; i < 4; ++i) largest[0] = largest[0] > largest[i] ? largest[0] : largest[i];

  const Floats factor = broadcast(scale * log2_e), shift = largest[0] * factor;
  const Floats rescale = exp2(before * factor - shift);
  Floats sum = load(t.sum + column) * rescale;
  for (int64_t key = clear; key < rows.diagonal; ++key) {
    const Floats e = exp2(load(scores + key * tile) * factor - shift);
    store(scores + key * tile, e);
    sum += e;
  }
  each_masked([&](int64_t key) {
    const Floats e = exp2(load(scores + key * tile) * factor - shift);
    const Floats visible = hidden(key) ? Floats{} : e;
    store(scores + key * tile, visible);
    sum += visible;
  });
  store(t.maximum + column, largest[0]);
  store(t.sum + column, sum);
  store(t.rescale + column, rescale);
}

void exponentiate(const QueryTile& t, int64_t column, const SeenRows& rows, float scale) {
  if (rows.windowed()) {
    exponentiate_rows<true>(t, column, rows, scale);
  } else {
    exponentiate_rows<false>(t, column, rows, scale);
  }
}

/// The first tile of keys that the queries from this one on see.
inline int64_t first_seen(const AttentionShape& shape, int64_t query) {
  const int64_t first = query - shape.window + 1;
  return first > 0 ? first / tile * tile : 0;
}

/// All queries of the tile against the `tile` keys before it, from k and v on; query 0 sees none before row
/// `window`.
void attend_block(const AttentionShape& shape, const QueryTile& t, int64_t columns, const float* k,
                  const float* v, int64_t window, bool first) {
  const int64_t head_size = shape.head_size, row = shape.k_row;
  product(tile, columns, head_size, k, row, 1, t.q, tile, {t.scores, tile, false, nullptr},
          {k + tile * row, row, head_size});
  for (int64_t j = 0; j < columns; j += width) exponentiate(t, j, {tile, tile, window + j}, scale_of(shape));
  product(head_size, columns, tile, v, 1, row, t.scores, tile,
          {t.out, tile, false, first ? nullptr : t.rescale}, {v + tile * row, row, head_size});
}

/// The queries against the keys of their own positions: in steps of one vector, so that little is computed
/// that no query sees.
void attend_diagonal(const AttentionShape& shape, const QueryTile& t, int64_t queries, const float* k,
                     const float* v, bool first, const Ahead& y) {
  const int64_t head_size = shape.head_size, row = shape.k_row, columns = round_up(queries, width);
  for (int64_t j = 0; j < columns; j += width) {
    product(smaller(width, queries - j), columns - j, head_size, k + j * row, row, 1, t.q + j, tile,
            {t.scores + j * tile + j, tile, false, nullptr}, y.from(j));
  }
  for (int64_t j = 0; j < columns; j += width)
    exponentiate(t, j, {smaller(j + width, queries), j, j + 1 - shape.window}, scale_of(shape));
  for (int64_t j = 0; j < columns; j += width) {
    product(head_size, columns - j, smaller(width, queries - j), v + j * row, 1, row, t.scores + j * tile + j,
            tile, {t.out + j, tile, j > 0, first || j > 0 ? nullptr : t.rescale});
  }
}

int64_t attention_scratch(int64_t head_size) { return QueryTile::size(head_size); }

void attention(const AttentionShape& shape, int64_t first_query, const float* q, const float* k,
               const float* v, float* y, float* log_sum_exp_out, float* scratch) {
  const int64_t head_size = shape.head_size, queries = smaller(tile, shape.length - first_query);
  const int64_t columns = round_up(queries, width), row = shape.k_row, start = first_seen(shape, first_query);
  const QueryTile t(head_size, scratch);
  transpose_tile(queries, head_size, q + first_query * shape.q_row, shape.q_row, t.q, tile, nullptr, true);
  for (int64_t i = 0; i < columns; ++i) {
    t.maximum[i] = -1e38f;  // finite: a query may see none of the first block, and less itself is 0
    t.sum[i] = 0;
  }

  for (int64_t key = start; key < first_query; key += tile) {
    attend_block(shape, t, columns, k + key * row, v + key * row, first_query - key + 1 - shape.window,
                 key == start);
  }
  attend_diagonal(shape, t, queries, k + first_query * row, v + first_query * row, first_query == start,
                  {y + first_query * shape.y_row, shape.y_row, head_size, true});

  for (int64_t j = 0; j < columns; j += width) store(t.rescale + j, broadcast(1.0f) / load(t.sum + j));
  transpose_tile(head_size, queries, t.out, tile, y + first_query * shape.y_row, shape.y_row, t.rescale,
                 false);
  if (!log_sum_exp_out) return;
  for (int64_t i = 0; i < queries; ++i)
    log_sum_exp_out[first_query + i] = t.maximum[i] * scale_of(shape) + __builtin_logf(t.sum[i]);
}
