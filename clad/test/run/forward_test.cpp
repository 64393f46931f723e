// Forward mode: derivatives of one number, of higher order, directional derivatives and Hessians.
#include <array>
#include <vector>

#include <gmock/gmock.h>
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

double smooth(double x, double y) { return std::sin(x) * y * y + std::exp(x * y); }
TEST(Differentiate, TakesAParameterByNameOrIndex) {
  const double x = 0.7, y = 0.4, e = std::exp(x * y);
  EXPECT_DOUBLE_EQ(clad::differentiate(smooth, "x").execute(x, y), std::cos(x) * y * y + y * e);
  EXPECT_DOUBLE_EQ(clad::differentiate(smooth, 0).execute(x, y), std::cos(x) * y * y + y * e);
  EXPECT_DOUBLE_EQ(clad::differentiate(smooth, "y").execute(x, y), 2 * std::sin(x) * y + x * e);
  EXPECT_DOUBLE_EQ(clad::differentiate(&smooth, 1).execute(x, y), 2 * std::sin(x) * y + x * e);
}

double fifth(double x) { return x * x * x * x * x; }
TEST(Differentiate, TakesAnyOrder) {
  EXPECT_DOUBLE_EQ(clad::differentiate<1>(fifth, "x").execute(1.5), 5 * std::pow(1.5, 4));
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(fifth).execute(1.5), 20 * std::pow(1.5, 3));
  EXPECT_DOUBLE_EQ(clad::differentiate<clad::order::third>(fifth, 0).execute(1.5), 60 * std::pow(1.5, 2));
  EXPECT_DOUBLE_EQ(clad::differentiate<4>(fifth, 0).execute(1.5), 120 * 1.5);
  EXPECT_DOUBLE_EQ(clad::differentiate<5>(fifth, 0).execute(1.5), 120);
  EXPECT_DOUBLE_EQ(clad::differentiate<6>(fifth, 0).execute(1.5), 0);
  const double x = 0.7, y = 0.4, e = std::exp(x * y);
  EXPECT_DOUBLE_EQ(clad::differentiate<3>(smooth, "x").execute(x, y), -std::cos(x) * y * y + y * y * y * e);
}

double neighbours(const double* p, int n) {
  double sum = 0;
  for (int i = 0; i + 1 < n; ++i) sum += p[i] * p[i + 1];
  return sum;
}
double of_part(const double* p, int n) {
  const double* middle = p + 1;
  return neighbours(middle, n - 2) * *p + 2 * *(p + 3);
}
double of_array(double (&a)[3], std::vector<double> v, std::array<double, 2> s) {
  a[1] *= v[2];
  for (double& e : v) e = e * a[0] + s[1];
  return a[1] * v[0] * v[2] + s[0] * v[1];
}
TEST(Differentiate, TakesAnElementOfAnArrayOfAnyLength) {
  const double p[5] = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(clad::differentiate(neighbours, "p[1]").execute(p, 5), 4);
  EXPECT_DOUBLE_EQ(clad::differentiate(neighbours, "p[4]").execute(p, 5), 4);
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(neighbours, "p[4]").execute(p, 5), 0);
  EXPECT_DOUBLE_EQ(clad::differentiate(of_part, "p[0]").execute(p, 5), 2 * 3 + 3 * 4);
  EXPECT_DOUBLE_EQ(clad::differentiate(of_part, "p[3]").execute(p, 5), 3 + 2);
  const auto at = [](double step_a, double step_v, double step_s) {
    double a[3] = {1.1, 0.7 + step_a, 2};
    return of_array(a, {0.5, 1.5, 0.3 + step_v}, {0.2, 0.9 + step_s});
  };
  double a[3] = {1.1, 0.7, 2};
  const std::vector<double> v = {0.5, 1.5, 0.3};
  const std::array<double, 2> s = {0.2, 0.9};
  const auto fresh = [&](auto derivative) {
    a[1] = 0.7;
    return derivative.execute(a, v, s);
  };
  EXPECT_NEAR(fresh(clad::differentiate(of_array, "a[1]")), (at(1e-6, 0, 0) - at(-1e-6, 0, 0)) / 2e-6, 1e-8);
  EXPECT_NEAR(fresh(clad::differentiate(of_array, "v[2]")), (at(0, 1e-6, 0) - at(0, -1e-6, 0)) / 2e-6, 1e-8);
  EXPECT_NEAR(fresh(clad::differentiate(of_array, "s[1]")), (at(0, 0, 1e-6) - at(0, 0, -1e-6)) / 2e-6, 1e-8);
}

