// The products of attention: tiles of C in registers, A broadcast element by element from wherever it lies,
// B in vectors. A may therefore be any strided matrix, so keys and values are read where they are.
constexpr int64_t tile = 64;  // queries and keys of a block; scores and output of one stay in the caches

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Rows of a register tile: with the accumulators, one row of B and one broadcast, 32 or 16 registers are
/// full. Never so few that the latency of a multiply-add shows.
constexpr int product_rows(int vectors) {
  const int most = CLADTORCH_TILE_VECTORS == 4 ? 16 : 8, rows = 6 * CLADTORCH_TILE_VECTORS / vectors;
  return vectors == 1 ? most : rows;
}

/// Rows that a later product reads: one is fetched into the second-level cache for each row of C. Rows of a
/// head lie so far apart that no hardware prefetcher follows, and in few sets of the caches.
struct Ahead {
  const float* rows = nullptr;
  int64_t row = 0, length = 0;
  bool write = false;

  Ahead from(int64_t i) const { return {rows ? rows + i * row : nullptr, row, length, write}; }
  void fetch(int64_t first, int64_t count) const {
    if (!rows) return;
    for (int64_t i = first; i < first + count; ++i)
      for (int64_t d = 0; d < length; d += 16) {
        if (write) {
          __builtin_prefetch(rows + i * row + d, 1, 2);
        } else {
          __builtin_prefetch(rows + i * row + d, 0, 2);
        }
      }
  }
};

/// What becomes of a product's tile of C.
struct Result {
  float* c;
  int64_t row;           ///< stride between rows of c
  bool add;              ///< to what is there
  const float* factors;  ///< of what is there, one for each column; null for 1

  Result at(int64_t i, int64_t j) const {
    return {c + i * row + j, row, add, factors ? factors + j : nullptr};
  }
};

template <int Rows, int Vectors>
__attribute__((noinline)) void product_tile(int64_t columns, int64_t depth, const float* a, int64_t a_row,
                                            int64_t a_depth, const float* b, int64_t b_depth,
                                            const Result& result) {
  Floats sum[Rows][Vectors] = {};
  const float* quads[(Rows + 3) / 4];  // every fourth row: the others are within reach of an addressing mode
#pragma GCC unroll 16
  for (int i = 0; i < Rows; i += 4) quads[i / 4] = a + i * a_row;
  for (int64_t p = 0; p < depth; ++p) {
    Floats right[Vectors];
#pragma GCC unroll 16
    for (int j = 0; j < Vectors; ++j) right[j] = load(b + j * width);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Floats left = broadcast(quads[i / 4][i % 4 * a_row]);
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) sum[i][j] += left * right[j];
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i += 4) quads[i / 4] += a_depth;
    b += b_depth;
  }

  if (columns < Vectors * width) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      float row[Vectors * width];
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) store(row + j * width, sum[i][j]);
      float* const out = result.c + i * result.row;
      for (int64_t j = 0; j < columns; ++j) out[j] = result.add ? out[j] + row[j] : row[j];
    }
    return;
  }
  const auto finish = [&](auto value) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < Vectors; ++j) {
        float* const out = result.c + i * result.row + j * width;
        store(out, value(sum[i][j], out, j));
      }
    }
  };
  if (result.factors) {
    finish([&](Floats x, const float* c, int j) { return x + load(c) * load(result.factors + j * width); });
  } else if (result.add) {
    finish([](Floats x, const float* c, int) { return x + load(c); });
  } else {
    finish([](Floats x, const float*, int) { return x; });
  }
}

template <int Vectors>
void product_columns(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t a_row,
                     int64_t a_depth, const float* b, int64_t b_depth, const Result& result,
                     const Ahead& ahead) {
  constexpr int full = product_rows(Vectors);
  int64_t i = 0;
  const auto tiles = [&]<int Rows>() {
    for (; i + Rows <= rows; i += Rows) {
      ahead.fetch(i, Rows);
      product_tile<Rows, Vectors>(columns, depth, a + i * a_row, a_row, a_depth, b, b_depth, result.at(i, 0));
    }
  };
  tiles.template operator()<full>();
  if constexpr (full > 8) tiles.template operator()<8>();
  if constexpr (full > 4) tiles.template operator()<4>();
  tiles.template operator()<2>();
  tiles.template operator()<1>();
}

/// C [rows, columns] = A [rows, depth] B [depth, columns]. A(i, p) is a[i * a_row + p * a_depth]; B(p, j) is
/// b[p * b_depth + j], readable up to a whole vector.
void product(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t a_row, int64_t a_depth,
             const float* b, int64_t b_depth, const Result& result, const Ahead& ahead = {}) {
  constexpr int most = CLADTORCH_TILE_VECTORS;
  for (int64_t j = 0; j < columns; j += most * width) {
    const int64_t n = columns - j < most * width ? columns - j : most * width;
    const auto run = [&]<int Vectors>() {
      product_columns<Vectors>(rows, n, depth, a, a_row, a_depth, b + j, b_depth, result.at(0, j),
                               j == 0 ? ahead : Ahead{});
    };
    switch ((n + width - 1) / width) {
      case 1:
        run.template operator()<1>();
        break;
      case 2:
        run.template operator()<2>();
        break;
#if CLADTORCH_TILE_VECTORS == 4
      case 3:
        run.template operator()<3>();
        break;
      default:
        run.template operator()<4>();
        break;
#endif
    }
  }
}
