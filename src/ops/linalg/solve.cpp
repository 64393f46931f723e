// What is made of the factors of LU, and of triangles.
#include <cmath>

#include "cladtorch/ops/reduce.h"
#include "cladtorch/tensor/gradient_target.h"
#include "cladtorch/tensor/recorder.h"
#include "ops/common/reduce_to.h"
#include "ops/linalg/matrices.h"

namespace cladtorch::linalg {

namespace lapack = cladtorch::detail::lapack;
using cladtorch::detail::dispatch_floating;

bool available() { return lapack::available(); }
bool detail::is_vector(const Shape& a, const Shape& b) {
  return b.rank() == 1 || b == a.without(a.rank() - 1);
}

Factors factors_of(const char* operation, const Tensor& a, bool singular_is_error) {
  call_of_square(operation, a);
  Factors factors{a.clone(), Tensor::empty(a.shape().without(a.dim() - 1), DType::int32)};
  const int64_t n = a.size(-1);
  int32_t* const pivots = factors.pivots.data<int32_t>();
  dispatch_floating(operation, a.dtype(), [&]<class T>(T) {
    T* const data = factors.lu.data<T>();
    for_each_matrix(operation, "is singular", batch_of(a.shape()).numel(), [&](int64_t i) {
      const int info = lapack::factor(static_cast<int>(n), data + i * n * n, pivots + i * n);
      return singular_is_error ? info : 0;
    });
  });
  return factors;
}

Tensor solved(const char* operation, const Factors& factors, const Tensor& b, bool by_transposed) {
  Tensor x;
  const int64_t n = factors.lu.size(-1);
  dispatch_floating(operation, b.dtype(), [&]<class T>(T) {
    const T* const lu = factors.lu.data<T>();
    const int32_t* const pivots = factors.pivots.data<int32_t>();
    x = solved_columns<T>(operation, "is singular", factors.lu.shape(), b, [&](int64_t i, int k, T* columns) {
      return lapack::solve(static_cast<int>(n), k, by_transposed, lu + i * n * n, pivots + i * n, columns);
    });
  });
  return x;
}

Tensor solved_triangle(const char* operation, const Tensor& a, const Tensor& b, bool upper,
                       bool by_transposed, bool unit) {
  const Tensor dense = a.contiguous();
  const int64_t n = a.size(-1);
  Tensor x;
  dispatch_floating(operation, a.dtype(), [&]<class T>(T) {
    const T* const triangle = dense.data<T>();
    x = solved_columns<T>(operation, "is singular", a.shape(), b, [&](int64_t i, int k, T* columns) {
      return lapack::solve_triangle(static_cast<int>(n), k, upper, by_transposed, unit, triangle + i * n * n,
                                    columns);
    });
  });
  return x;
}

Tensor inverse(const char* operation, const Factors& factors) {
  const Tensor& lu = factors.lu;
  const Tensor ones = eye(lu.size(-1), lu.dtype()).expand(lu.shape());
  return transposed(solved(operation, factors, ones, true));
}

namespace {

/// The sign of the determinant and the logarithm of its absolute value, of each matrix.
std::vector<std::pair<double, double>> determinants(const Factors& factors) {
  const int64_t n = factors.lu.size(-1);
  std::vector<std::pair<double, double>> result;
  const int32_t* const pivots = factors.pivots.data<int32_t>();
  dispatch_floating("det", factors.lu.dtype(), [&]<class T>(T) {
    const T* const lu = factors.lu.data<T>();
    for (int64_t m = 0; m < batch_of(factors.lu.shape()).numel(); ++m) {
      double sign = 1, logarithm = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double pivot = static_cast<double>(lu[(m * n + i) * n + i]);
        if (pivots[m * n + i] != i + 1) sign = -sign;
        sign = pivot > 0 ? sign : pivot < 0 ? -sign : pivot * 0;
        logarithm += std::log(std::abs(pivot));
      }
      result.emplace_back(sign, logarithm);
    }
  });
  return result;
}

void write(Tensor& y, const std::vector<double>& values) {
  dispatch_floating("det", y.dtype(), [&]<class T>(T) {
    for (size_t i = 0; i < values.size(); ++i) y.data<T>()[i] = static_cast<T>(values[i]);
  });
}

/// d times the transposed inverse.
void accumulate_inverse(const char* operation, const DeterminantState& state, const Tensor& d, Tensor* d_a) {
  const auto all = determinants(state.factors);
  for (size_t i = 0; i < all.size(); ++i)
    require(all[i].first != 0, operation, ": matrix ", i,
            " is singular, where the derivative is not computed");
  const Tensor each = d.unsqueeze(-1).unsqueeze(-1);
  d_a->accumulate(mul(each, transposed(inverse(operation, state.factors))));
}

Factors factors_to_solve(const Tensor& a, const Tensor& b) {
  call_of_square("solve", a);
  require(b.defined() && b.dtype() == a.dtype() && b.dim() >= 1, "solve: expected b of ", a.dtype(),
          " for a of shape ", a.shape());
  const int64_t rows = detail::is_vector(a.shape(), b.shape()) ? b.size(-1) : b.size(-2);
  require(rows == a.size(-1), "solve: a is ", a.shape(), ", b is ", b.shape());
  return factors_of("solve", a, true);
}
Tensor solve_by(const Factors& factors, const Tensor& a, const Tensor& b) {
  const cladtorch::detail::CpuCall call("solve", {{"a", a}, {"b", b}});
  const bool vector = detail::is_vector(a.shape(), b.shape());
  const Tensor x = call.finish(solved("solve", factors, vector ? b.unsqueeze(-1) : b, false));
  return vector ? x.squeeze(-1) : x;
}

void check_triangle(const Tensor& a, const Tensor& b) {
  call_of_square("solve_triangular", a);
  require(b.defined() && b.dim() >= 2 && b.dtype() == a.dtype() && b.size(-2) == a.size(-1),
          "solve_triangular: expected matrices that fit: a is ", a.shape(), ", b is ",
          b.defined() ? b.shape() : Shape());
}

}  // namespace