double with_scratch(double* p, int n, double* scratch) {
  for (int i = 0; i < n; ++i) scratch[i] = p[i] * p[0];
  for (int i = 1; i < n; ++i) p[i] += scratch[i - 1];
  double* last = &scratch[n - 1];
  *last *= p[1];
  return *last + p[n - 1];
}
TEST(Differentiate, FollowsWhatIsWrittenThroughPointers) {
  const auto at = [](double step) {
    double p[3] = {1.5 + step, 2, 3}, scratch[3];
    return with_scratch(p, 3, scratch);
  };
  double p[3] = {1.5, 2, 3}, scratch[3];
  EXPECT_NEAR(clad::differentiate(with_scratch, "p[0]").execute(p, 3, scratch), (at(1e-6) - at(-1e-6)) / 2e-6,
              1e-7);
  EXPECT_EQ(p[1], 2 + 2.25);
}

double in_place(double x, double& kept, double (&a)[2]) {
  kept *= x;
  a[1] = kept * a[0] * x;
  kept += a[1];
  return a[1] * kept;
}
TEST(Differentiate, FollowsWhatChangesWithTheIndependentNumber) {
  const auto at = [](auto&& f, double x) {
    double kept = 0.7, a[2] = {1.3, 0.4};
    return f(x, kept, a);
  };
  const auto by = [&](auto&& derivative, double x) {
    return at([&](double v, double& kept, double(&a)[2]) { return derivative.execute(v, kept, a); }, x);
  };
  const double step = 1e-4, x = 1.1;
  const auto first = clad::differentiate(in_place, "x");
  EXPECT_NEAR(by(first, x), (at(in_place, x + step) - at(in_place, x - step)) / (2 * step), 1e-6);
  const double second = (by(first, x + step) - by(first, x - step)) / (2 * step);
  EXPECT_NEAR(by(clad::differentiate<2>(in_place, "x"), x), second, 1e-6);
  double h = 0, kept = 0.7, a[2] = {1.3, 0.4};
  clad::hessian(in_place, "x").execute(x, kept, a, &h);
  EXPECT_NEAR(h, second, 1e-6);
  double gradient = 0;
  kept = 0.7, a[0] = 1.3, a[1] = 0.4;
  clad::gradient(in_place, "x").execute(x, kept, a, &gradient);
  EXPECT_NEAR(gradient, by(first, x), 1e-12);
}

struct Oscillator {
  double mass;
  double energy(double v) const { return 0.5 * mass * v * v; }
  double operator()(double v, double h) const { return energy(v) + mass * h; }
};
TEST(Differentiate, TakesMethodsFunctorsAndLambdas) {
  Oscillator o{3};
  EXPECT_DOUBLE_EQ(clad::differentiate(&Oscillator::energy, "v").execute(o, 2), 6);
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(&Oscillator::energy, "v").execute(o, 2), 3);
  EXPECT_DOUBLE_EQ(clad::differentiate(o, "v").execute(2, 1), 6);
  const double k = 4;
  const auto lambda = [k](double x) { return k * x * x; };
  EXPECT_DOUBLE_EQ(clad::differentiate(lambda, "x").execute(1.5), 12);
}

