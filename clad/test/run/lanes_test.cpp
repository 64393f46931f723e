// Vectors of numbers as the language's extension has them, and the intrinsics of x86 that work on them.
#include <cmath>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

typedef double pair __attribute__((vector_size(16)));
typedef double four __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(16)));

double arithmetic(double x, double y) {
  pair a = {x, 2}, b = a * a;
  b += a / 3. - y;
  b[1] *= x;
  b[0] = std::sin(b[0]) + b[1];
  return b[0] * b[1] + (-a)[0];
}
double accumulated(double x, double y) {
  four sum = {};
  const four at = {1, 2, 3, 4};
  for (int i = 0; i < 5; ++i) sum = sum * y + at * (x + i);
  double total = 0;
  for (int i = 0; i < 4; ++i) total += sum[i] * sum[3 - i];
  return total;
}
pair swapped(pair a) { return __builtin_shufflevector(a, a, 1, 0); }
void scale(pair& a, double by) { a *= by; }
double functions(double x, double y) {
  pair a = {x, y};
  scale(a, x);
  pair b = swapped(a) * a;
  const pair c = b > 0.5 ? b : a;
  return c[0] + 3 * c[1];
}
struct Particle {
  four position, velocity;
  double mass = 2;
  void step(double h) { position += h * velocity; }
  double energy() const {
    const four square = velocity * velocity * (0.5 * mass) + position;
    return square[0] + square[1] + square[2];
  }
};
double members(double x, double y) {
  Particle p{{x, y, 1}, {y, x, x * y}};
  for (int i = 0; i < 3; ++i) p.step(0.1 * x);
  std::vector<Particle> all(2, p);
  all[1].velocity[2] = y;
  return all[0].energy() * all[1].energy();
}
double kept(double x, double y) {
  std::vector<pair> v(3);
  for (int i = 0; i < 3; ++i) v[i] = pair{x, y} * double(i + 1);
  pair product = {1, 1};
  for (const pair& a : v) product *= a;
  auto last = [&](int k) { return v[2][k] * product[k]; };
  return last(0) + last(1);
}
double chosen(double x, double y) {
  pair a = {x, y}, b = {y, x};
  if (x > y) a = b;
  b = x > 1 ? a + b : a;
  int k = x > y;
  b[k] = b[1 - k] * a[k];
  return b[0] * b[1];
}
double of_floats(double x, double y) {
  floats a = {float(x), float(y), 1, 2};
  a = a * a + a;
  return a[0] * a[1] + a[3];
}

#if defined(__SSE2__)
double dot(const double* a, const double* b, int n) {
  __m128d sum = _mm_setzero_pd();
  int i = 0;
  for (; i + 2 <= n; i += 2) sum = _mm_add_pd(sum, _mm_mul_pd(_mm_loadu_pd(a + i), _mm_loadu_pd(b + i)));
  sum = _mm_add_sd(sum, _mm_unpackhi_pd(sum, sum));
  double total = _mm_cvtsd_f64(sum);
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}
double products(double x, double y) {
  const double a[5] = {x, y, x * y, 2, x}, b[5] = {y, x, 3, y * y, 1};
  return dot(a, b, 5);
}
double stores(double x, double y) {
  double v[4] = {x, y, x * y, x + y};
  for (int i = 0; i < 3; ++i) _mm_storeu_pd(v + 1, _mm_mul_pd(_mm_loadu_pd(v), _mm_set1_pd(x)));
  _mm_store_sd(v, _mm_sqrt_pd(_mm_set_pd(3, y * y + x)));
  return v[0] + v[1] * v[2] + v[3];
}
double rows(double x, double y) {
  double v[3][2] = {{x, y}, {y, x * y}, {1, x}};
  for (int i = 0; i < 2; ++i)
    _mm_store_pd((double*)(v + i),
                 _mm_load_pd((double*)(v + i)) * _mm_load_pd(reinterpret_cast<double*>(&v[i + 1])));
  return v[0][0] * v[1][1] + v[0][1];
}
double extremes(double x, double y) {
  __m128d a = _mm_set_pd(x, y), b = _mm_setr_pd(x * x, 1.1);
  a = _mm_max_pd(a, b);
  b = _mm_min_pd(a, _mm_shuffle_pd(a, b, 1));
  a = _mm_div_pd(_mm_sub_pd(a, b), _mm_sqrt_sd(a, b));
  double out[2];
  _mm_storeu_pd(out, a);
  return out[0] * 3 + out[1] + _mm_cvtsd_f64(b);
}
double singles(double x, double y) {
  __m128 a = _mm_setr_ps(float(x), float(y), 1, 2), b = _mm_set1_ps(float(y));
  a = _mm_mul_ps(_mm_add_ps(a, b), _mm_shuffle_ps(a, a, _MM_SHUFFLE(0, 1, 2, 3)));
  a = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(a, _mm_unpacklo_ps(a, b)));
}
#endif

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
double norm(const std::vector<double>& v) {
  __m256d sum = _mm256_setzero_pd();
  for (std::size_t i = 0; i + 4 <= v.size(); i += 4) {
    const __m256d a = _mm256_loadu_pd(&v[i]);
    sum = _mm256_fmadd_pd(a, a, sum);
  }
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(sum), _mm256_extractf128_pd(sum, 1));
  return std::sqrt(_mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half))));
}
double product(const std::vector<double>& v) {
  __m256d all = _mm256_set1_pd(1);
  for (std::size_t i = 0; i + 4 <= v.size(); i += 4) {
    all = _mm256_mul_pd(all, _mm256_loadu_pd(&v[i]));
    if (all[0] > 2) all = _mm256_sqrt_pd(all);
  }
  return all[0] * all[1] + all[2] * all[3];
}
double wide(double x, double y) {
  std::vector<double> v{x, y, x * y, 2, y * y, x, 1, x + y};
  return norm(v) * product(v);
}
double permuted(double x, double y) {
  __m256d a = _mm256_setr_pd(x, y, x * y, 2);
  __m256d b = _mm256_permute_pd(a, 5), c = _mm256_permute2f128_pd(a, b, 0x21);
  b = _mm256_blend_pd(_mm256_fnmadd_pd(a, b, c), _mm256_permute4x64_pd(a, 0x1b), 6);
  b = _mm256_insertf128_pd(b, _mm256_castpd256_pd128(c), 1);
  double out[4];
  _mm256_storeu_pd(out, _mm256_mul_pd(b, _mm256_unpacklo_pd(a, c)));
  return out[0] + 2 * out[1] + 3 * out[2] + 4 * out[3];
}
#pragma clang attribute pop
#endif

