// Time steps, particles and paths.
#include <array>
#include <cmath>
#include <utility>

#include "bench/ad/kernel.h"
#include "clad/Differentiator/Differentiator.h"

namespace cladtorch::bench {
namespace {

/// Burgers' equation in one dimension.
double burgers(const double* x, int n, int steps) {
  std::vector<double> u(x, x + n), v(n);
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      v[i] = u[i] - 0.1 * u[i] * (u[i] - u[i - 1]) + 0.05 * (u[i + 1] - 2 * u[i] + u[i - 1]);
    for (int i = 1; i < n - 1; ++i) u[i] = v[i];
  }
  double s = 0;
  for (int i = 0; i < n; ++i) s += u[i] * u[i];
  return s;
}
void burgers_by_hand(const double* x, int n, int steps, double* d_x) {
  std::vector<double> all(static_cast<std::size_t>(n) * (steps + 1)), d_u(static_cast<std::size_t>(n)),
      d_v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[i] = x[i];
  for (int t = 0; t < steps; ++t) {
    const double* u = &all[t * n];
    double* v = &all[(t + 1) * n];
    v[0] = u[0];
    v[n - 1] = u[n - 1];
    for (int i = 1; i < n - 1; ++i)
      v[i] = u[i] - 0.1 * u[i] * (u[i] - u[i - 1]) + 0.05 * (u[i + 1] - 2 * u[i] + u[i - 1]);
  }
  for (int i = 0; i < n; ++i) d_u[i] = 2 * all[steps * n + i];
  for (int t = steps - 1; t >= 0; --t) {
    const double* u = &all[t * n];
    for (int i = 1; i < n - 1; ++i) {
      d_v[i] = d_u[i];
      d_u[i] = 0;
    }
    for (int i = 1; i < n - 1; ++i) {
      const double d = d_v[i];
      d_u[i] += d * (0.9 - 0.2 * u[i] + 0.1 * u[i - 1]);
      d_u[i - 1] += d * (0.1 * u[i] + 0.05);
      d_u[i + 1] += 0.05 * d;
    }
  }
  for (int i = 0; i < n; ++i) d_x[i] += d_u[i];
}

/// The heat equation on a square.
double heat(const double* x, int m, int steps) {
  std::vector<double> u(x, x + m * m), v(x, x + m * m);
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < m - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        v[i * m + j] = u[i * m + j] + 0.1 * (u[i * m + j - 1] + u[i * m + j + 1] + u[(i - 1) * m + j] +
                                             u[(i + 1) * m + j] - 4 * u[i * m + j]);
    std::swap(u, v);
  }
  double s = 0;
  for (int i = 0; i < m * m; ++i) s += u[i] * u[i];
  return s;
}
void heat_by_hand(const double* x, int m, int steps, double* d_x) {
  std::vector<double> u(x, x + m * m), v = u;
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < m - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        v[i * m + j] = u[i * m + j] + 0.1 * (u[i * m + j - 1] + u[i * m + j + 1] + u[(i - 1) * m + j] +
                                             u[(i + 1) * m + j] - 4 * u[i * m + j]);
    std::swap(u, v);
  }
  std::vector<double> d_u(u), d_v(static_cast<std::size_t>(m) * m);
  for (double& d : d_u) d *= 2;
  for (int t = 0; t < steps; ++t) {
    std::swap(d_u, d_v);
    for (int i = 1; i < m - 1; ++i)
      for (int j = 1; j < m - 1; ++j) {
        const double d = d_v[i * m + j], part = 0.1 * d;
        d_v[i * m + j] = 0;
        d_u[i * m + j] += d - 4 * part;
        d_u[i * m + j - 1] += part;
        d_u[i * m + j + 1] += part;
        d_u[(i - 1) * m + j] += part;
        d_u[(i + 1) * m + j] += part;
      }
  }
  for (int i = 0; i < m * m; ++i) d_x[i] += d_u[i] + d_v[i];
}

