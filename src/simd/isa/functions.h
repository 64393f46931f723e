// Pointwise functions of ops/functions/functions.h: their primitives, of a vector of floats.
//
// Where glibc's libmvec is at hand it has the primitives of the language's library, to 4 units in the last
// place; elsewhere each lane calls the C library.
struct Condition {
  Ints lanes;
};

struct Lanes {
  Floats lanes;

  Lanes() = default;
  Lanes(Floats v) : lanes(v) {}
  explicit Lanes(double constant) : lanes(broadcast(static_cast<float>(constant))) {}

  friend Lanes operator-(Lanes a) { return -a.lanes; }
  friend Lanes operator+(Lanes a, Lanes b) { return a.lanes + b.lanes; }
  friend Lanes operator-(Lanes a, Lanes b) { return a.lanes - b.lanes; }
  friend Lanes operator*(Lanes a, Lanes b) { return a.lanes * b.lanes; }
  friend Lanes operator/(Lanes a, Lanes b) { return a.lanes / b.lanes; }
  friend Condition operator<(Lanes a, Lanes b) { return {a.lanes < b.lanes}; }
  friend Condition operator>(Lanes a, Lanes b) { return {a.lanes > b.lanes}; }
  friend Condition operator<=(Lanes a, Lanes b) { return {a.lanes <= b.lanes}; }
  friend Condition operator>=(Lanes a, Lanes b) { return {a.lanes >= b.lanes}; }
};

inline Lanes where(Condition condition, Lanes a, Lanes b) { return condition.lanes ? a.lanes : b.lanes; }

template <class F>
inline Lanes each_lane(F f, Lanes x) {
  Floats y;
  for (int64_t i = 0; i < width; ++i) y[i] = f(x.lanes[i]);
  return y;
}

#ifdef CLADTORCH_LIBMVEC
#define CLADTORCH_LANES_OF(name, slope) \
  inline Lanes name(Lanes x) { return CLADTORCH_LIBMVEC(v, name##f)(x.lanes); }
inline Lanes pow(Lanes x, Lanes p) { return CLADTORCH_LIBMVEC(vv, powf)(x.lanes, p.lanes); }
#else
#define CLADTORCH_LANES_OF(name, slope)                                        \
  inline Lanes name(Lanes x) {                                                 \
    return each_lane([](float lane) { return __builtin_##name##f(lane); }, x); \
  }
inline Lanes pow(Lanes x, Lanes p) {
  Floats y;
  for (int64_t i = 0; i < width; ++i) y[i] = __builtin_powf(x.lanes[i], p.lanes[i]);
  return y;
}
#endif
CLADTORCH_LIBRARY_PRIMITIVES(CLADTORCH_LANES_OF)
#undef CLADTORCH_LANES_OF

inline Lanes sqrt(Lanes x) {
#if CLADTORCH_VECTOR_FLOATS == 16
  return (Floats)_mm512_maskz_sqrt_ps(0xffff, (__m512)x.lanes);
#elif CLADTORCH_VECTOR_FLOATS == 8
  return (Floats)_mm256_sqrt_ps((__m256)x.lanes);
#else
  return each_lane([](float lane) { return __builtin_sqrtf(lane); }, x);
#endif
}

inline Lanes floor(Lanes x) {
  return each_lane([](float lane) { return __builtin_floorf(lane); }, x);
}
inline Lanes ceil(Lanes x) {
  return each_lane([](float lane) { return __builtin_ceilf(lane); }, x);
}
inline Lanes trunc(Lanes x) {
  return each_lane([](float lane) { return __builtin_truncf(lane); }, x);
}
inline Lanes round(Lanes x) {
  return each_lane([](float lane) { return __builtin_nearbyintf(lane); }, x);
}
inline Lanes abs(Lanes x) {
  return each_lane([](float lane) { return __builtin_fabsf(lane); }, x);
}
inline Lanes sign(Lanes x) {
  const Floats zero{}, one = broadcast(1.0f);
  return x.lanes > zero ? one : (x.lanes < zero ? -one : zero);
}

/// In terms of e = exp(-2 |x|), which loses nothing but where tanh(x) is near x: there a Taylor sum.
inline Lanes tanh(Lanes of) {
  const Floats x = of.lanes, size = x < 0.0f ? -x : x;
  const Floats e = exp(-2.0f * size);
  const Floats far = (1.0f - e) * reciprocal(1.0f + e), z = x * x;
  Floats near = z * broadcast(62.0f / 2835) - broadcast(17.0f / 315);
  near = near * z + broadcast(2.0f / 15);
  near = near * z - broadcast(1.0f / 3);
  return size < 0.25f ? x + x * z * near : (x < 0.0f ? -far : far);
}

inline Lanes sigmoid(Lanes of) {
  const Floats x = of.lanes, e = exp(x < 0.0f ? x : -x);
  const Floats upper = reciprocal(1.0f + e);
  return x < 0.0f ? e * upper : upper;
}

/// exp is bounded so that one more than it has a normal reciprocal: denormal ones take 25 times as long.
inline Lanes falling_sigmoid(Lanes x) {
  return reciprocal(1.0f + exp(x.lanes > 87.0f ? broadcast(87.0f) : x.lanes));
}

inline Floats size_of(Floats x) { return x < 0.0f ? -x : x; }

/// exp(-x^2 / 2), bounded so that no result is denormal.
inline Floats bell(Floats size) {
  const Floats a = size > 12.5f ? broadcast(12.5f) : size;
  return exp(a * a * -0.5f);
}

/// The lower tail is exp(-a^2 / 2) r(a) with a = |x|; r is smooth, and near 1 / (a sqrt(2 pi)) for large a: a
/// minimax polynomial of degree 9 in t = 1 / (1 + a / 4), times t, to 3.4e-8 of it.
inline Lanes normal_distribution(Lanes of) {
  const Floats x = of.lanes, size = size_of(x), a = size > 12.5f ? broadcast(12.5f) : size;
  const Floats t = reciprocal(1.0f + a * 0.25f);
  Floats r = broadcast(1.978202895e-2f);
  r = r * t + broadcast(-8.087739415e-2f);
  r = r * t + broadcast(9.559722308e-2f);
  r = r * t + broadcast(-3.171764088e-2f);
  r = r * t + broadcast(6.369916565e-2f);
  r = r * t + broadcast(5.897513640e-2f);
  r = r * t + broadcast(8.160311042e-2f);
  r = r * t + broadcast(9.346635523e-2f);
  r = r * t + broadcast(9.973643161e-2f);
  r = r * t + broadcast(9.973556672e-2f);
  const Floats tail = r * t * bell(size);
  return x < 0.0f ? tail : 1.0f - tail;
}
inline Lanes normal_density(Lanes x) { return bell(size_of(x.lanes)) * 0.398942280f; }

template <class F>
void function_values(const void* parameters, int64_t n, const float* x, float* y) {
  const F& f = *static_cast<const F*>(parameters);
  each_vector(n, [&](int64_t i, auto part) { part.put(y + i, f(Lanes(part.get(x + i, 0))).lanes); });
}

template <class F>
void function_pullback(const void* parameters, int64_t n, const float* at, const float* d_y, float* d_x,
                       bool add) {
  const F& f = *static_cast<const F*>(parameters);
  each_vector(n, [&](int64_t i, auto part) {
    const Floats d = part.get(d_y + i, 0) * functions::slope_at(f, Lanes(part.get(at + i, 0))).lanes;
    part.put(d_x + i, add ? part.get(d_x + i, 0) + d : d);
  });
}