double branches(double x, int n) {
  double y = 1;
  for (int i = 0; i < n; ++i) {
    if (i == 3) continue;
    y = y > 2 ? std::sqrt(y) * x : y * x + i;
    if (y > 50) return y * y;
  }
  return std::fmax(y, 0.5) / x;
}
double factorial_series(double x, int n) { return n == 0 ? 1 : 1 + x / n * factorial_series(x, n - 1); }
TEST(Hessian, GoesThroughControlFlowAndRecursion) {
  for (const double x : {0.8, 1.3, 4.0}) {
    const auto first = clad::differentiate(branches, "x");
    const double expected = (first.execute(x + 1e-5, 7) - first.execute(x - 1e-5, 7)) / 2e-5;
    double h = 0;
    clad::hessian(branches, "x").execute(x, 7, &h);
    EXPECT_NEAR(h, expected, 1e-6 * std::max(1.0, std::fabs(expected)));
    double diagonal = 0;
    clad::hessian<clad::opts::diagonal_only>(branches, "x").execute(x, 7, &diagonal);
    EXPECT_NEAR(diagonal, h, 1e-12 * std::max(1.0, std::fabs(h)));
  }
  double h = 0;
  clad::hessian(factorial_series, "x").execute(1, 12, &h);
  EXPECT_NEAR(h, clad::differentiate<2>(factorial_series, "x").execute(1, 12), 1e-12);
}

double ring(const double* p, int n, double c) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double u = p[i] * p[(i + 1) % n];
    sum += u * u * c;
  }
  return sum;
}
TEST(Hessian, OfElementsAndNumbersTogetherIsRowAfterRow) {
  const double p[4] = {1, 2, 3, 4};
  const double expected[25] = {20, 4,   0, 8, 40, 4,  10, 12, 0,  40,  0,  12, 20,
                               24, 120, 8, 0, 24, 10, 80, 40, 40, 120, 80, 0};
  double matrix[25];
  clad::hessian(ring, "p[0:3], c").execute(p, 4, 0.5, matrix);
  for (int i = 0; i < 25; ++i) EXPECT_NEAR(matrix[i], expected[i], 1e-12) << i;
  double diagonal[5];
  clad::hessian<clad::opts::diagonal_only>(ring, "p[0:3], c").execute(p, 4, 0.5, diagonal);
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(diagonal[i], expected[6 * i], 1e-12) << i;
}

TEST(Hessian, OfSomeElementsOfAnArrayOfUnknownLength) {
  const double p[4] = {1, 2, 3, 4}, expected[4] = {20, 4, 4, 10};
  std::vector<double> matrix(4), diagonal(2);
  clad::hessian(ring, "p[0:1]").execute(p, 4, 0.5, matrix.data());
  EXPECT_THAT(matrix, testing::ElementsAreArray(expected));
  clad::hessian<clad::opts::diagonal_only>(ring, "p[0:1]").execute(p, 4, 0.5, diagonal.data());
  EXPECT_THAT(diagonal, testing::ElementsAre(20, 10));
}
double looks_back(const double* p, double x) {
  const double* q = p + 2;
  const double* r = q - 1;
  return q[-2] * q[-2] * x * x + *r * *(q - 1);
}
TEST(Hessian, OfPointersThatLookBack) {
  const double p[3] = {2, 3, 4};
  double matrix[9];
  clad::hessian(looks_back, "p[0:1], x").execute(p, 5, matrix);
  EXPECT_THAT(matrix, testing::ElementsAre(50, 0, 40, 0, 2, 0, 40, 0, 8));
  EXPECT_EQ(clad::differentiate<2>(looks_back, "p[0]").execute(p, 5), 50);
  EXPECT_EQ(clad::differentiate<2>(looks_back, "p[1]").execute(p, 5), 2);
  EXPECT_EQ(clad::differentiate(looks_back, "x").execute(p, 5), 40);
}
double consuming(double x, double y, double& scale, int& calls, std::vector<double>& log) {
  scale *= 2;
  log.push_back(x);
  return (x * x + y * y * ++calls) * scale * static_cast<double>(log.size());
}
TEST(Hessian, EveryRowSeesTheArgumentsAsTheyWere) {
  double scale = 1, full[4], diagonal[2];
  int calls = 0;
  std::vector<double> log;
  clad::hessian(consuming, "x, y").execute(2, 3, scale, calls, log, full);
  EXPECT_THAT(full, testing::ElementsAre(4, 0, 0, 4));
  clad::hessian<clad::opts::diagonal_only>(consuming, "x, y").execute(2, 3, scale, calls, log, diagonal);
  EXPECT_THAT(diagonal, testing::ElementsAre(4, 4));
  EXPECT_EQ(scale, 1);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(log.empty());
}

