// Programs with parallel loops, each a function of `size(n)` numbers. Compiled twice: with OpenMP, and
// without it, where the same program runs in turn. Dynamic schedules are monotonic, since without it an
// assertion in LLVM's run-time library fails now and then, in whatever program (llvm-project issue 54422).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "clad/Differentiator/Differentiator.h"
#include "clad/test/run/openmp_cases.h"

namespace {

double sum_of_sines(const double* x, int n) {
  double s = 0, scale = x[0];
#pragma omp parallel for reduction(+ : s) default(none) shared(x, n, scale)
  for (int i = 0; i < n; ++i) {
    double t = scale * x[i];
    s += std::sin(t) * t;
  }
  return s * s;
}

double weighted(const double* x, const double* w, double scale, int n) {
  double s = 1;
#pragma omp parallel for reduction(- : s) schedule(static, 3)
  for (int i = 0; i < n; ++i) s -= scale * x[i] * w[i] * std::exp(-w[i]);
  return s;
}
double overlapping(const double* x, int n) {  // apart, the same, and overlapping
  return weighted(x, x + n, x[1], n) * weighted(x, x, x[2], n) + weighted(x, x + 1, x[3], n);
}

void product(const double* a, const double* v, double* y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double t = 0;
    for (int j = 0; j < 3; ++j) t += a[i * 3 + j] * v[j];
    y[i] = std::tanh(t);
  }
}
double matrix_vector(const double* x, int n) {
  std::vector<double> y(n), z(n);
  product(x, x + 3 * n, y.data(), n);
#pragma omp parallel for schedule(monotonic : dynamic, 2)
  for (int i = 0; i < n; ++i) z[i] = y[i] * y[i] * x[i];
  double s = 0;
  for (int i = 0; i < n; ++i) s += z[i];
  return s;
}

double diffusion(const double* x, int n) {
  std::vector<double> u(x, x + n), v(n);
  for (int t = 0; t < 3; ++t) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; ++i) v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]) * u[i];
#pragma omp parallel for
    for (int i = 1; i < n - 1; ++i) u[i] = v[i];
  }
  double s = 0;
  for (int i = 0; i < n; ++i) s += u[i] * u[i];
  return s;
}

double checkpointed(const double* x, int n) {
  std::vector<double> u(x, x + n), v(n);
  const int threads = 2;
  for (int t = 0; t < 9; ++t) {
    clad::checkpoint_loop(3);
#pragma omp parallel for num_threads(threads)
    for (int i = 1; i < n - 1; ++i) v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]) * x[n];
    double s = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 1; i < n - 1; ++i) {
      u[i] = std::sin(v[i]);
      s += v[i];
    }
    if (n > 0) u[0] += s / n;
  }
  double s = 0;
  for (int i = 0; i < n; ++i) s += u[i] * u[i];
  return s;
}

double gather(const double* x, int n) {
  std::vector<int> index(n);
  for (int i = 0; i < n; ++i) index[i] = (7 * i + 3) % (n + 2);
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) {
    const int k = index[i];
    s += x[k] * x[k] * x[i + 1] * x[(i * i) % 5];
  }
  return s;
}

double extremes(const double* x, int n) {
  double low = 3, high = -1, p = 1.5;
  int positive = 0;
  bool any = false;
#pragma omp parallel for reduction(max : high) reduction(min : low) reduction(* : p) reduction(+ : positive) \
    reduction(|| : any)
  for (int i = 0; i < n; ++i) {
    if (x[i] > high) high = x[i];
    low = std::min(low, x[i] * x[i + 1]);
    p *= 1 + x[i] / n;
    if (x[i] > 0) ++positive;
    any = any || x[i] > 1000;
  }
  return (high * p + low) * (any ? 2 : 1) * (1 + positive / (1.0 + n));
}

double private_variables(const double* x, int n) {
  double t, s = 0, last = 1;
  int i;
#pragma omp parallel for private(t) reduction(+ : s) lastprivate(last) num_threads(2) if (n > 2)
  for (i = 0; i < n; i += 2) {
    t = x[i] * x[i];
    last = t * x[i + 1];
    if (t > 0.5) continue;
    t = std::exp(t);
    s = s + t * last;
  }
  double scratch[3];
#pragma omp parallel for private(scratch) reduction(+ : s)
  for (i = n; i > 0; --i) {
    for (int j = 0; j < 3; ++j) scratch[j] = x[i + j] * x[j];
    s += scratch[0] * scratch[1] * scratch[2];
  }
  return s * last;
}

struct Spring {
  double k, rest;
  std::vector<double> mass;
  double energy(const std::vector<double>& at) const {
    double e = 0;
#pragma omp parallel for reduction(+ : e)
    for (std::size_t i = 1; i < at.size(); ++i) {
      const double d = at[i] - at[i - 1] - rest;
      e += 0.5 * k * d * d * mass[i] * mass[0];
    }
    return e;
  }
  void move(std::vector<double>& at) {
    const int n = static_cast<int>(at.size());
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
      at[i] *= k;
      mass[i] += at[i] * rest;
    }
  }
};
double method(const double* x, int n) {
  Spring spring{x[0], x[1], std::vector<double>(x, x + n + 1)};
  std::vector<double> at(x + 2, x + n + 3);
  const double before = spring.energy(at);
  spring.move(at);
  return before + spring.energy(at);
}