/// Squared accelerations of n bodies of mass 1.
double bodies(const double* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double a[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      double dx = x[3 * j] - x[3 * i];
      double dy = x[3 * j + 1] - x[3 * i + 1];
      double dz = x[3 * j + 2] - x[3 * i + 2];
      double r2 = dx * dx + dy * dy + dz * dz + 0.01;
      double w = 1 / (r2 * std::sqrt(r2));
      a[0] += w * dx;
      a[1] += w * dy;
      a[2] += w * dz;
    }
    s += a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
  }
  return s;
}
void bodies_by_hand(const double* x, int n, double* d_x) {
  for (int i = 0; i < n; ++i) {
    double a[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      const double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1],
                   dz = x[3 * j + 2] - x[3 * i + 2], r2 = dx * dx + dy * dy + dz * dz + 0.01,
                   w = 1 / (r2 * std::sqrt(r2));
      a[0] += w * dx;
      a[1] += w * dy;
      a[2] += w * dz;
    }
    double sum[3] = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      const double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1],
                   dz = x[3 * j + 2] - x[3 * i + 2], r2 = dx * dx + dy * dy + dz * dz + 0.01,
                   w = 1 / (r2 * std::sqrt(r2));
      const double d_w = 2 * (a[0] * dx + a[1] * dy + a[2] * dz), d_r2 = -1.5 * d_w * w / r2;
      const double d[3] = {2 * (a[0] * w + d_r2 * dx), 2 * (a[1] * w + d_r2 * dy),
                           2 * (a[2] * w + d_r2 * dz)};
      for (int c = 0; c < 3; ++c) {
        d_x[3 * j + c] += d[c];
        sum[c] += d[c];
      }
    }
    for (int c = 0; c < 3; ++c) d_x[3 * i + c] -= sum[c];
  }
}

