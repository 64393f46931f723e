// Register-blocked product of two panels: the inner loop of every dense product. A tile of Rows x Vectors
// keeps up to 24 accumulators in AVX-512's 32 registers, up to 12 in the 16 of others: enough independent
// chains to hide the latency of a multiply-add, with few loads for each.
#if CLADTORCH_VECTOR_FLOATS == 16
constexpr int64_t most_rows[] = {0, 12, 12, 8, 6};
#else
constexpr int64_t most_rows[] = {0, 8, 6};
#endif
constexpr int64_t tile_vectors = CLADTORCH_TILE_VECTORS;
static_assert(sizeof(most_rows) == (tile_vectors + 1) * sizeof(int64_t));

/// The first `columns` elements of a row of sums to c.
template <class T, int Vectors>
inline void put_part(const Vector<T>* sums, int64_t columns, T* c, bool add) {
  T row[Vectors * lanes<T>];
  for (int j = 0; j < Vectors; ++j) store(row + j * lanes<T>, sums[j]);
  for (int64_t j = 0; j < columns; ++j) c[j] = add ? c[j] + row[j] : row[j];
}

template <class T, int Rows, int Vectors>
void gemm_tile_of(const GemmTile<T>& x) {
  // Rows of A in threes: one pointer each, so that addresses need no chain of additions.
  constexpr int groups = (Rows + 2) / 3;
  const T* a[groups];
#pragma GCC unroll 8
  for (int i = 0; i < groups; ++i) {
    a[i] = x.a + 3 * i * x.a_row;
    __asm__("" : "+r"(a[i]));  // keeps them apart: the compiler would derive each from the one before
  }
  const T* b = x.b;
  const char* ahead = static_cast<const char*>(x.ahead);
  const int64_t a_row = x.a_row, a_depth = x.a_depth, b_depth = x.b_depth, ahead_step = x.ahead_step;
  Vector<T> sum[Rows][Vectors] = {};
  for (int64_t p = x.depth; p > 0; --p) {
    Vector<T> right[Vectors];
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) right[j] = load(b + j * lanes<T>);
    __builtin_prefetch(ahead);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector<T> left = broadcast(a[i / 3][i % 3 * a_row]);
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) sum[i][j] += left * right[j];
    }
#pragma GCC unroll 8
    for (int i = 0; i < groups; ++i) a[i] += a_depth;
    b += b_depth;
    ahead += ahead_step;
  }

  const bool whole = x.columns == Vectors * lanes<T>;
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    T* const c = x.c + i * x.c_row;
    if (!whole) {
      put_part<T, Vectors>(sum[i], x.columns, c, x.add);
    } else if (x.stream) {
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) store_past_cache(c + j * lanes<T>, sum[i][j]);
    } else {
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j)
        store(c + j * lanes<T>, x.add ? load(c + j * lanes<T>) + sum[i][j] : sum[i][j]);
    }
  }
}

template <class T>
using TileFunction = void (*)(const GemmTile<T>&);

template <class T, int Vectors, int Rows>
inline TileFunction<T> tile_of_rows(int64_t rows) {
  if constexpr (Rows == 1) {
    return gemm_tile_of<T, 1, Vectors>;
  } else {
    return rows == Rows ? gemm_tile_of<T, Rows, Vectors> : tile_of_rows<T, Vectors, Rows - 1>(rows);
  }
}

template <class T, int Vectors>
inline TileFunction<T> tile_of(int64_t rows, int64_t vectors) {
  if constexpr (Vectors == 1) {
    return tile_of_rows<T, 1, most_rows[1]>(rows);
  } else {
    return vectors == Vectors ? tile_of_rows<T, Vectors, most_rows[Vectors]>(rows)
                              : tile_of<T, Vectors - 1>(rows, vectors);
  }
}

template <class T>
void gemm_tile(const GemmTile<T>& x) {
  tile_of<T, tile_vectors>(x.rows, (x.columns + lanes<T> - 1) / lanes<T>)(x);
}

typedef float Quad __attribute__((vector_size(16)));
typedef float UnalignedQuad __attribute__((vector_size(16), aligned(4), may_alias));

/// A 4 x 4 block, transposed in registers: 8 shuffles instead of 16 scalar loads and stores.
inline void transpose_quad(const float* from, int64_t line, float* to, int64_t panel) {
  const auto row = [&](int64_t i) -> Quad {
    return *reinterpret_cast<const UnalignedQuad*>(from + i * line);
  };
  const Quad a = row(0), b = row(1), c = row(2), d = row(3);
  const Quad ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5),
             cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const auto put = [&](int64_t p, Quad v) { *reinterpret_cast<UnalignedQuad*>(to + p * panel) = v; };
  put(0, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  put(1, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  put(2, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  put(3, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

/// Exchanges lane l of rows[i + D] with lane l + D of rows[i] wherever l and i have bit D clear.
template <int D>
inline void exchange(Floats& a, Floats& b) {
  constexpr auto low = [](int l) { return (l & D) ? static_cast<int>(width) + l - D : l; };
  constexpr auto high = [](int l) { return (l & D) ? static_cast<int>(width) + l : l + D; };
#if CLADTORCH_VECTOR_FLOATS == 16
#define CLADTORCH_LANES(f) \
  f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)
#elif CLADTORCH_VECTOR_FLOATS == 8
#define CLADTORCH_LANES(f) f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)
#else
#define CLADTORCH_LANES(f) f(0), f(1), f(2), f(3)
#endif
  const Floats old = a;
  a = __builtin_shufflevector(old, b, CLADTORCH_LANES(low));
  b = __builtin_shufflevector(old, b, CLADTORCH_LANES(high));
#undef CLADTORCH_LANES
}

/// A square of one vector by one vector, in registers: one bit of the row number after the other changes
/// places with that of the lane.
template <int D>
inline void exchange_rows(Floats (&rows)[width]) {
  if constexpr (D < width) {
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i)
      if (!(i & D)) exchange<D>(rows[i], rows[i + D]);
    exchange_rows<2 * D>(rows);
  }
}

inline void transpose_square(const float* from, int64_t line, float* to, int64_t panel) {
  Floats rows[width];
#pragma GCC unroll 16
  for (int64_t i = 0; i < width; ++i) rows[i] = load(from + i * line);
  exchange_rows<1>(rows);
#pragma GCC unroll 16
  for (int64_t i = 0; i < width; ++i) store(to + i * panel, rows[i]);
}

void transpose(int64_t lines, int64_t depth, const float* from, int64_t line, float* to, int64_t panel) {
  for (int64_t p = 0; p < depth; p += width) {
    const int64_t count = depth - p < width ? depth - p : width;
    for (int64_t i = 0; i < lines;) {
      if (count == width && lines - i >= width) {
        transpose_square(from + i * line + p, line, to + p * panel + i, panel);
        i += width;
      } else if (count == width && lines - i >= 4) {
        for (int64_t q = p; q < p + width; q += 4)
          transpose_quad(from + i * line + q, line, to + q * panel + i, panel);
        i += 4;
      } else {
        for (int64_t q = p; q < p + count; ++q) to[q * panel + i] = from[i * line + q];
        ++i;
      }
    }
  }
}

float dot(int64_t n, const float* a, const float* b) {
  Floats sum[4] = {};
  int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width)
    for (int j = 0; j < 4; ++j) sum[j] += load(a + i + j * width) * load(b + i + j * width);
  for (; i + width <= n; i += width) sum[0] += load(a + i) * load(b + i);
  if (i < n) sum[1] += load_part(a + i, n - i, 0) * load_part(b + i, n - i, 0);
  return sum_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}
