// Transposing tiles in registers: log2(width) rounds of exchanges between pairs of rows.
template <int... Lane>
struct LaneList {};
#if CLADTORCH_VECTOR_FLOATS == 16
using AllLanes = LaneList<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
#elif CLADTORCH_VECTOR_FLOATS == 8
using AllLanes = LaneList<0, 1, 2, 3, 4, 5, 6, 7>;
#else
using AllLanes = LaneList<0, 1, 2, 3>;
#endif

/// Swaps the lanes of a that have bit `Half` set with the lanes of b that have not.
template <int Half, int... Lane>
inline void exchange(Floats& a, Floats& b, LaneList<Lane...>) {
  constexpr int n = sizeof...(Lane);
  const Floats low = __builtin_shufflevector(a, b, (Lane & Half ? n + Lane - Half : Lane)...);
  b = __builtin_shufflevector(a, b, (Lane & Half ? n + Lane : Lane + Half)...);
  a = low;
}

template <int Half>
inline void transpose_registers(Floats (&rows)[width]) {
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i)
    if (!(i & Half)) exchange<Half>(rows[i], rows[i + Half], AllLanes{});
  if constexpr (Half > 1) transpose_registers<Half / 2>(rows);
}

/// to[j * to_row + i] = factors[j] * from[i * from_row + j] for i < rows, j < columns; null factors are 1. If
/// `padded`, rows of `to` reach to a whole vector and are filled up with 0.
void transpose_tile(int64_t rows, int64_t columns, const float* from, int64_t from_row, float* to,
                    int64_t to_row, const float* factors, bool padded) {
  for (int64_t j = 0; j < columns; j += width) {
    const int64_t n = smaller(width, columns - j);
    const Floats factor = !factors     ? broadcast(1.0f)
                          : n == width ? load(factors + j)
                                       : load_part(factors + j, n, 0);
    for (int64_t i = 0; i < rows; i += width) {
      const int64_t m = smaller(width, rows - i);
      Floats block[width];
      if (m == width && n == width) {
#pragma GCC unroll 16
        for (int k = 0; k < width; ++k) block[k] = load(from + (i + k) * from_row + j) * factor;
        transpose_registers<width / 2>(block);
#pragma GCC unroll 16
        for (int k = 0; k < width; ++k) store(to + (j + k) * to_row + i, block[k]);
        continue;
      }
      for (int k = 0; k < width; ++k) {
        const float* const line = from + (i + k) * from_row + j;
        block[k] = k >= m ? Floats{} : (n == width ? load(line) : load_part(line, n, 0)) * factor;
      }
      transpose_registers<width / 2>(block);
      for (int k = 0; k < n; ++k) {
        float* const line = to + (j + k) * to_row + i;
        if (padded || m == width) {
          store(line, block[k]);
        } else {
          store_part(line, block[k], m);
        }
      }
    }
  }
}