double product(double i, double j, double k) { return i * j * k * i; }
TEST(Hessian, TakesNamedParametersOrAll) {
  double some[4], all[9];
  clad::hessian(product, "i, j").execute(2, 3, 5, some);
  EXPECT_THAT(some, testing::ElementsAre(30, 20, 20, 0));
  clad::hessian(product).execute(2, 3, 5, all);
  EXPECT_THAT(all, testing::ElementsAre(30, 20, 12, 20, 0, 4, 12, 4, 0));
}

struct Well {
  double depth;
  std::vector<double> slopes;
};
double energy(const Well& w, const double* p, double x, double& kept) {
  kept *= x;
  double e = w.depth * std::cos(x * kept);
  for (std::size_t i = 0; i < w.slopes.size(); ++i) e += w.slopes[i] * w.slopes[i] * p[i] * x;
  return e;
}
TEST(HessianVectorProduct, IsTheDerivativeOfTheGradientInADirection) {
  const Well at{1.5, {0.5, 2}}, v{0.3, {-0.2, 0.7}};
  const double p[2] = {0.4, 0.9}, v_p[2] = {0.1, -0.6}, x = 0.8, v_x = 0.5;
  const auto gradient = [&](double h, Well& d_w, double* d_p, double& d_x) {
    const Well w{at.depth + h * v.depth, {0.5 + h * v.slopes[0], 2 + h * v.slopes[1]}};
    const double q[2] = {p[0] + h * v_p[0], p[1] + h * v_p[1]};
    double kept = 0.7;
    clad::gradient(energy, "w, p, x").execute(w, q, x + h * v_x, kept, &d_w, d_p, &d_x);
  };
  Well plus{0, {0, 0}}, minus{0, {0, 0}}, product{0, {0, 0}};
  double p_plus[2] = {}, p_minus[2] = {}, p_product[2] = {}, x_plus = 0, x_minus = 0, x_product = 0,
         kept = 0.7;
  gradient(1e-5, plus, p_plus, x_plus);
  gradient(-1e-5, minus, p_minus, x_minus);
  clad::hessian_vector_product(energy, "w, p, x")
      .execute(at, p, x, kept, &v, v_p, &v_x, &product, p_product, &x_product);
  EXPECT_NEAR(product.depth, (plus.depth - minus.depth) / 2e-5, 1e-8);
  EXPECT_NEAR(x_product, (x_plus - x_minus) / 2e-5, 1e-8);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(product.slopes[i], (plus.slopes[i] - minus.slopes[i]) / 2e-5, 1e-8);
    EXPECT_NEAR(p_product[i], (p_plus[i] - p_minus[i]) / 2e-5, 1e-8);
  }
}

