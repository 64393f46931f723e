// Matrices in arrays of numbers.
#include <utility>

#include "bench/ad/kernel.h"
#include "clad/Differentiator/Differentiator.h"

namespace cladtorch::bench {
namespace {

std::vector<double> zeros(int n) { return std::vector<double>(static_cast<std::size_t>(n)); }

/// The squares of the elements of A B, summed.
double matrix_product(const double* x, int m) {
  const double* a = x;
  const double* b = x + m * m;
  std::vector<double> c(m * m);
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < m; ++k)
      for (int j = 0; j < m; ++j) c[i * m + j] += a[i * m + k] * b[k * m + j];
  double s = 0;
  for (int i = 0; i < m * m; ++i) s += c[i] * c[i];
  return s;
}
void matrix_product_by_hand(const double* x, int m, double* d_x) {
  const double *a = x, *b = x + m * m;
  double *d_a = d_x, *d_b = d_x + m * m;
  std::vector<double> d_c = zeros(m * m);
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < m; ++k)
      for (int j = 0; j < m; ++j) d_c[i * m + j] += a[i * m + k] * b[k * m + j];
  for (double& c : d_c) c *= 2;
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < m; ++k) {
      double d = 0;
      for (int j = 0; j < m; ++j) {
        d += d_c[i * m + j] * b[k * m + j];
        d_b[k * m + j] += d_c[i * m + j] * a[i * m + k];
      }
      d_a[i * m + k] += d;
    }
}

/// |L v|^2 with L lower triangular.
double triangular_product(const double* x, int n) {
  const double* v = x + n * n;
  double s = 0;
  for (int i = 0; i < n; ++i) {
    double y = 0;
    for (int j = 0; j <= i; ++j) y += x[i * n + j] * v[j];
    s += y * y;
  }
  return s;
}
void triangular_product_by_hand(const double* x, int n, double* d_x) {
  const double* v = x + n * n;
  double* d_v = d_x + n * n;
  for (int i = 0; i < n; ++i) {
    double y = 0;
    for (int j = 0; j <= i; ++j) y += x[i * n + j] * v[j];
    const double d_y = 2 * y;
    for (int j = 0; j <= i; ++j) {
      d_x[i * n + j] += d_y * v[j];
      d_v[j] += d_y * x[i * n + j];
    }
  }
}

/// The sum of the solution of A y = b, by LU factors without pivoting.
double lu_solve(const double* x, int n) {
  std::vector<double> a(x, x + n * n), y(x + n * n, x + n * n + n);
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) y[i] -= a[i * n + j] * y[j];
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) y[i] -= a[i * n + j] * y[j];
    y[i] /= a[i * n + i];
  }
  double s = 0;
  for (int i = 0; i < n; ++i) s += y[i];
  return s;
}
/// Each element of the factors is final when it is read: nothing need be kept but them and the two solutions.
void lu_solve_by_hand(const double* x, int n, double* d_x) {
  std::vector<double> a(x, x + n * n), z(x + n * n, x + n * n + n), d_a = zeros(n * n), d_y = zeros(n);
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) z[i] -= a[i * n + j] * z[j];
  std::vector<double> y = z;
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) y[i] -= a[i * n + j] * y[j];
    y[i] /= a[i * n + i];
  }
  for (int i = 0; i < n; ++i) {
    d_y[i] = (d_y[i] + 1) / a[i * n + i];
    d_a[i * n + i] -= d_y[i] * y[i];
    for (int j = i + 1; j < n; ++j) {
      d_a[i * n + j] -= d_y[i] * y[j];
      d_y[j] -= d_y[i] * a[i * n + j];
    }
  }
  for (int i = n - 1; i >= 0; --i)
    for (int j = 0; j < i; ++j) {
      d_a[i * n + j] -= d_y[i] * z[j];
      d_y[j] -= d_y[i] * a[i * n + j];
    }
  for (int k = n - 1; k >= 0; --k)
    for (int i = k + 1; i < n; ++i) {
      double d_l = d_a[i * n + k];
      for (int j = k + 1; j < n; ++j) {
        d_l -= d_a[i * n + j] * a[k * n + j];
        d_a[k * n + j] -= d_a[i * n + j] * a[i * n + k];
      }
      d_a[i * n + k] = d_l / a[k * n + k];
      d_a[k * n + k] -= d_a[i * n + k] * a[i * n + k];
    }
  for (int i = 0; i < n * n; ++i) d_x[i] += d_a[i];
  for (int i = 0; i < n; ++i) d_x[n * n + i] += d_y[i];
}

/// An image of m x m numbers with a filter of 3 x 3; the squares summed.
double convolution(const double* x, int m) {
  const double* filter = x + m * m;
  double s = 0;
  for (int i = 0; i + 2 < m; ++i)
    for (int j = 0; j + 2 < m; ++j) {
      double y = 0;
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) y += filter[3 * k + l] * x[(i + k) * m + j + l];
      s += y * y;
    }
  return s;
}
void convolution_by_hand(const double* x, int m, double* d_x) {
  const double* filter = x + m * m;
  double* d_filter = d_x + m * m;
  for (int i = 0; i + 2 < m; ++i)
    for (int j = 0; j + 2 < m; ++j) {
      double y = 0;
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) y += filter[3 * k + l] * x[(i + k) * m + j + l];
      const double d_y = 2 * y;
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) {
          d_filter[3 * k + l] += d_y * x[(i + k) * m + j + l];
          d_x[(i + k) * m + j + l] += d_y * filter[3 * k + l];
        }
    }
}

auto matrix_product_gradient = clad::gradient(matrix_product, "x");
auto triangular_product_gradient = clad::gradient(triangular_product, "x");
auto lu_solve_gradient = clad::gradient(lu_solve, "x");
auto convolution_gradient = clad::gradient(convolution, "x");

}  // namespace

void add_linear_algebra(std::vector<Kernel>& to, bool small) {
  const int m = small ? 4 : 40;
  to.push_back(kernel("matrix product", numbers(2 * m * m), matrix_product, matrix_product_by_hand,
                      matrix_product_gradient, m));
  to.push_back(kernel("triangular product", numbers(m * m + m), triangular_product,
                      triangular_product_by_hand, triangular_product_gradient, m));
  std::vector<double> system = numbers(m * m + m);
  for (int i = 0; i < m; ++i) system[i * m + i] += m;
  to.push_back(kernel("LU solve", system, lu_solve, lu_solve_by_hand, lu_solve_gradient, m));
  to.push_back(
      kernel("convolution", numbers(m * m + 9), convolution, convolution_by_hand, convolution_gradient, m));
}

}  // namespace cladtorch::bench
