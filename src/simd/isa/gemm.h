// Register-blocked product of two panels: the inner loop of every dense product. A tile of Rows x Vectors
// keeps up to 24 accumulators in AVX-512's 32 registers, up to 12 in the 16 of others: enough independent
// chains to hide the latency of a multiply-add, with few loads for each. Of gathered rows each has its
// address in one of 16 registers.
#if CLADTORCH_VECTOR_FLOATS == 16
constexpr int64_t most_rows[] = {0, 12, 12, 8, 6}, most_gathered_rows[] = {0, 10, 10, 8, 6};
#else
constexpr int64_t most_rows[] = {0, 8, 6}, most_gathered_rows[] = {0, 8, 6};
#endif
constexpr int64_t tile_vectors = CLADTORCH_TILE_VECTORS;
static_assert(sizeof(most_rows) == (tile_vectors + 1) * sizeof(int64_t));

/// What one step of the depth multiplies, and what it adds the products to.
template <class T>
struct Step {
  using Sum = T;
  static constexpr bool gathers = true;
  static Vector<T> right(const T* b) { return load(b); }
  static Vector<T> left(T a) { return broadcast(a); }
  static void multiply_add(Vector<T> left, Vector<T> right, Vector<Sum>& sum) { sum += left * right; }
};
#if defined(__AVX512BF16__)
template <>
struct Step<BfloatPair> {
  using Sum = float;
  static constexpr bool gathers = false;
  static __m512bh right(const BfloatPair* b) { return (__m512bh)_mm512_loadu_si512(b); }
  static __m512bh left(BfloatPair a) { return (__m512bh)_mm512_set1_epi32(static_cast<int32_t>(a.bits)); }
  static void multiply_add(__m512bh left, __m512bh right, Floats& sum) {
    sum = (Floats)_mm512_dpbf16_ps((__m512)sum, left, right);
  }
};
#endif
template <class T>
using SumOf = typename Step<T>::Sum;

/// The first `columns` elements of a row of sums to c.
template <class T, int Vectors>
inline void put_part(const Vector<T>* sums, int64_t columns, T* c, bool add) {
  T row[Vectors * lanes<T>];
  for (int j = 0; j < Vectors; ++j) store(row + j * lanes<T>, sums[j]);
  for (int64_t j = 0; j < columns; ++j) c[j] = add ? c[j] + row[j] : row[j];
}

/// Which operand lies where an offset for each step of the depth says; far_a prefetches what follows in A.
enum class Gathers { none, a, far_a, b, both };
constexpr bool gathers_left(Gathers g) {
  return g == Gathers::a || g == Gathers::far_a || g == Gathers::both;
}