double weighted(const double* p, double x, double y) { return p[0] * x * x + std::exp(p[1] * y) * x; }
TEST(VectorMode, ComputesAllDerivativesInOneRun) {
  double p[2] = {0.5, 0.25}, d_x = 0, d_y = 0, d_p[2] = {};
  const double e = std::exp(0.25 * 3);
  clad::differentiate<clad::opts::vector_mode>(weighted, "x,y").execute(p, 2, 3, &d_x, &d_y);
  EXPECT_DOUBLE_EQ(d_x, 2 + e);
  EXPECT_DOUBLE_EQ(d_y, 0.5 * e);
  clad::differentiate<clad::opts::vector_mode>(weighted, "p[0:1], x").execute(p, 2, 3, d_p, &d_x);
  EXPECT_DOUBLE_EQ(d_p[0], 4);
  EXPECT_DOUBLE_EQ(d_p[1], 6 * e);
  EXPECT_DOUBLE_EQ(d_x, 2 + e);
}
double any_length(const double* p, std::vector<double> w, double c) {
  double sum = 0;
  for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * p[i] * c;
  return sum;
}
TEST(VectorMode, TakesArraysOfAnyLength) {
  const double p[3] = {3, 4, 5};
  double d_p[3] = {7, 7, 7}, d_c = 8;
  const std::vector<double> w = {.5, .25, 1};
  std::vector<double> d_w(3, 9.0);
  const auto derivative = clad::differentiate<clad::opts::vector_mode>(any_length);
  derivative.execute(p, w, 2, clad::array_ref<double>(d_p, 3), &d_w, &d_c);
  EXPECT_THAT(d_p, testing::ElementsAre(1, 0.5, 2));
  EXPECT_THAT(d_w, testing::ElementsAre(6, 8, 10));
  EXPECT_EQ(d_c, 7.5);
  EXPECT_THROW(derivative.execute(p, w, 2, d_p, &d_w, &d_c), std::invalid_argument);
  clad::array<double> heap(3);
  derivative.execute(p, w, 2, heap, &d_w, &d_c);
  EXPECT_EQ(heap[2], 2);
}
double vectors_and_arrays(double x, float f) {
  std::vector<double> v(3, x);
  v.push_back(x * f);
  double a[2] = {v[3], 1};
  std::array<double, 2> s{x, 2};
  for (int i = 0; i < 3; ++i) v[i] += i > 1 ? a[0] * s[0] : std::fmax(x, f);
  double sum = 0;
  for (const double e : v) sum += e * e;
  return sum + x / f;
}
TEST(VectorMode, AgreesWithTheGradient) {
  double d_x = 0, g_x = 0;
  float d_f = 0, g_f = 0;
  clad::differentiate<clad::opts::vector_mode>(vectors_and_arrays).execute(1.5, 0.5f, &d_x, &d_f);
  clad::gradient(vectors_and_arrays).execute(1.5, 0.5f, &g_x, &g_f);
  EXPECT_NEAR(d_x, g_x, 1e-6);
  EXPECT_NEAR(d_f, g_f, 1e-4);
}

