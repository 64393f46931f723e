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

/// Turns rows [0, keys) of one vector of columns from scores to exponentials and updates maximum, sum and
/// rescale. All lanes see the keys before `masked`, a multiple of 4; then lane 0 sees one more, lane 1 two
/// ...
void exponentiate(const QueryTile& t, int64_t column, int64_t keys, int64_t masked, float scale) {
  float* const scores = t.scores + column;
  const Ints lane = lane_numbers();
  const auto hidden = [&](int64_t key) { return lane < static_cast<int32_t>(key - masked); };
  const Floats before = load(t.maximum + column);
  Floats largest[4] = {before, before, before, before};
  for (int64_t key = 0; key < masked; key += 4) {
    for (int i = 0; i < 4; ++i) {
      const Floats score = load(scores + (key + i) * tile);
      largest[i] = largest[i] > score ? largest[i] : score;
    }
  }
  for (int64_t key = masked; key < keys; ++key) {
    const Floats score = load(scores + key * tile);
    largest[0] = hidden(key) || largest[0] > score ? largest[0] : score;
  }
  for (int i = 1; i < 4; ++i) largest[0] = largest[0] > largest[i] ? largest[0] : largest[i];

  const Floats factor = broadcast(scale * log2_e), shift = largest[0] * factor;
  const Floats rescale = exp2(before * factor - shift);
  Floats sum = load(t.sum + column) * rescale;
  for (int64_t key = 0; key < masked; ++key) {
    const Floats e = exp2(load(scores + key * tile) * factor - shift);
    store(scores + key * tile, e);
    sum += e;
  }
  for (int64_t key = masked; key < keys; ++key) {
    const Floats e = exp2(load(scores + key * tile) * factor - shift);
    const Floats visible = hidden(key) ? Floats{} : e;
    store(scores + key * tile, visible);
    sum += visible;
  }
  store(t.maximum + column, largest[0]);
  store(t.sum + column, sum);
  store(t.rescale + column, rescale);
}

/// All queries of the tile against `tile` keys that all of them see.
void attend_block(const AttentionShape& shape, const QueryTile& t, int64_t columns, const float* k,
                  const float* v, bool first) {
  const int64_t head_size = shape.head_size, row = shape.row;
  product(tile, columns, head_size, k, row, 1, t.q, tile, {t.scores, tile, false, nullptr},
          {k + tile * row, row, head_size});
  for (int64_t j = 0; j < columns; j += width) exponentiate(t, j, tile, tile, scale_of(shape));
  product(head_size, columns, tile, v, 1, row, t.scores, tile,
          {t.out, tile, false, first ? nullptr : t.rescale}, {v + tile * row, row, head_size});
}

/// The queries against the keys of their own positions: in steps of one vector, so that little is computed
/// that no query sees.
void attend_diagonal(const AttentionShape& shape, const QueryTile& t, int64_t queries, const float* k,
                     const float* v, bool first, const Ahead& y) {
  const int64_t head_size = shape.head_size, row = shape.row, columns = round_up(queries, width);
  for (int64_t j = 0; j < columns; j += width) {
    product(smaller(width, queries - j), columns - j, head_size, k + j * row, row, 1, t.q + j, tile,
            {t.scores + j * tile + j, tile, false, nullptr}, y.from(j));
  }
  for (int64_t j = 0; j < columns; j += width)
    exponentiate(t, j, smaller(j + width, queries), j, scale_of(shape));
  for (int64_t j = 0; j < columns; j += width) {
    product(head_size, columns - j, smaller(width, queries - j), v + j * row, 1, row, t.scores + j * tile + j,
            tile, {t.out + j, tile, j > 0, first || j > 0 ? nullptr : t.rescale});
  }
}

int64_t attention_scratch(int64_t head_size) { return QueryTile::size(head_size); }

void attention(const AttentionShape& shape, int64_t first_query, const float* q, const float* k,
               const float* v, float* y, float* log_sum_exp_out, float* scratch) {
  const int64_t head_size = shape.head_size, queries = smaller(tile, shape.length - first_query);
  const int64_t columns = round_up(queries, width);
  const QueryTile t(head_size, scratch);
  transpose_tile(queries, head_size, q + first_query * shape.row, shape.row, t.q, tile, nullptr, true);
  for (int64_t i = 0; i < columns; ++i) {
    t.maximum[i] = -infinity;
    t.sum[i] = 0;
  }

  for (int64_t key = 0; key < first_query; key += tile)
    attend_block(shape, t, columns, k + key * shape.row, v + key * shape.row, key == 0);
  attend_diagonal(shape, t, queries, k + first_query * shape.row, v + first_query * shape.row,
                  first_query == 0, {y + first_query * shape.y_row, shape.y_row, head_size, true});

  for (int64_t j = 0; j < columns; j += width) store(t.rescale + j, broadcast(1.0f) / load(t.sum + j));
  transpose_tile(head_size, queries, t.out, tile, y + first_query * shape.y_row, shape.y_row, t.rescale,
                 false);
  if (!log_sum_exp_out) return;
  for (int64_t i = 0; i < queries; ++i)
    log_sum_exp_out[first_query + i] = t.maximum[i] * scale_of(shape) + __builtin_logf(t.sum[i]);
}