template <class Gradient, class Forward>
void check(double (*f)(double, double), const Gradient& gradient, const Forward& forward, double within) {
  for (const auto& [x, y] : {std::pair{0.7, 1.3}, {1.6, 0.4}}) {
    const double h = std::sqrt(within) * 1e-2;
    const double by_x = (f(x + h, y) - f(x - h, y)) / (2 * h), by_y = (f(x, y + h) - f(x, y - h)) / (2 * h);
    double dx = 0, dy = 0;
    gradient(x, y, &dx, &dy);
    EXPECT_NEAR(dx, by_x, within * (1 + std::abs(by_x)));
    EXPECT_NEAR(dy, by_y, within * (1 + std::abs(by_y)));
    EXPECT_NEAR(forward(x, y), dx, within * 1e-3 * (1 + std::abs(dx)));
  }
}

#if defined(__clang__) && defined(__x86_64__)
bool has_wide() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

#define CHECK_WITHIN(f, within, ...)                                                           \
  TEST(Lanes, f) {                                                                             \
    __VA_ARGS__                                                                                \
    check(                                                                                     \
        f, [](auto... args) { clad::gradient(f).execute(args...); },                           \
        [](double x, double y) { return clad::differentiate(f, "x").execute(x, y); }, within); \
  }
#define CHECK(f, ...) CHECK_WITHIN(f, 1e-6, __VA_ARGS__)
CHECK(arithmetic)
CHECK(accumulated)
CHECK(functions)
CHECK(members)
CHECK(kept)
CHECK(chosen)
CHECK_WITHIN(of_floats, 2e-2)
#if defined(__SSE2__)
CHECK(products)
CHECK(stores)
CHECK(rows)
CHECK(extremes)
CHECK_WITHIN(singles, 2e-2)
#endif
#if defined(__clang__) && defined(__x86_64__)
CHECK(wide, if (!has_wide()) GTEST_SKIP() << "this processor has no AVX2";)
CHECK(permuted, if (!has_wide()) GTEST_SKIP() << "this processor has no AVX2";)
#endif

TEST(Lanes, Hessian) {
  double h[4] = {};
  clad::hessian(arithmetic).execute(0.7, 1.3, h);
  const double e = 1e-4;
  const auto f = arithmetic;
  EXPECT_NEAR(
      h[1],
      (f(0.7 + e, 1.3 + e) - f(0.7 + e, 1.3 - e) - f(0.7 - e, 1.3 + e) + f(0.7 - e, 1.3 - e)) / (4 * e * e),
      1e-5);
  EXPECT_NEAR(h[0], (f(0.7 + e, 1.3) - 2 * f(0.7, 1.3) + f(0.7 - e, 1.3)) / (e * e), 1e-5);
}

}  // namespace
