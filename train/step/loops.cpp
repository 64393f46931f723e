#include "train/step/loops.h"

#include <cmath>

#include "train/step/best_instructions.h"

namespace cladtorch::train {
namespace {

/// Independent sums, so that the loop vectorizes without reordering additions.
constexpr int chains = 32;

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

}  // namespace

void muon_loop(const float* g, float* b, float* u, bool fresh, int64_t count,
               const MuonCoefficients<float>& c) {
  with_best_instructions([&]() __attribute__((always_inline)) { muon_body(g, b, u, fresh, count, c); });
}
void muon_loop(const double* g, double* b, double* u, bool fresh, int64_t count,
               const MuonCoefficients<double>& c) {
  muon_body(g, b, u, fresh, count, c);
}

void descend_loop(float* p, const float* d, bfloat16* rounded, int64_t count, float keep, float step) {
  with_best_instructions(
      [&]() __attribute__((always_inline)) { descend_body(p, d, rounded, count, keep, step); });
}
void descend_loop(double* p, const double* d, bfloat16* rounded, int64_t count, double keep, double step) {
  descend_body(p, d, rounded, count, keep, step);
}

double sum_of_squares(const bfloat16* values, int64_t count) { return squares_body(values, count); }
double sum_of_squares(const float* values, int64_t count) {
  double sum = 0;
  with_best_instructions([&]() __attribute__((always_inline)) { sum = squares_body(values, count); });
  return sum;
}
double sum_of_squares(const double* values, int64_t count) { return squares_body(values, count); }

}  // namespace cladtorch::train