double dot(const double* a, const double* b, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += a[i] * b[i];
  return s;
}
void normalize(double* row, double by) {
  for (int j = 0; j < 3; ++j) row[j] = row[j] / (1 + by * by);
}
double square(const double& v) { return v * v; }
double calls(const double* x, int n) {
  std::vector<double> rows(x, x + 3 * n);
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) {
    double* row = rows.data() + 3 * i;
    normalize(row, x[3 * n]);
    s += dot(row, x + 3 * n, 3) * square(x[3 * n + 1]);
  }
  return s;
}

double tail(const double* x, int from, int n) {
  double s = 0;
  for (int i = from; i < n; ++i) s += x[i] * x[i];
  return s;
}
double sums_of(const std::vector<double>& v) { return v[0] * v[1]; }
double with_others(const double* x, const double* y, const std::vector<double>& v, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += x[i] * tail(x, n - 3, n) + y[i] * sums_of(v) * v[i];
  return s;
}
double shared_with_calls(const double* x, int n) {
  const std::vector<double> v(x, x + n + 2);
  return n < 3 ? x[0] : with_others(x, x + 1, v, n);
}

double inner_loops(const double* x, int n) {
  std::vector<double> y(n);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double v = 1 + x[i] * x[i];
    int steps = 0;
    while (v > 1.1 && steps < 5) {  // Newton's method, of no known length
      v = 0.5 * (v + (1 + x[i + 1] * x[i + 1] * 0.1) / v);
      ++steps;
    }
    std::vector<double> powers(3);
    powers[0] = v;
    for (int j = 1; j < 3; ++j) powers[j] = powers[j - 1] * v;
    y[i] = powers[2] + powers[1];
  }
  double s = 0;
  for (double v : y) s += v;
  return s;
}

double ranges(const double* x, int n) {
  std::vector<double> v(x, x + n);
#pragma omp parallel for
  for (double& e : v) e = e * e * x[0];
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (const double& e : v) s += std::cos(e);
  return s;
}

double regions(const double* x, int n) {
  std::vector<double> a(n), b(n);
  double s = 0;
#pragma omp parallel shared(a, b) reduction(+ : s)
  {
#pragma omp for nowait
    for (int i = 0; i < n; ++i) a[i] = x[i] * x[i];
#pragma omp for schedule(static)
    for (int i = 0; i < n; ++i) {
      b[i] = x[i] * x[i + 1];
      s += b[i];
    }
  }
#pragma omp simd reduction(+ : s)
  for (int i = 0; i < n; ++i) s += a[i] * b[i];
#pragma omp parallel for simd reduction(+ : s)
  for (int i = 0; i <= n - 1; i++) s += a[i] * a[i];
  return s;
}

double collapsed(const double* x, int n) {
  const int rows = n / 2, columns = 2;
  std::vector<double> y(rows * columns);
  int i, j;
#pragma omp parallel for collapse(2) private(j)
  for (i = 0; i < rows; ++i)
    for (j = 0; j < columns; ++j) y[i * columns + j] = x[i * columns + j] * x[j] * x[i];
  double s = 0;
  for (std::size_t k = 0; k < y.size(); ++k) s += y[k] * y[k];
  return s;
}

struct Body {
  std::array<double, 2> at, force;
};
double bodies(const double* x, int n) {
  const int count = std::min(n, 40);
  std::vector<Body> b(count);
  for (int i = 0; i < count; ++i) b[i].at = {x[2 * i], x[2 * i + 1] + i};
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < count; ++i) {
    b[i].force = {0, 0};
    for (int k = 0; k < count; ++k) {
      const double dx = b[k].at[0] - b[i].at[0], dy = b[k].at[1] - b[i].at[1];
      const double r = 1 / (0.5 + dx * dx + dy * dy);
      b[i].force[0] += dx * r;
      b[i].force[1] += dy * r;
    }
  }
  double s = 0;
  for (const Body& one : b) s += one.force[0] * one.force[0] + one.force[1];
  return s;
}

double partial(const std::vector<std::vector<double>>& m, int row) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (std::size_t j = 0; j < m[row].size(); ++j) s += m[row][j] * m[0][j];
  return s;
}
double nested(const double* x, int n) {
  const int rows = std::min(n, 8);
  std::vector<std::vector<double>> m(rows, std::vector<double>(4));
#pragma omp parallel for
  for (int i = 0; i < rows; ++i) {
#pragma omp parallel for
    for (int j = 0; j < 4; ++j) m[i][j] = x[4 * i + j] * x[j];
  }
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < rows; ++i) s += partial(m, i);
  return s;
}

double coefficients(const double* x, int n) {
  std::array<double, 3> c{x[0], x[1], x[2]};
  double weights[2] = {x[3], x[4]};
  std::vector<double> y(n);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double p = 0;
    for (int k = 0; k < 3; ++k) p = p * x[i] + c[k];
    y[i] = weights[i % 2] * p;
  }
  double s = 0;
  for (double v : y) s += v * v;
  return s;
}