/// The Lorenz system by Runge and Kutta's method: x, y, z, then its three parameters.
using Point = std::array<double, 3>;
Point slope(const Point& u, double sigma, double rho, double beta) {
  return {sigma * (u[1] - u[0]), u[0] * (rho - u[2]) - u[1], u[0] * u[1] - beta * u[2]};
}
Point along(const Point& u, double h, const Point& k) {
  return {u[0] + h * k[0], u[1] + h * k[1], u[2] + h * k[2]};
}
double lorenz(const double* x, int steps) {
  const double h = 0.001;
  Point u = {x[0], x[1], x[2]};
  for (int t = 0; t < steps; ++t) {
    Point a = slope(u, x[3], x[4], x[5]);
    Point b = slope(along(u, h / 2, a), x[3], x[4], x[5]);
    Point c = slope(along(u, h / 2, b), x[3], x[4], x[5]);
    Point d = slope(along(u, h, c), x[3], x[4], x[5]);
    for (int i = 0; i < 3; ++i) u[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
}
void slope_back(const Point& u, const double* x, const Point& d_k, Point& d_u, double* d_x) {
  d_x[3] += d_k[0] * (u[1] - u[0]);
  d_x[4] += d_k[1] * u[0];
  d_x[5] -= d_k[2] * u[2];
  d_u[0] += -d_k[0] * x[3] + d_k[1] * (x[4] - u[2]) + d_k[2] * u[1];
  d_u[1] += d_k[0] * x[3] - d_k[1] + d_k[2] * u[0];
  d_u[2] += -d_k[1] * u[0] - d_k[2] * x[5];
}
void lorenz_by_hand(const double* x, int steps, double* d_x) {
  const double h = 0.001;
  std::vector<Point> before(static_cast<std::size_t>(steps));
  Point u = {x[0], x[1], x[2]};
  auto k = [&](const Point& p) { return slope(p, x[3], x[4], x[5]); };
  for (int t = 0; t < steps; ++t) {
    before[t] = u;
    const Point a = k(u), b = k(along(u, h / 2, a)), c = k(along(u, h / 2, b)), d = k(along(u, h, c));
    for (int i = 0; i < 3; ++i) u[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  Point d_u = {2 * u[0], 2 * u[1], 2 * u[2]};
  for (int t = steps - 1; t >= 0; --t) {
    u = before[t];
    const Point a = k(u), ub = along(u, h / 2, a), b = k(ub), uc = along(u, h / 2, b), c = k(uc),
                ud = along(u, h, c);
    Point d_a, d_b, d_c, d_d, d_p = {};
    for (int i = 0; i < 3; ++i) {
      d_a[i] = d_d[i] = h / 6 * d_u[i];
      d_b[i] = d_c[i] = h / 3 * d_u[i];
    }
    slope_back(ud, x, d_d, d_p, d_x);
    for (int i = 0; i < 3; ++i) d_c[i] += h * d_p[i], d_u[i] += d_p[i], d_p[i] = 0;
    slope_back(uc, x, d_c, d_p, d_x);
    for (int i = 0; i < 3; ++i) d_b[i] += h / 2 * d_p[i], d_u[i] += d_p[i], d_p[i] = 0;
    slope_back(ub, x, d_b, d_p, d_x);
    for (int i = 0; i < 3; ++i) d_a[i] += h / 2 * d_p[i], d_u[i] += d_p[i];
    slope_back(u, x, d_a, d_u, d_x);
  }
  for (int i = 0; i < 3; ++i) d_x[i] += d_u[i];
}

/// Mean payoff of geometric Brownian paths: start, drift and volatility, then the random numbers.
double paths(const double* x, int n, int steps) {
  const double h = 1.0 / steps;
  double mean = 0;
  for (int p = 0; p < n; ++p) {
    double s = x[0];
    for (int t = 0; t < steps; ++t)
      s *= std::exp((x[1] - 0.5 * x[2] * x[2]) * h + x[2] * std::sqrt(h) * x[3 + p * steps + t]);
    if (s > 1) mean += (s - 1) / n;
  }
  return mean;
}
void paths_by_hand(const double* x, int n, int steps, double* d_x) {
  const double h = 1.0 / steps;
  std::vector<double> growth(static_cast<std::size_t>(steps)), before(static_cast<std::size_t>(steps));
  for (int p = 0; p < n; ++p) {
    const double* z = x + 3 + p * steps;
    double* d_z = d_x + 3 + p * steps;
    double s = x[0];
    for (int t = 0; t < steps; ++t) {
      before[t] = s;
      growth[t] = std::exp((x[1] - 0.5 * x[2] * x[2]) * h + x[2] * std::sqrt(h) * z[t]);
      s *= growth[t];
    }
    if (s <= 1) continue;
    double d_s = 1.0 / n;
    for (int t = steps - 1; t >= 0; --t) {
      const double d_e = d_s * before[t] * growth[t];
      d_x[1] += d_e * h;
      d_x[2] += d_e * (std::sqrt(h) * z[t] - x[2] * h);
      d_z[t] += d_e * x[2] * std::sqrt(h);
      d_s *= growth[t];
    }
    d_x[0] += d_s;
  }
}

auto burgers_gradient = clad::gradient(burgers, "x");
auto heat_gradient = clad::gradient(heat, "x");
auto bodies_gradient = clad::gradient(bodies, "x");
auto lorenz_gradient = clad::gradient(lorenz, "x");
auto paths_gradient = clad::gradient(paths, "x");

}  // namespace

void add_simulations(std::vector<Kernel>& to, bool small) {
  const int n = small ? 6 : 128, m = small ? 5 : 32, steps = small ? 3 : 20;
  to.push_back(kernel("Burgers", numbers(n), burgers, burgers_by_hand, burgers_gradient, n, steps));
  to.push_back(kernel("heat in 2-d", numbers(m * m), heat, heat_by_hand, heat_gradient, m, steps));
  to.push_back(kernel("N bodies", numbers(3 * m, -1, 1), bodies, bodies_by_hand, bodies_gradient, m));
  to.push_back(kernel("Lorenz, Runge-Kutta", {1, 2, 20, 10, 28, 8.0 / 3}, lorenz, lorenz_by_hand,
                      lorenz_gradient, 10 * steps));
  std::vector<double> market = numbers(3 + m * steps, -1, 1);
  market[0] = 1, market[1] = 0.05, market[2] = 0.2;
  to.push_back(kernel("Brownian paths", market, paths, paths_by_hand, paths_gradient, m, steps));
}

}  // namespace cladtorch::bench
