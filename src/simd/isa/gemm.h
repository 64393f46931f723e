// Register-blocked product of two panels. 24 accumulators of AVX-512's 32 registers, 12 of 16 elsewhere:
// enough independent chains to hide the latency of a multiply-add, with few loads for each.
constexpr int64_t tile_rows = 6;
constexpr int64_t tile_vectors = CLADTORCH_TILE_VECTORS;

template <class T, int Rows, int Vectors>
void gemm_tile_of(int64_t columns, int64_t depth, const T* a, int64_t a_row, int64_t a_depth, const T* b,
                  int64_t b_depth, T* c, int64_t c_row, bool add) {
  Vector<T> sum[Rows][Vectors] = {};
  for (int64_t p = 0; p < depth; ++p) {
    Vector<T> right[Vectors];
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) right[j] = load(b + j * lanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const Vector<T> left = broadcast(a[i * a_row]);
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) sum[i][j] += left * right[j];
    }
    a += a_depth;
    b += b_depth;
  }

  if (columns == Vectors * lanes<T>) {
    for (int i = 0; i < Rows; ++i) {
      for (int j = 0; j < Vectors; ++j) {
        T* out = c + i * c_row + j * lanes<T>;
        store(out, add ? load(out) + sum[i][j] : sum[i][j]);
      }
    }
    return;
  }
  for (int i = 0; i < Rows; ++i) {
    T row[Vectors * lanes<T>];
    for (int j = 0; j < Vectors; ++j) store(row + j * lanes<T>, sum[i][j]);
    T* out = c + i * c_row;
    for (int64_t j = 0; j < columns; ++j) out[j] = add ? out[j] + row[j] : row[j];
  }
}

template <class T>
using TileFunction = void (*)(int64_t, int64_t, const T*, int64_t, int64_t, const T*, int64_t, T*, int64_t,
                              bool);

template <class T, int Rows>
TileFunction<T> tile_with_vectors(int64_t vectors) {
#if CLADTORCH_TILE_VECTORS == 4
  if (vectors == 4) return gemm_tile_of<T, Rows, 4>;
  if (vectors == 3) return gemm_tile_of<T, Rows, 3>;
#endif
  return vectors == 2 ? gemm_tile_of<T, Rows, 2> : gemm_tile_of<T, Rows, 1>;
}

template <class T>
void gemm_tile(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t a_row, int64_t a_depth,
               const T* b, int64_t b_depth, T* c, int64_t c_row, bool add) {
  const int64_t vectors = (columns + lanes<T> - 1) / lanes<T>;
  TileFunction<T> tile;
  switch (rows) {
    case 1:
      tile = tile_with_vectors<T, 1>(vectors);
      break;
    case 2:
      tile = tile_with_vectors<T, 2>(vectors);
      break;
    case 3:
      tile = tile_with_vectors<T, 3>(vectors);
      break;
    case 4:
      tile = tile_with_vectors<T, 4>(vectors);
      break;
    case 5:
      tile = tile_with_vectors<T, 5>(vectors);
      break;
    default:
      tile = tile_with_vectors<T, 6>(vectors);
      break;
  }
  tile(columns, depth, a, a_row, a_depth, b, b_depth, c, c_row, add);
}

/// A whole small product from unpacked operands; B readable as in GemmTile.
inline void gemm_small(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t a_row,
                       int64_t a_depth, const float* b, int64_t b_depth, float* c, int64_t c_row, bool add) {
  constexpr int64_t tile_columns = tile_vectors * width;
  for (int64_t j = 0; j < columns; j += tile_columns) {
    const int64_t n = columns - j < tile_columns ? columns - j : tile_columns;
    for (int64_t i = 0; i < rows; i += tile_rows) {
      const int64_t m = rows - i < tile_rows ? rows - i : tile_rows;
      gemm_tile<float>(m, n, depth, a + i * a_row, a_row, a_depth, b + j, b_depth, c + i * c_row + j, c_row,
                       add);
    }
  }
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

void transpose(int64_t lines, int64_t depth, const float* from, int64_t line, float* to, int64_t panel) {
  // Sixteen elements of a line are one cache line; all lines of a panel pass before the next sixteen.
  for (int64_t p0 = 0; p0 < depth; p0 += 16) {
    const int64_t p1 = p0 + 16 < depth ? p0 + 16 : depth;
    int64_t i = 0;
    for (; i + 4 <= lines; i += 4) {
      int64_t p = p0;
      for (; p + 4 <= p1; p += 4) transpose_quad(from + i * line + p, line, to + p * panel + i, panel);
      for (; p < p1; ++p)
        for (int64_t j = i; j < i + 4; ++j) to[p * panel + j] = from[j * line + p];
    }
    for (; i < lines; ++i)
      for (int64_t p = p0; p < p1; ++p) to[p * panel + i] = from[i * line + p];
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