double guarded(const double* x, int n) {
  std::vector<double> y(x, x + n + 1);
  double first = 0;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double& e = y[i + 1];
    if (i == 0) first = e * x[3];
    e = e > 0 ? e * x[i] : -e * x[2];
  }
  double s = first * first;
  for (double v : y) s += v * v;
  return s;
}

template <class F>
double sum_over(const std::vector<double>& v, F f) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (auto it = v.begin(); it < v.end(); ++it) s += f(*it);
  return s;
}
double power(double x, int k) { return k == 0 ? 1 : x * power(x, k - 1); }
double functions(const double* x, int n) {
  const std::vector<double> v(x, x + n);
  const double a = x[2];
  return sum_over(v, [&](double e) { return std::sin(a * e); }) *
         sum_over(v, [](double e) { return power(e, 3); });
}

void scale(double* x, int n, double by) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    x[i] *= by;
    x[i] = std::sin(x[i]);
  }
}
double in_place(const double* x, int n) {
  std::vector<double> v(x, x + 2 * n + 2);
  scale(v.data(), n, v[0]);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) v[i] = v[i] * v[i + n] + v[i + n];
  scale(v.data() + 1, n, 0.7);
  return v[0] * v[n] + dot(v.data(), v.data(), n);
}

double triangle(const double* x, int n) {
  const int m = std::min(n, 30);
  std::vector<double> y(m * m);
  double columns[4] = {};
#pragma omp parallel for schedule(monotonic : dynamic)
  for (int i = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j) y[i * m + j] = x[j] * x[i];
#pragma omp parallel for
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < m; ++i) columns[j] += y[i * m + i] * x[4 * i + j] * x[j];
  double s = columns[0] * columns[1] + columns[2] * columns[3];
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < m; ++i)
    for (int j = i; j < m; ++j) s += y[j * m + i] * y[j * m + i] * x[i];
  return s;
}

struct Weights {
  std::array<double, 4> slopes;
  double ends[2];
  double scale;
};
double layered(const Weights& w, double x) {
  double s = w.ends[0];
  for (int k = 0; k < 4; ++k) s = std::tanh(w.slopes[k] * s + x);
  return s * w.scale + w.ends[1];
}
double polynomial(const std::array<double, 3>& c, double x) {
  double y = 0;
  for (std::size_t k = 0; k < c.size(); ++k) y = y * x + c[k];
  return y;
}
double over_all(const Weights& w, const double* x, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += layered(w, x[i]) * w.scale;
  return s;
}
double objects(const double* x, int n) {
  Weights w{{x[0], x[1], x[2], x[3]}, {x[4], x[5]}, x[6]};
  const std::array<double, 3> c{x[1], x[3], x[5]};
  Weights changed = w;
  double s = 0;
#pragma omp parallel for reduction(+ : s) schedule(dynamic)
  for (int i = 0; i < n; ++i) {
    const Weights& same = w;
    s += layered(same, x[i]) * polynomial(c, x[i + 1]) + w.slopes[i % 4];
  }
  w.scale *= s;
  Weights pointed = w;
  const Weights* const there = &pointed;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += layered(pointed, x[i]) * there->slopes[i % 4];
#pragma omp parallel for
  for (int i = 0; i < 4; ++i) changed.slopes[i] = layered(w, changed.slopes[i]);
  double t = over_all(changed, x + 1, n);
#pragma omp parallel for reduction(+ : t)
  for (int i = 0; i < 3; ++i) t += over_all(w, x + i, std::min(n, 20));
  return s + t / (n + 1);
}

#define CLAD_OPENMP_KERNELS(CASE) \
  CASE(sum_of_sines)              \
  CASE(overlapping)               \
  CASE(matrix_vector)             \
  CASE(diffusion)                 \
  CASE(checkpointed)              \
  CASE(gather)                    \
  CASE(extremes)                  \
  CASE(private_variables)         \
  CASE(method)                    \
  CASE(calls)                     \
  CASE(shared_with_calls)         \
  CASE(inner_loops)               \
  CASE(ranges)                    \
  CASE(regions)                   \
  CASE(collapsed)                 \
  CASE(bodies)                    \
  CASE(nested)                    \
  CASE(coefficients)              \
  CASE(guarded)                   \
  CASE(functions)                 \
  CASE(in_place)                  \
  CASE(triangle)                  \
  CASE(objects)

std::vector<Case> all_cases() {
  std::vector<Case> cases;
#define CLAD_OPENMP_CASE(f)                                                                            \
  cases.push_back({#f, f,                                                                              \
                   [](const double* x, int n, double* d) { clad::gradient(f, "x").execute(x, n, d); }, \
                   [](const double* x, int n, double* d) {                                             \
                     return clad::pushforward(f, "x").execute(x, n, d).pushforward;                    \
                   }});
  CLAD_OPENMP_KERNELS(CLAD_OPENMP_CASE)
#undef CLAD_OPENMP_CASE
  return cases;
}

}  // namespace
