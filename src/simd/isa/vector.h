// Vectors of the instruction set's length, by the vector extension that GCC and Clang share.
constexpr int64_t vector_bytes = CLADTORCH_VECTOR_FLOATS * 4;

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float type __attribute__((vector_size(vector_bytes)));
  typedef float unaligned __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
};
template <>
struct VectorOf<double> {
  typedef double type __attribute__((vector_size(vector_bytes)));
  typedef double unaligned __attribute__((vector_size(vector_bytes), aligned(8), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::type;
using Floats = Vector<float>;
typedef int32_t Ints __attribute__((vector_size(vector_bytes)));

template <class T>
constexpr int64_t lanes = vector_bytes / static_cast<int64_t>(sizeof(T));
constexpr int64_t width = lanes<float>;

template <class T>
inline Vector<T> load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
}
template <class T>
inline void store(T* p, Vector<T> v) {
  *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = v;
}
/// A store to aligned memory that leaves the caches as they are. It is ordered before later stores of this
/// thread only by a locked instruction or a fence, as every hand-over between threads contains.
template <class T>
inline void store_past_cache(T* p, Vector<T> v) {
#if defined(__x86_64__) && CLADTORCH_VECTOR_FLOATS == 16
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), (__m512i)v);
#elif defined(__x86_64__) && CLADTORCH_VECTOR_FLOATS == 8
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), (__m256i)v);
#else
  *reinterpret_cast<Vector<T>*>(p) = v;
#endif
}
/// All lanes equal; x - {} keeps the sign of zero and the payload of NaN.
template <class T>
inline Vector<T> broadcast(T x) {
  return x - Vector<T>{};
}

/// Lane i holds i.
inline Ints lane_numbers() {
  Ints lane;
  for (int32_t i = 0; i < width; ++i) lane[i] = i;
  return lane;
}

/// The first n < width floats; the other lanes get `rest`, and what lies behind them in memory is not read.
inline Floats load_part(const float* p, int64_t n, float rest) {
#if CLADTORCH_VECTOR_FLOATS == 16
  return (Floats)_mm512_mask_loadu_ps((__m512)broadcast(rest), static_cast<__mmask16>((1u << n) - 1), p);
#elif CLADTORCH_VECTOR_FLOATS == 8
  const Ints first = lane_numbers() < static_cast<int32_t>(n);
  return first ? (Floats)_mm256_maskload_ps(p, (__m256i)first) : broadcast(rest);
#else
  Floats v = broadcast(rest);
  for (int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
#endif
}

/// Writes the first n < width lanes.
inline void store_part(float* p, Floats v, int64_t n) {
#if CLADTORCH_VECTOR_FLOATS == 16
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), (__m512)v);
#elif CLADTORCH_VECTOR_FLOATS == 8
  _mm256_maskstore_ps(p, (__m256i)(lane_numbers() < static_cast<int32_t>(n)), (__m256)v);
#else
  for (int64_t i = 0; i < n; ++i) p[i] = v[i];
#endif
}

/// The lanes in halves, quarters, ... combined until one value is left: always in the same order.
template <class Combine>
inline float fold_lanes(Floats v, Combine combine) {
#if CLADTORCH_VECTOR_FLOATS == 16
  v = combine(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
#elif CLADTORCH_VECTOR_FLOATS == 8
  v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
#else
  v = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
  v = combine(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
#endif
  return v[0];
}

/// The larger of each lane; NaN in b wins.
inline Floats larger(Floats a, Floats b) { return b > a || b != b ? b : a; }

inline float sum_lanes(Floats v) {
  return fold_lanes(v, [](Floats a, Floats b) { return a + b; });
}
inline float largest_lane(Floats v) {
  return fold_lanes(v, [](Floats a, Floats b) { return a != a ? a : larger(a, b); });
}

/// Loops over n floats in vectors: body(i, part) with part a Whole vector or the last Part of one.
struct Whole {
  Floats get(const float* p, float) const { return load(p); }
  void put(float* p, Floats v) const { store(p, v); }
};
struct Part {
  int64_t n;
  Floats get(const float* p, float rest) const { return load_part(p, n, rest); }
  void put(float* p, Floats v) const { store_part(p, v, n); }
};

template <class Body>
inline void each_vector(int64_t n, Body&& body) {
  int64_t i = 0;
  for (; i + width <= n; i += width) body(i, Whole{});
  if (i < n) body(i, Part{n - i});
}

/// The same for reductions: body(i, part, chain) with chain 0, 1, 2, 3, 0, ..., so that four sums hide the
/// latency of an addition.
template <class Body>
inline void each_vector_in_chains(int64_t n, Body&& body) {
  int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width) {
#pragma GCC unroll 4
    for (int chain = 0; chain < 4; ++chain) body(i + chain * width, Whole{}, chain);
  }
  for (; i + width <= n; i += width) body(i, Whole{}, 0);
  if (i < n) body(i, Part{n - i}, 1);
}

inline float sum_chains(const Floats (&sum)[4]) { return sum_lanes((sum[0] + sum[1]) + (sum[2] + sum[3])); }

/// exp to about 1 unit in the last place. Below -87.3 the result is 0, above 88.3 it stays near 2e38; NaN
/// stays NaN. e^r is a minimax polynomial of degree 6 on [-ln 2 / 2, ln 2 / 2].
inline Floats exp(Floats x) {
  const Floats low = broadcast(-87.3365448f), high = broadcast(88.3762626f);
  const Floats bounded = high < x ? high : x;
  const Floats round =
      broadcast(12583039.0f);  // 1.5 * 2^23 + 127: leaves the biased exponent in the low bits
  const Floats shifted = bounded * broadcast(1.44269504f) + round;
  const Floats n = shifted - round;
  const Floats r = bounded - n * broadcast(0.693359375f) - n * broadcast(-2.12194440e-4f);
  Floats p = broadcast(1.384365489e-3f);
  p = p * r + broadcast(8.374155499e-3f);
  p = p * r + broadcast(4.166800156e-2f);
  p = p * r + broadcast(1.666643023e-1f);
  p = p * r + broadcast(4.999999404e-1f);
  p = p * r + broadcast(1.0f);
  p = p * r + broadcast(1.0f);
  return x < low ? Floats{} : p * (Floats)((Ints)shifted << 23);
}

/// 2^x for x below about 100, to 2 units in the last place; 0 below -126. NaN stays NaN. A minimax polynomial
/// of degree 5 on [-1/2, 1/2] that is exact at 0.
inline Floats exp2(Floats x) {
  const Floats round =
      broadcast(12583039.0f);  // 1.5 * 2^23 + 127: leaves the biased exponent in the low bits
  const Floats shifted = x + round;
  const Floats r = x - (shifted - round);
  Floats p = broadcast(1.326472731e-3f);
  p = p * r + broadcast(9.671512991e-3f);
  p = p * r + broadcast(5.550733581e-2f);
  p = p * r + broadcast(2.402224243e-1f);
  p = p * r + broadcast(6.931470037e-1f);
  p = p * r + broadcast(1.0f);
  return x < broadcast(-126.0f) ? Floats{} : p * (Floats)((Ints)shifted << 23);
}

/// 1 / x for x in [1, 2^126), to about 1 unit in the last place.
inline Floats reciprocal(Floats x) {
#if CLADTORCH_VECTOR_FLOATS == 16
  // An estimate of 14 bits and one Newton step: a division keeps one of the two arithmetic units busy for 16
  // cycles.
  const Floats r = (Floats)_mm512_maskz_rcp14_ps(0xffff, (__m512)x);
  return r + r * (1.0f - x * r);
#else
  return 1.0f / x;
#endif
}