void outputs(double i, double j, double result[]) {
  result[0] = i * i * j;
  result[1] = j * j * i;
  result[2] = j * i;
}
TEST(Jacobian, HasARowForEachOutput) {
  double result[3] = {}, flat[6] = {};
  const double expected[6] = {32, 64, 4, 32, 2, 8};
  clad::matrix<double> m(3, 5);
  clad::jacobian(outputs).execute(8, 2, result, &m);
  clad::jacobian(outputs).execute(8, 2, result, flat);
  EXPECT_THAT(result, testing::ElementsAre(128, 32, 16));
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t col = 0; col < 2; ++col) {
      EXPECT_EQ(m[row][col], expected[2 * row + col]);
      EXPECT_EQ(flat[2 * row + col], expected[2 * row + col]);
    }
  clad::matrix<double> small(2, 2);
  EXPECT_THROW(clad::jacobian(outputs).execute(8, 2, result, &small), std::invalid_argument);
  double column[3];
  clad::jacobian(outputs, "j").execute(8, 2, result, column);
  EXPECT_THAT(column, testing::ElementsAre(64, 32, 8));
}
void rotate(double* state, double angle) {
  const double c = std::cos(angle), s = std::sin(angle), x = state[0];
  state[0] = c * x - s * state[1];
  state[1] = s * x + c * state[1];
}
double with_references(double x, const double (&p)[2], double& y, std::vector<double>& z) {
  y *= x;
  for (double& e : z) e += y * p[1];
  rotate(&z[0], p[0]);
  return x * p[0];
}
TEST(Jacobian, OfAStateThatChangesInPlace) {
  double state[2] = {1, 2}, m[6];
  clad::jacobian(rotate, "state[0:1], angle").execute(state, 0.5, m);
  const double c = std::cos(0.5), s = std::sin(0.5);
  const double expected[6] = {c, -s, -s - 2 * c, s, c, c - 2 * s};
  for (int i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(m[i], expected[i]) << i;
}
TEST(Jacobian, OfReferencesVectorsAndTheResult) {
  const double p[2] = {0.5, 0.25};
  double y = 3;
  std::vector<double> z = {1, 2};
  double m[12];
  clad::jacobian(with_references).execute(2, p, y, z, m);
  EXPECT_DOUBLE_EQ(y, 6);
  const auto at = [](int row, double x, double p0, double p1) {
    const double q[2] = {p0, p1};
    double b = 3;
    std::vector<double> v = {1, 2};
    const double r = with_references(x, q, b, v);
    return row == 0 ? b : row == 3 ? r : v[static_cast<std::size_t>(row - 1)];
  };
  for (int row = 0; row < 4; ++row)
    for (int col = 0; col < 3; ++col) {
      const auto f = [&](double h) {
        return at(row, 2 + h * (col == 0), 0.5 + h * (col == 1), 0.25 + h * (col == 2));
      };
      EXPECT_NEAR(m[3 * row + col], (f(1e-6) - f(-1e-6)) / 2e-6, 1e-8) << row << col;
    }
}

std::array<double, 2> returned_array(double x, double y) { return {x * y, y * y}; }
std::vector<double> returned_vector(double x, double y) {
  std::vector<double> out;
  for (int i = 0; i < 3; ++i) out.push_back(x * y * i + x);
  return out;
}
std::array<std::array<double, 2>, 2> returned_rows(double x, double y) { return {{{x, x * y}, {5, y * y}}}; }
std::array<double, 2> changed_and_returned(double x, double& y, double* out) {
  out[0] = x * x;
  y *= x;
  return {x * y, y * y};
}
void some_are_constant(double x, double& b, double& c, double* p, double* q) {
  b = 3;
  c = x * x;
  p[0] = 1;
  q[0] = 1;
  q[1] = x;
}
TEST(Jacobian, OfOutputsThatAreConstant) {
  double b = 0, c = 0, p[1], q[2], m[5];
  clad::jacobian(some_are_constant).execute(2, b, c, p, q, m);
  EXPECT_THAT(m, testing::ElementsAre(0, 4, 0, 0, 1));
}
TEST(Jacobian, OfArraysThatAreReturned) {
  double m[8];
  clad::jacobian(returned_array).execute(2, 3, m);
  EXPECT_THAT(std::vector<double>(m, m + 4), testing::ElementsAre(3, 2, 0, 6));
  clad::jacobian(returned_array, "y").execute(2, 3, m);
  EXPECT_THAT(std::vector<double>(m, m + 2), testing::ElementsAre(2, 6));
  clad::jacobian(returned_vector).execute(2, 3, m);
  EXPECT_THAT(std::vector<double>(m, m + 6), testing::ElementsAre(1, 0, 4, 2, 7, 4));
  clad::jacobian(returned_rows).execute(2, 3, m);
  EXPECT_THAT(std::vector<double>(m, m + 8), testing::ElementsAre(1, 0, 3, 2, 0, 0, 0, 6));
  double y = 3, out[1];
  clad::jacobian(changed_and_returned, "x").execute(2, y, out, m);
  EXPECT_THAT(std::vector<double>(m, m + 4), testing::ElementsAre(3, 4, 12, 36));
}

void changes_all(std::array<double, 2>& a) {
  a[0] = a[1] * a[1];
  a[1] *= 3;
}
void reads_no_number(int n, double& y) { y *= y * n; }
TEST(Jacobian, WithoutInputsThatAreOnlyRead) {
  std::array<double, 2> a{2, 3};
  clad::matrix<double> m(2, 2);
  clad::jacobian(changes_all).execute(a, &m);
  EXPECT_EQ(m(0, 0), 0);
  EXPECT_EQ(m(0, 1), 6);
  EXPECT_EQ(m(1, 0), 0);
  EXPECT_EQ(m(1, 1), 3);
  double y = 2, d = 0;
  clad::jacobian(reads_no_number).execute(3, y, &d);
  EXPECT_EQ(d, 12);
}

struct Gauge {
  double a = 2;
  double read(double x) const;
};
}  // namespace
namespace clad::custom_derivatives::class_functions {
ValueAndPushforward<double, double> read_pushforward(const Gauge* g, double x, Gauge* d_g, double d_x) {
  return {g->a * x, 100 * (g->a * d_x + d_g->a * x)};  // the factor tells it from the compiler's
}
}  // namespace clad::custom_derivatives::class_functions
namespace {
double Gauge::read(double x) const { return a * x; }
double of_gauge(double x) {
  Gauge g;
  g.a = x * x;
  return g.read(x);
}
TEST(Pushforward, OfAConstantObjectMayTakeItsTangentAsAVariable) {
  EXPECT_DOUBLE_EQ(clad::differentiate(of_gauge, "x").execute(1.5), 100 * 3 * 1.5 * 1.5);
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(of_gauge, "x").execute(1.5), 100 * 6 * 1.5);
}
TEST(Differentiate, TakesPointersToFunctionObjects) {
  Oscillator o{3};
  const auto derivative = clad::differentiate(&o, "v");
  EXPECT_DOUBLE_EQ(derivative.execute(2, 1), 6);
  o.mass = 5;  // the object itself, not a copy
  EXPECT_DOUBLE_EQ(derivative.execute(2, 1), 10);
  const auto lambda = [](double x, double y) { return x * y; };
  double d_x = 0, d_y = 0;
  clad::gradient(&lambda).execute(3, 5, &d_x, &d_y);
  EXPECT_EQ(d_x, 5);
  EXPECT_EQ(d_y, 3);
}

