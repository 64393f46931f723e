// Operands of products on their way into panels: turned around, converted, paired.
typedef uint16_t Halves __attribute__((vector_size(vector_bytes / 2)));
typedef uint16_t UnalignedHalves __attribute__((vector_size(vector_bytes / 2), aligned(2), may_alias));
typedef uint32_t Words __attribute__((vector_size(vector_bytes)));
typedef uint32_t UnalignedWords __attribute__((vector_size(vector_bytes), aligned(4), may_alias));

// Not bfloat16's own conversion, which has external linkage.
inline float as_float(float x) { return x; }
inline float as_float(bfloat16 x) { return __builtin_bit_cast(float, uint32_t{x.bits} << 16); }

inline Words load_words(const bfloat16* p) {
  return __builtin_convertvector(*reinterpret_cast<const UnalignedHalves*>(p), Words);
}
inline Floats load_floats(const float* p) { return load(p); }
inline Floats load_floats(const bfloat16* p) { return (Floats)(load_words(p) << 16); }

typedef float Quad __attribute__((vector_size(16)));
typedef float UnalignedQuad __attribute__((vector_size(16), aligned(4), may_alias));

inline Quad load_quad(const float* p) { return *reinterpret_cast<const UnalignedQuad*>(p); }
inline Quad load_quad(const bfloat16* p) {
  typedef uint32_t Words __attribute__((vector_size(16)));
  return (Quad)(Words{p[0].bits, p[1].bits, p[2].bits, p[3].bits} << 16);
}

/// A 4 x 4 block, transposed in registers: 8 shuffles instead of 16 scalar loads and stores.
template <class From>
inline void transpose_quad(const From* from, int64_t line, float* to, int64_t panel) {
  const auto row = [&](int64_t i) { return load_quad(from + i * line); };
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

template <class From>
inline void transpose_square(const From* from, int64_t line, float* to, int64_t panel) {
  Floats rows[width];
#pragma GCC unroll 16
  for (int64_t i = 0; i < width; ++i) rows[i] = load_floats(from + i * line);
  exchange_rows<1>(rows);
#pragma GCC unroll 16
  for (int64_t i = 0; i < width; ++i) store(to + i * panel, rows[i]);
}

/// A part of a square, of `lines` lines and `depth` columns.
inline void transpose_part(int64_t lines, int64_t depth, const float* from, int64_t line, float* to,
                           int64_t panel) {
  Floats rows[width];
#pragma GCC unroll 16
  for (int64_t i = 0; i < width; ++i) {
    const float* const row = from + (i < lines ? i : 0) * line;
    rows[i] = depth == width ? load(row) : load_part(row, depth, 0);
  }
  exchange_rows<1>(rows);
#pragma GCC unroll 16
  for (int64_t i = 0; i < width; ++i) {
    if (i >= depth) continue;
    if (lines == width) {
      store(to + i * panel, rows[i]);
    } else {
      store_part(to + i * panel, rows[i], lines);
    }
  }
}

template <class From>
void transpose(int64_t lines, int64_t depth, const From* from, int64_t line, float* to, int64_t panel) {
  for (int64_t p = 0; p < depth; p += width) {
    const int64_t count = depth - p < width ? depth - p : width;
    for (int64_t i = 0; i < lines;) {
      if (count == width && lines - i >= width) {
        transpose_square(from + i * line + p, line, to + p * panel + i, panel);
        i += width;
        continue;
      }
      if constexpr (sizeof(From) == sizeof(float) && width >= 8) {
        const int64_t rest = lines - i < width ? lines - i : width;
        if (rest > width / 4 && count > width / 4) {
          transpose_part(rest, count, from + i * line + p, line, to + p * panel + i, panel);
          i += rest;
          continue;
        }
      }
      const int64_t n = lines - i >= 4 ? 4 : 1;
      int64_t q = p;
      if (n == 4)
        for (; q + 4 <= p + count; q += 4)
          transpose_quad(from + i * line + q, line, to + q * panel + i, panel);
      for (; q < p + count; ++q)
        for (int64_t k = i; k < i + n; ++k) to[q * panel + k] = as_float(from[k * line + q]);
      i += n;
    }
  }
}

void widen(int64_t lines, int64_t n, const bfloat16* from, int64_t line, float* to, int64_t to_line) {
  for (int64_t i = 0; i < lines; ++i, from += line, to += to_line) {
    int64_t j = 0;
    for (; j + width <= n; j += width) store(to + j, load_floats(from + j));
    for (; j < n; ++j) to[j] = as_float(from[j]);
  }
}

void pair(int64_t lines, int64_t n, const bfloat16* first, const bfloat16* second, int64_t line,
          BfloatPair* to, int64_t to_line) {
  for (int64_t i = 0; i < lines; ++i, first += line, second += second ? line : 0, to += to_line) {
    int64_t j = 0;
    for (; j + width <= n; j += width) {
      const Words high = second ? load_words(second + j) << 16 : Words{};
      *reinterpret_cast<UnalignedWords*>(to + j) = load_words(first + j) | high;
    }
    for (; j < n; ++j) to[j].bits = first[j].bits | (second ? uint32_t{second[j].bits} << 16 : 0);
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

float dot_widened(int64_t n, const float* a, const bfloat16* b) {
  Floats sum[4] = {};
  int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width)
    for (int j = 0; j < 4; ++j) sum[j] += load(a + i + j * width) * load_floats(b + i + j * width);
  for (; i + width <= n; i += width) sum[0] += load(a + i) * load_floats(b + i);
  float rest = 0;
  for (; i < n; ++i) rest += a[i] * as_float(b[i]);
  return sum_lanes((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}
