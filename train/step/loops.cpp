#include "train/step/loops.h"

#include <cmath>

#include "tensor/instruction_sets.h"

namespace cladtorch::train {
namespace {

/// Independent sums, so that the loop vectorizes without reordering additions.
constexpr int chains = 32;

template <bool Fresh, bool Rounded, class T>
[[gnu::always_inline]] inline void adamw_elements(T* __restrict__ p, const T* __restrict__ g,
                                                  T* __restrict__ m, T* __restrict__ v,
                                                  bfloat16* __restrict__ rounded, int64_t count,
                                                  const AdamWCoefficients<T>& c) {
  for (int64_t i = 0; i < count; ++i) {
    adamw_element<Fresh>(p[i], g[i], m[i], v[i], c);
    if constexpr (Rounded) rounded[i] = bfloat16(p[i]);
  }
}

template <class T>
[[gnu::always_inline]] inline void adamw_body(T* p, const T* g, T* m, T* v, bool fresh, int64_t count,
                                              const AdamWCoefficients<T>& c) {
  if (fresh) {
    adamw_elements<true, false>(p, g, m, v, nullptr, count, c);
  } else {
    adamw_elements<false, false>(p, g, m, v, nullptr, count, c);
  }
}

[[gnu::always_inline]] inline void adamw_body(float* p, const float* g, float* m, float* v, bfloat16* rounded,
                                              bool fresh, int64_t count, const AdamWCoefficients<float>& c) {
  if (!rounded) return adamw_body(p, g, m, v, fresh, count, c);
  if (fresh) {
    adamw_elements<true, true>(p, g, m, v, rounded, count, c);
  } else {
    adamw_elements<false, true>(p, g, m, v, rounded, count, c);
  }
}

[[gnu::always_inline]] inline double to_double(double value) { return value; }
[[gnu::always_inline]] inline double to_double(bfloat16 value) {
  return static_cast<double>(static_cast<float>(value));
}

template <class T>
[[gnu::always_inline]] inline double squares_body(const T* values, int64_t count) {
  double lanes[chains] = {};
  int64_t i = 0;
  for (; i + chains <= count; i += chains) {
    for (int lane = 0; lane < chains; ++lane) {
      const double value = to_double(values[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (; i < count; ++i) lanes[0] += to_double(values[i]) * to_double(values[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <bool Fresh, bool Rounded, class T>
[[gnu::always_inline]] inline void sgd_elements(T* __restrict__ p, const T* __restrict__ g, T* __restrict__ b,
                                                bfloat16* __restrict__ rounded, int64_t count,
                                                const SGDCoefficients<T>& c) {
  for (int64_t i = 0; i < count; ++i) {
    T none = 0;
    sgd_element<Fresh>(p[i], g[i], Fresh && b == nullptr ? none : b[i], c);
    if constexpr (Rounded) rounded[i] = bfloat16(static_cast<float>(p[i]));
  }
}

template <class T>
[[gnu::always_inline]] inline void sgd_body(T* p, const T* g, T* b, bfloat16* rounded, bool fresh,
                                            int64_t count, const SGDCoefficients<T>& c) {
  const bool unread = fresh || b == nullptr;
  if (unread && rounded) return sgd_elements<true, true>(p, g, b, rounded, count, c);
  if (unread) return sgd_elements<true, false>(p, g, b, rounded, count, c);
  if (rounded) return sgd_elements<false, true>(p, g, b, rounded, count, c);
  sgd_elements<false, false>(p, g, b, rounded, count, c);
}

template <class T>
[[gnu::always_inline]] inline void muon_body(const T* __restrict__ g, T* __restrict__ b, T* __restrict__ u,
                                             bool fresh, int64_t count, const MuonCoefficients<T>& c) {
  if (fresh) {
    for (int64_t i = 0; i < count; ++i) muon_element<true>(g[i], b[i], u[i], c);
  } else {
    for (int64_t i = 0; i < count; ++i) muon_element<false>(g[i], b[i], u[i], c);
  }
}

template <class T>
[[gnu::always_inline]] inline void descend_body(T* __restrict__ p, const T* __restrict__ d,
                                                bfloat16* __restrict__ rounded, int64_t count, T keep,
                                                T step) {
  for (int64_t i = 0; i < count; ++i) p[i] = keep * p[i] - step * d[i];
  if (rounded)
    for (int64_t i = 0; i < count; ++i) rounded[i] = bfloat16(static_cast<float>(p[i]));
}

#if defined(__x86_64__)
#define CLADTORCH_AVX2 __attribute__((target("avx2,fma")))
#define CLADTORCH_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma")))
/// NAME_kernel is NAME_body for float, compiled for the best instructions of this processor.
#define CLADTORCH_KERNEL(RETURN, NAME, PARAMETERS, ARGUMENTS)                        \
  RETURN NAME##_portable PARAMETERS { return NAME##_body ARGUMENTS; }                \
  CLADTORCH_AVX2 RETURN NAME##_avx2 PARAMETERS { return NAME##_body ARGUMENTS; }     \
  CLADTORCH_AVX512 RETURN NAME##_avx512 PARAMETERS { return NAME##_body ARGUMENTS; } \
  const auto NAME##_kernel = detail::runs_avx512() ? NAME##_avx512                   \
                             : detail::runs_avx2() ? NAME##_avx2                     \
                                                   : NAME##_portable
#else
#define CLADTORCH_KERNEL(RETURN, NAME, PARAMETERS, ARGUMENTS)         \
  RETURN NAME##_portable PARAMETERS { return NAME##_body ARGUMENTS; } \
  const auto NAME##_kernel = NAME##_portable
#endif

CLADTORCH_KERNEL(void, adamw,
                 (float* p, const float* g, float* m, float* v, bfloat16* rounded, bool fresh, int64_t count,
                  const AdamWCoefficients<float>& c),
                 (p, g, m, v, rounded, fresh, count, c));
CLADTORCH_KERNEL(void, sgd,
                 (float* p, const float* g, float* b, bfloat16* rounded, bool fresh, int64_t count,
                  const SGDCoefficients<float>& c),
                 (p, g, b, rounded, fresh, count, c));
CLADTORCH_KERNEL(void, muon,
                 (const float* g, float* b, float* u, bool fresh, int64_t count,
                  const MuonCoefficients<float>& c),
                 (g, b, u, fresh, count, c));
CLADTORCH_KERNEL(void, descend,
                 (float* p, const float* d, bfloat16* rounded, int64_t count, float keep, float step),
                 (p, d, rounded, count, keep, step));
CLADTORCH_KERNEL(double, squares, (const float* values, int64_t count), (values, count));

}  // namespace

void adamw_loop(float* p, const float* g, float* m, float* v, bfloat16* rounded, bool fresh, int64_t count,
                const AdamWCoefficients<float>& c) {
  adamw_kernel(p, g, m, v, rounded, fresh, count, c);
}
void adamw_loop(double* p, const double* g, double* m, double* v, bool fresh, int64_t count,
                const AdamWCoefficients<double>& c) {
  adamw_body(p, g, m, v, fresh, count, c);
}

void sgd_loop(float* p, const float* g, float* b, bfloat16* rounded, bool fresh, int64_t count,
              const SGDCoefficients<float>& c) {
  sgd_kernel(p, g, b, rounded, fresh, count, c);
}
void sgd_loop(double* p, const double* g, double* b, bfloat16* rounded, bool fresh, int64_t count,
              const SGDCoefficients<double>& c) {
  sgd_body(p, g, b, rounded, fresh, count, c);
}

void muon_loop(const float* g, float* b, float* u, bool fresh, int64_t count,
               const MuonCoefficients<float>& c) {
  muon_kernel(g, b, u, fresh, count, c);
}
void muon_loop(const double* g, double* b, double* u, bool fresh, int64_t count,
               const MuonCoefficients<double>& c) {
  muon_body(g, b, u, fresh, count, c);
}

void descend_loop(float* p, const float* d, bfloat16* rounded, int64_t count, float keep, float step) {
  descend_kernel(p, d, rounded, count, keep, step);
}
void descend_loop(double* p, const double* d, bfloat16* rounded, int64_t count, double keep, double step) {
  descend_body(p, d, rounded, count, keep, step);
}

double sum_of_squares(const bfloat16* values, int64_t count) { return squares_body(values, count); }
double sum_of_squares(const float* values, int64_t count) { return squares_kernel(values, count); }
double sum_of_squares(const double* values, int64_t count) { return squares_body(values, count); }

}  // namespace cladtorch::train