enum Index { first_index, second_index };
TEST(Differentiate, TakesAnEnumeratorForAnIndex) {
  double d_y = 0;
  EXPECT_EQ(clad::differentiate(smooth, second_index).execute(0.7, 0.4),
            clad::differentiate(smooth, 1).execute(0.7, 0.4));
  clad::gradient(smooth, second_index).execute(0.7, 0.4, &d_y);
  EXPECT_DOUBLE_EQ(d_y, clad::differentiate(smooth, 1).execute(0.7, 0.4));
}

struct Containers {
  std::array<double, 2> a;
  std::vector<double> v;
  struct {
    std::array<float, 2> f;
  } inner;
  double product() const { return a[1] * v[0]; }
};
double of_containers(const Containers& c, double x) {
  return c.a[0] * c.a[0] * x + c.v[1] * c.v[1] + c.inner.f[1] * x;
}
TEST(Differentiate, TakesAnElementOfAContainerInAnObject) {
  const Containers c{{2, 3}, {4, 5}, {{6, 7}}};
  EXPECT_EQ(clad::differentiate(of_containers, "c.a[0]").execute(c, 8), 32);
  EXPECT_EQ(clad::differentiate(of_containers, "c.v[1]").execute(c, 8), 10);
  EXPECT_EQ(clad::differentiate(of_containers, "c.inner.f[1]").execute(c, 8), 8);
  EXPECT_EQ(clad::differentiate<2>(of_containers, "c.v[1]").execute(c, 8), 2);
  EXPECT_EQ(clad::differentiate(&Containers::product, "a[1]").execute(c), 4);
  EXPECT_EQ(clad::differentiate(&Containers::product, "v[0]").execute(c), 3);
  EXPECT_THROW(clad::differentiate(&Containers::product, "v[2]").execute(c), std::out_of_range);
}

struct Body {
  double mass;
  struct {
    double x, y[2];
  } at;
};
struct Launcher {
  Launcher(double speed, double x) : speed_(speed), first_{speed, {x, {x, 1}}} {}
  double operator()(double t, const Body& b) const {
    return speed_ * speed_ * t * first_.at.y[1] + b.mass * b.at.y[1] * b.at.y[1] * scaled(t);
  }
  double scaled(double t) const { return t * speed_ * speed_ * speed_; }

