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
/// All lanes equal; x - {} keeps the sign of zero and the payload of NaN.
template <class T>
inline Vector<T> broadcast(T x) {
  return x - Vector<T>{};
}

/// The first n < width floats; the other lanes get `rest`.
inline Floats load_part(const float* p, int64_t n, float rest) {
  Floats v = broadcast(rest);
  for (int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
inline void store_part(float* p, Floats v, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = v[i];
}

inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }

/// Lanes are added pairwise, always in the same order.
inline float sum_lanes(Floats v) {
  float part[width];
  store(part, v);
  for (int64_t half = width / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) part[i] += part[i + half];
  return part[0];
}
inline float largest_lane(Floats v) {
  float result = v[0];
  for (int64_t i = 1; i < width; ++i) result = v[i] > result || v[i] != v[i] ? v[i] : result;
  return result;
}

/// exp to about 1 unit in the last place. Below -87.3 the result is 0, above 88.3 it stays near 2e38; NaN
/// stays NaN. Source of the polynomial: Cephes, expf.
inline Floats exp(Floats x) {
  const Floats low = broadcast(-87.3365448f), high = broadcast(88.3762626f);
  const Floats bounded = x > high ? high : (x < low ? low : x);
  const Floats round = broadcast(12582912.0f);  // 1.5 * 2^23: adding it leaves the integer in the low bits
  const Floats shifted = bounded * broadcast(1.44269504f) + round;
  const Floats n = shifted - round;
  const Floats r = bounded - n * broadcast(0.693359375f) - n * broadcast(-2.12194440e-4f);
  Floats p = broadcast(1.9875691500e-4f);
  p = p * r + broadcast(1.3981999507e-3f);
  p = p * r + broadcast(8.3334519073e-3f);
  p = p * r + broadcast(4.1665795894e-2f);
  p = p * r + broadcast(1.6666665459e-1f);
  p = p * r + broadcast(5.0000001201e-1f);
  const Floats value = p * (r * r) + r + broadcast(1.0f);
  const Ints exponent = (Ints)shifted << 23;  // the bits above the integer fall off
  const Floats result = (Floats)((Ints)value + exponent);
  return x < low ? Floats{} : (x != x ? x : result);
}