Tensor inv(const Tensor& a) {
  CLADTORCH_RECORD_STATE(MatrixState, inv, unread(a));
  const auto call = call_of_square("inv", a);
  return call.finish(inverse("inv", factors_of("inv", a, true)));
}

Tensor solve(const Tensor& a, const Tensor& b) {
  CLADTORCH_RECORD_STATE(SolveState, solve, unread(a), unread(b));
  return solve_by(factors_to_solve(a, b), a, b);
}

static LogDeterminant logarithm_of(const Factors& factors, bool frozen) {
  cladtorch::detail::count_op();
  const Shape batch = batch_of(factors.lu.shape());
  LogDeterminant y{Tensor::empty(batch, factors.lu.dtype()), Tensor::empty(batch, factors.lu.dtype())};
  std::vector<double> signs, logarithms;
  for (const auto& [sign, logarithm] : determinants(factors)) {
    signs.push_back(sign);
    logarithms.push_back(logarithm);
  }
  write(y.sign, signs);
  write(y.logabsdet, logarithms);
  y.sign.set_frozen(frozen);
  y.logabsdet.set_frozen(frozen);
  return y;
}
static Tensor determinant_of(const Factors& factors, bool frozen) {
  cladtorch::detail::count_op();
  Tensor y = Tensor::empty(batch_of(factors.lu.shape()), factors.lu.dtype());
  std::vector<double> values;
  for (const auto& [sign, logarithm] : determinants(factors))
    values.push_back(sign == 0 ? 0 : sign * std::exp(logarithm));
  write(y, values);
  y.set_frozen(frozen);
  return y;
}

Tensor det(const Tensor& a) {
  CLADTORCH_RECORD_STATE(DeterminantState, det, unread(a));
  return determinant_of(factors_of("det", a, false), a.is_frozen());
}
LogDeterminant slogdet(const Tensor& a) {
  CLADTORCH_RECORD_STATE(DeterminantState, slogdet, unread(a));
  return logarithm_of(factors_of("slogdet", a, false), a.is_frozen());
}

Tensor detail::solve_triangle(const Tensor& a, const Tensor& b, bool upper, bool unitriangular) {
  using ::clad::custom_derivatives::cladtorch::linalg::detail::solve_triangle_pullback;
  using ::clad::custom_derivatives::cladtorch::linalg::detail::solve_triangle_reverse_forw;
  CLADTORCH_RECORD_STATE(TriangleState, solve_triangle, a, unread(b), upper, unitriangular);
  check_triangle(a, b);
  const cladtorch::detail::CpuCall call("solve_triangular", {{"a", a}, {"b", b}});
  return call.finish(solved_triangle("solve_triangular", a, b, upper, false, unitriangular));
}

void detail::require_full_rank(const Tensor& r, int64_t rows) {
  const NotRecorded constant;
  const int64_t n = r.size(-1);
  const Tensor dense = r.contiguous();
  dispatch_floating("lstsq", r.dtype(), [&]<class T>(T) {
    for (int64_t m = 0; m < batch_of(r.shape()).numel(); ++m) {
      T least = INFINITY, most = 0;
      for (int64_t i = 0; i < n; ++i) {
        const T entry = std::abs(dense.data<T>()[(m * n + i) * n + i]);
        least = std::min(least, entry);
        most = std::max(most, entry);
      }
      require(n == 0 || least > most * static_cast<T>(rows) * std::numeric_limits<T>::epsilon(),
              "lstsq: matrix ", m, " is not of full rank");
    }
  });
}

}  // namespace cladtorch::linalg