 private:
  double speed_;
  Body first_;
};
struct Heavy : Body {
  double weight(double g) { return mass * mass * g; }
};
TEST(Differentiate, TakesMembersOfObjects) {
  const Launcher l(3, 2);
  const Body b{5, {1, {2, 0.5}}};
  EXPECT_DOUBLE_EQ(clad::differentiate(l, "speed_").execute(2, b), 2 * 3 * 2 + 1.25 * 2 * 3 * 9);
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(l, "speed_").execute(2, b), 2 * 2 + 1.25 * 2 * 6 * 3);
  EXPECT_DOUBLE_EQ(clad::differentiate(l, "first_.at.y[1]").execute(2, b), 18);
  EXPECT_DOUBLE_EQ(clad::differentiate(l, "b.at.y[1]").execute(2, b), 5 * 2 * 0.5 * 2 * 27);
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(l, "b.at.y[1]").execute(2, b), 5 * 2 * 2 * 27);
  EXPECT_DOUBLE_EQ(clad::differentiate(l, "b.at.x").execute(2, b), 0);
  EXPECT_DOUBLE_EQ(clad::differentiate(&Launcher::scaled, "speed_").execute(l, 2), 2 * 27);
  Heavy h{{3}};
  EXPECT_DOUBLE_EQ(clad::differentiate(&Heavy::weight, "mass").execute(h, 2), 2 * 3 * 2);
}

struct Pair {
  double a, b;
};
Pair swapped(const Pair& p, double k) { return {p.b * k, p.a * p.a}; }
TEST(Pushforward, ReturnsObjectsAndTheirTangents) {
  Pair p{2, 3}, direction{1, 0.5};
  double d_k = 2;
  const auto result = clad::pushforward(swapped).execute(p, 4.0, &direction, &d_k);
  EXPECT_EQ(result.value.a, 12);
  EXPECT_EQ(result.value.b, 4);
  EXPECT_EQ(result.pushforward.a, 0.5 * 4 + 3 * 2);
  EXPECT_EQ(result.pushforward.b, 4);
}
void advance(double* state, double dt) {
  state[0] += dt * state[1];
  state[1] -= dt * state[0];
}
TEST(Pushforward, ChangesTheTangentsOfWhatTheFunctionChanges) {
  double state[2] = {1, 2}, tangent[2] = {0.5, 0.25}, d_dt = 0;
  clad::pushforward(advance).execute(state, 0.1, tangent, &d_dt);
  EXPECT_DOUBLE_EQ(state[0], 1.2);
  EXPECT_DOUBLE_EQ(state[1], 2 - 0.12);
  EXPECT_DOUBLE_EQ(tangent[0], 0.5 + 0.025);
  EXPECT_DOUBLE_EQ(tangent[1], 0.25 - 0.1 * 0.525);
}

}  // namespace

namespace lib {
double kernel(double x, double y);
double cube(double x);
}  // namespace lib
namespace clad::custom_derivatives::lib {
double cube_pushforward(double x, double d_x) { return 3 * x * x * d_x; }
ValueAndPushforward<double, double> kernel_pushforward(double x, double y, double d_x, double d_y) {
  return {x * x * y, 2 * x * y * d_x + x * x * d_y};
}
}  // namespace clad::custom_derivatives::lib
namespace {
double with_kernel(double x) { return lib::kernel(x * x, x) + x; }
TEST(Pushforward, OfAnUnknownFunctionIsTheUsers) {
  EXPECT_DOUBLE_EQ(clad::differentiate(with_kernel, "x").execute(1.5), 5 * std::pow(1.5, 4) + 1);
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(with_kernel, "x").execute(1.5), 20 * std::pow(1.5, 3));
  double h = 0;
  clad::hessian(with_kernel).execute(1.5, &h);
  EXPECT_DOUBLE_EQ(h, 20 * std::pow(1.5, 3));
}
double with_cube(double x) {
  lib::cube(x);
  return lib::cube(2 * x) * x;
}
TEST(Pushforward, OfAnUnknownFunctionMayBeTheTangentAlone) {
  EXPECT_DOUBLE_EQ(clad::differentiate(with_cube, "x").execute(1.5), 32 * std::pow(1.5, 3));
  EXPECT_DOUBLE_EQ(clad::differentiate<2>(with_cube, "x").execute(1.5), 96 * std::pow(1.5, 2));
}
}  // namespace
double lib::kernel(double x, double y) { return x * x * y; }
double lib::cube(double x) { return x * x * x; }