template <class T, int Rows, int Vectors, Gathers gathers>
void gemm_tile_of(const GemmTile<T, SumOf<T>>& x) {
  using Sum = SumOf<T>;
  constexpr int64_t step = lanes<Sum>;
  // Rows of A in threes: one pointer each, so that addresses need no chain of additions.
  constexpr int groups = (Rows + 2) / 3;
  const T* a[groups];
#pragma GCC unroll 8
  for (int i = 0; i < groups; ++i) {
    a[i] = x.a + 3 * i * x.a_row;
    __asm__("" : "+r"(a[i]));  // keeps them apart: the compiler would derive each from the one before
  }
  constexpr bool gathers_a = gathers_left(gathers);
  const T* place[Rows];
#pragma GCC unroll 16
  for (int i = 0; gathers_a && i < Rows; ++i) place[i] = x.a + x.a_places[i];
  const T* b = x.b;
  const int32_t* offset = gathers_a ? x.a_offsets : x.b_offsets;
  const int32_t* b_offset = x.b_offsets;
  const char* ahead = static_cast<const char*>(x.ahead);
  const int64_t a_row = x.a_row, a_depth = x.a_depth, b_depth = x.b_depth, ahead_step = x.ahead_step;
  Vector<Sum> sum[Rows][Vectors] = {};
  for (int64_t p = x.depth; p > 0; --p) {
    decltype(Step<T>::right(b)) right[Vectors];
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j)
      right[j] = Step<T>::right((gathers == Gathers::b      ? b + *offset
                                 : gathers == Gathers::both ? b + *b_offset
                                                            : b) +
                                j * step);
    if constexpr (gathers == Gathers::none) __builtin_prefetch(ahead, 0, 2);  // into the second-level cache
    if constexpr (gathers == Gathers::far_a) __builtin_prefetch(place[Rows - 1] + *offset + 64 / sizeof(T));
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const auto left = Step<T>::left(gathers_a ? place[i][*offset] : a[i / 3][i % 3 * a_row]);
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) Step<T>::multiply_add(left, right[j], sum[i][j]);
    }
    if constexpr (!gathers_a) {
#pragma GCC unroll 8
      for (int i = 0; i < groups; ++i) a[i] += a_depth;
    }
    if constexpr (gathers == Gathers::both) {
      ++b_offset;
    } else if constexpr (gathers != Gathers::b) {
      b += b_depth;
    }
    if constexpr (gathers != Gathers::none) {
      ++offset;
    } else {
      ahead += ahead_step;
    }
  }

  const bool whole = x.columns == Vectors * step;
  Vector<Sum> squares = {};
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    Sum* const c = x.c + (gathers_a ? x.c_places[i] : i * x.c_row);
    if (!whole) {
      put_part<Sum, Vectors>(sum[i], x.columns, c, x.add);
    } else if (gathers == Gathers::none && x.stream) {
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) store_past_cache(c + j * step, sum[i][j]);
    } else {
#pragma GCC unroll 8
      for (int j = 0; j < Vectors; ++j) {
        if (x.add) sum[i][j] += load(c + j * step);
        store(c + j * step, sum[i][j]);
      }
    }
    if (gathers != Gathers::none || !x.squares) continue;
#pragma GCC unroll 8
    for (int j = 0; j < Vectors; ++j) squares += sum[i][j] * sum[i][j];
  }
  if (gathers != Gathers::none || !x.squares) return;
  double total = 0;
  if (whole) {
    for (int64_t lane = 0; lane < step; ++lane) total += static_cast<double>(squares[lane]);
  } else {
    for (int64_t i = 0; i < Rows; ++i) {
      const Sum* const c = x.c + i * x.c_row;
      for (int64_t j = 0; j < x.columns; ++j) total += static_cast<double>(c[j]) * static_cast<double>(c[j]);
    }
  }
  *x.squares = total;
}

template <class T>
using TileFunction = void (*)(const GemmTile<T, SumOf<T>>&);

template <class T, Gathers gathers, int Vectors, int Rows>
inline TileFunction<T> tile_of_rows(int64_t rows) {
  if constexpr (Rows == 1) {
    return gemm_tile_of<T, 1, Vectors, gathers>;
  } else {
    return rows == Rows ? gemm_tile_of<T, Rows, Vectors, gathers>
                        : tile_of_rows<T, gathers, Vectors, Rows - 1>(rows);
  }
}

template <class T, Gathers gathers, int Vectors>
inline TileFunction<T> tile_of(int64_t rows, int64_t vectors) {
  constexpr int64_t most = (gathers_left(gathers) ? most_gathered_rows : most_rows)[Vectors];
  if constexpr (Vectors == 1) {
    return tile_of_rows<T, gathers, 1, most>(rows);
  } else {
    return vectors == Vectors ? tile_of_rows<T, gathers, Vectors, most>(rows)
                              : tile_of<T, gathers, Vectors - 1>(rows, vectors);
  }
}

template <class T>
void gemm_tile(const GemmTile<T, SumOf<T>>& x) {
  constexpr int64_t step = lanes<SumOf<T>>;
  const int64_t vectors = (x.columns + step - 1) / step;
  if constexpr (Step<T>::gathers) {
    if (x.a_offsets && x.b_offsets) return tile_of<T, Gathers::both, tile_vectors>(x.rows, vectors)(x);
    if (x.a_offsets && x.far) return tile_of<T, Gathers::far_a, tile_vectors>(x.rows, vectors)(x);
    if (x.a_offsets) return tile_of<T, Gathers::a, tile_vectors>(x.rows, vectors)(x);
    if (x.b_offsets) return tile_of<T, Gathers::b, tile_vectors>(x.rows, vectors)(x);
  }
  tile_of<T, Gathers::none, tile_vectors>(x.rows, vectors)(x);
}