namespace clad::custom_derivatives::cladtorch::linalg {
using ::cladtorch::mul;
using ::cladtorch::Shape;
using ::cladtorch::wanted;
namespace internal = ::cladtorch::linalg;

/// *d += the product of a and b, times -1, summed to a shape.
static void subtract_product(Tensor* d, const Tensor& a, const Tensor& b, const Shape& shape) {
  ::cladtorch::detail::accumulate_reduced(d, ::cladtorch::scale(matmul(a, b), -1), shape);
}

Tensor inv_reverse_forw(const Tensor& a, pullback_state<MatrixState>& state) { return state.data.y = inv(a); }
void inv_pullback(const Tensor&, Tensor d_y, Tensor* d_a, pullback_state<MatrixState>& state) {
  const Tensor& y = state.data.y;
  if (!wanted(d_a, y) || !d_y.defined()) return;
  const Tensor t = internal::transposed(y);
  subtract_product(d_a, matmul(t, d_y), t, y.shape());
}

Tensor solve_reverse_forw(const Tensor& a, const Tensor& b, pullback_state<SolveState>& state) {
  Factors factors = internal::factors_to_solve(a, b);
  Tensor x = internal::solve_by(factors, a, b);
  state.data = {std::move(factors), x, a.shape(), b.shape(), a.is_frozen(), b.is_frozen()};
  return x;
}
void solve_pullback(const Tensor&, const Tensor&, Tensor d_x, Tensor* d_a, Tensor* d_b,
                    pullback_state<SolveState>& state) {
  const SolveState& s = state.data;
  d_a = wanted(d_a, s.a_frozen);
  d_b = wanted(d_b, s.b_frozen);
  if (!d_x.defined() || (!d_a && !d_b)) return;
  const bool vector = internal::detail::is_vector(s.a, s.b);
  const auto columns = [&](const Tensor& x) { return vector ? x.unsqueeze(-1) : x; };
  const Tensor g = internal::solved("solve", s.factors, columns(d_x), true);
  if (d_a) subtract_product(d_a, g, internal::transposed(columns(s.x)), s.a);
  if (d_b) ::cladtorch::detail::accumulate_reduced(d_b, vector ? g.squeeze(-1) : g, s.b);
}

Tensor det_reverse_forw(const Tensor& a, pullback_state<DeterminantState>& state) {
  Factors factors = internal::factors_of("det", a, false);
  Tensor y = internal::determinant_of(factors, a.is_frozen());
  state.data = {std::move(factors), y, a.is_frozen()};
  return y;
}
void det_pullback(const Tensor&, Tensor d_y, Tensor* d_a, pullback_state<DeterminantState>& state) {
  if (wanted(d_a, state.data.frozen) && d_y.defined())
    internal::accumulate_inverse("det", state.data, mul(d_y, state.data.y), d_a);
}

LogDeterminant slogdet_reverse_forw(const Tensor& a, pullback_state<DeterminantState>& state) {
  Factors factors = internal::factors_of("slogdet", a, false);
  LogDeterminant y = internal::logarithm_of(factors, a.is_frozen());
  state.data = {std::move(factors), Tensor(), a.is_frozen()};
  return y;
}
void slogdet_pullback(const Tensor&, LogDeterminant d_y, Tensor* d_a,
                      pullback_state<DeterminantState>& state) {
  if (wanted(d_a, state.data.frozen) && d_y.logabsdet.defined())
    internal::accumulate_inverse("slogdet", state.data, d_y.logabsdet, d_a);
}

namespace detail {
Tensor solve_triangle_reverse_forw(const Tensor& a, const Tensor& b, bool upper, bool unitriangular,
                                   pullback_state<TriangleState>& state) {
  Tensor x = internal::detail::solve_triangle(a, b, upper, unitriangular);
  state.data = {x, b.shape(), b.is_frozen()};
  return x;
}
void solve_triangle_pullback(const Tensor& a, const Tensor&, bool upper, bool unitriangular, Tensor d_x,
                             Tensor* d_a, Tensor* d_b, pullback_state<TriangleState>& state) {
  d_a = wanted(d_a, a);
  d_b = wanted(d_b, state.data.b_frozen);
  if (!d_x.defined() || (!d_a && !d_b)) return;
  const Tensor g = internal::solved_triangle("solve_triangular", a, d_x, upper, true, unitriangular);
  if (d_a) {
    const Tensor product = ::cladtorch::scale(matmul(g, internal::transposed(state.data.x)), -1);
    const int64_t skipped = unitriangular ? 1 : 0;
    ::cladtorch::detail::accumulate_reduced(
        d_a, upper ? ::cladtorch::triu(product, skipped) : ::cladtorch::tril(product, -skipped), a.shape());
  }
  if (d_b) ::cladtorch::detail::accumulate_reduced(d_b, g, state.data.b);
}
}  // namespace detail

}  // namespace clad::custom_derivatives::cladtorch::linalg
