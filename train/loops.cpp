#include "train/loops.h"

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

using AdamW = void (*)(float*, const float*, float*, float*, bfloat16*, bool, int64_t,
                       const AdamWCoefficients<float>&);
using Squares = double (*)(const float*, int64_t);

void adamw_portable(float* p, const float* g, float* m, float* v, bfloat16* rounded, bool fresh,
                    int64_t count, const AdamWCoefficients<float>& c) {
  adamw_body(p, g, m, v, rounded, fresh, count, c);
}
double squares_portable(const float* values, int64_t count) { return squares_body(values, count); }

#if defined(__x86_64__)
#define CLADTORCH_AVX2 __attribute__((target("avx2,fma")))
#define CLADTORCH_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx2,fma")))

CLADTORCH_AVX2 void adamw_avx2(float* p, const float* g, float* m, float* v, bfloat16* rounded, bool fresh,
                               int64_t count, const AdamWCoefficients<float>& c) {
  adamw_body(p, g, m, v, rounded, fresh, count, c);
}
CLADTORCH_AVX512 void adamw_avx512(float* p, const float* g, float* m, float* v, bfloat16* rounded,
                                   bool fresh, int64_t count, const AdamWCoefficients<float>& c) {
  adamw_body(p, g, m, v, rounded, fresh, count, c);
}
CLADTORCH_AVX2 double squares_avx2(const float* values, int64_t count) { return squares_body(values, count); }
CLADTORCH_AVX512 double squares_avx512(const float* values, int64_t count) {
  return squares_body(values, count);
}

const AdamW adamw_kernel = detail::runs_avx512() ? adamw_avx512
                           : detail::runs_avx2() ? adamw_avx2
                                                 : adamw_portable;
const Squares squares_kernel = detail::runs_avx512() ? squares_avx512
                               : detail::runs_avx2() ? squares_avx2
                                                     : squares_portable;
#else
const AdamW adamw_kernel = adamw_portable;
const Squares squares_kernel = squares_portable;
#endif

}  // namespace

void adamw_loop(float* p, const float* g, float* m, float* v, bfloat16* rounded, bool fresh, int64_t count,
                const AdamWCoefficients<float>& c) {
  adamw_kernel(p, g, m, v, rounded, fresh, count, c);
}
void adamw_loop(double* p, const double* g, double* m, double* v, bool fresh, int64_t count,
                const AdamWCoefficients<double>& c) {
  adamw_body(p, g, m, v, fresh, count, c);
}

double sum_of_squares(const bfloat16* values, int64_t count) { return squares_body(values, count); }
double sum_of_squares(const float* values, int64_t count) { return squares_kernel(values, count); }
double sum_of_squares(const double* values, int64_t count) { return squares_body(values, count); }

}  // namespace cladtorch::train
