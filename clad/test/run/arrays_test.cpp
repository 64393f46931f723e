// C arrays of one and two dimensions, pointers, references to arrays, pointer arithmetic, index arrays.
#include "clad/Differentiator/Differentiator.h"
#include "clad/test/support/finite_difference.h"

namespace {

using clad::test::buffer;

double through_pointers(const double* p, double* q, int n) {
  const double* next = p + 1;
  double* last = &q[n - 1];
  double s = *p * *next + next[1] + *(p + n - 1) * 2 [p];
  *last += s * p[0];
  q[0] *= last[0];
  for (int i = 0; i < n - 1; ++i) *(q + i) += last[-1] * *(next + i);
  return s * q[0] + q[n - 2] - next[-1];
}
TEST(Arrays, PointerParametersAndArithmetic) {
  EXPECT_GRADIENT_IN_PLACE(through_pointers, (buffer<double>{0.5, 0.6, 0.7}), (buffer<double>{1, 2, 3}), 3);
}

double array_parameter(double a[3], const double (&b)[2]) {
  double s = 0;
  for (int i = 0; i < 3; ++i) s += a[i] * b[i % 2];
  return s;
}
TEST(Arrays, ParametersDeclaredAsArrays) {
  double a[3] = {1, 2, 3}, b[2] = {4, 5}, d_a[3] = {}, d_b[2] = {1, 1};
  clad::gradient(array_parameter).execute(a, b, d_a, &d_b);
  EXPECT_EQ(4, d_a[0]);
  EXPECT_EQ(5, d_a[1]);
  EXPECT_EQ(4, d_a[2]);
  EXPECT_EQ(1 + 1 + 3, d_b[0]);
  EXPECT_EQ(1 + 2, d_b[1]);
}

double matrix(double (&a)[2][3], double k) {
  double s = 0;
  for (auto& row : a)
    for (double& e : row) {
      e *= k;
      s += e * e;
    }
  double m[2][2] = {{k, 2}, {a[0][1], s}};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) m[i][j] *= m[j][i] + a[i][j];
  double* w = &a[1][0];
  w[1] += m[0][1] * k;
  const double& corner = a[1][2];
  return s * m[1][1] * corner + w[1] + (*(a + 1))[2];
}
TEST(Arrays, TwoDimensionalArrays) {
  auto flat = [](buffer<double>& z, double k) {
    double a[2][3];
    std::copy(z.values.begin(), z.values.end(), &a[0][0]);
    return matrix(a, k);
  };
  std::tuple<buffer<double>, double> at{{1, 2, 3, 4, 5, 6}, 0.7};
  auto f = [&](double* p, double k) {
    buffer<double> z{p[0], p[1], p[2], p[3], p[4], p[5]};
    return flat(z, k);
  };
  double a[2][3] = {{1, 2, 3}, {4, 5, 6}}, d_a[2][3] = {}, d_k = 0;
  clad::gradient(matrix).execute(a, 0.7, &d_a, &d_k);
  for (int i = 0; i < 7; ++i) {
    const double expected = clad::test::difference(f, at, i, 5e-4L);
    EXPECT_NEAR(expected, i < 6 ? d_a[i / 3][i % 3] : d_k, 1e-8 * std::fabs(expected)) << i;
  }
  EXPECT_EQ(6, a[1][2]);
}

double initialized_in_part(double x, double y) {
  double s = 0;
  for (int k = 0; k < 3; ++k) {
    double a[4] = {x, y * k};
    double zero[3] = {};
    a[2] += x;
    a[3] += a[2] * y;
    zero[k] += a[3];
    zero[2] = zero[k] * zero[0] + zero[k] * zero[k];
    s += a[0] * a[1] * a[2] + a[3] * a[3] + zero[2] * zero[1] * 0.01 + zero[2];
  }
  return s;
}
TEST(Arrays, ElementsWithoutInitializerAreZeroEveryTime) { EXPECT_GRADIENT(initialized_in_part, 0.7, 1.1); }

double overlapping(double* a) {
  for (int i = 0; i < 3; ++i) {
    int j = (i * 2 + 1) % 4;
    a[i] = a[j] * a[i] + a[3];
    a[j] += a[i] * a[j];
    a[i] *= a[i];
  }
  return a[0] + a[1] * a[2] * a[3];
}
TEST(Arrays, ElementsThatMayBeTheSame) {
  EXPECT_GRADIENT_IN_PLACE(overlapping, (buffer<double>{0.5, 0.6, 0.7, 0.8}));
}

double index_arrays(const double* a, int n) {
  int idx[4] = {0, 1, 2, 3};
  double s = 0;
  int k = 0;
  for (int i = 0; i < n; ++i) {
    s += a[idx[k]] * s + a[idx[i]];
    idx[k] = (idx[k] + 2) % n;
    k = (k + idx[i]) % n;
    if (i == 1) n -= 1;
    std::swap(idx[0], idx[1]);
  }
  int* p = &idx[2];
  *p = 1;
  s *= a[idx[2]];
  p[1] = 0;
  return s * a[idx[3]];
}
TEST(Arrays, IndicesAndBoundsThatChangeInTheLoop) {
  EXPECT_GRADIENT(index_arrays, (buffer<double>{0.5, 0.6, 0.7, 0.8}), 4);
}

struct Pair {
  double a[2];
  int n;
  double* data() { return a; }
};
double array_of_structs(Pair* p, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    Pair& q = p[i];
    Pair* r = p + i;
    q.a[0] *= r->a[1];
    s += (*r).a[0] * p->a[1] * r->n;
  }
  return s * p[0].data()[1];
}
TEST(Arrays, PointersToStructsWithArrays) {
  Pair p[2] = {{{1, 2}, 3}, {{4, 5}, 6}}, d[2] = {};
  clad::gradient(array_of_structs).execute(p, 2, d);
  EXPECT_EQ(24, d[0].a[0]);
  EXPECT_EQ(516, d[0].a[1]);
  EXPECT_EQ(120, d[1].a[0]);
  EXPECT_EQ(96, d[1].a[1]);
  EXPECT_EQ(0, d[0].n);
  EXPECT_EQ(1, p[0].a[0]);
}

void update(double* a, double* b, int n) {
  for (int i = 1; i < n; ++i) {
    a[i] = b[i - 1] * a[i] + b[i];
    b[i] += a[i - 1];
  }
}
double same_array_twice(double* a) {
  update(a, a, 4);
  return a[3] * a[2];
}
double shifted_by_one(double* a) {
  update(a, a + 1, 3);
  return a[3] * a[2];
}
TEST(Arrays, PointerArgumentsThatAlias) {
  EXPECT_GRADIENT_IN_PLACE(same_array_twice, (buffer<double>{0.5, 0.6, 0.7, 0.8}));
  EXPECT_GRADIENT_IN_PLACE(shifted_by_one, (buffer<double>{0.5, 0.6, 0.7, 0.8}));
}

void multiply(double& a, double& b) {
  a = a * b;
  b = a * a + b;
  a *= a;
}
double same_variable_twice(double x) {
  multiply(x, x);
  return x;
}
void copy_scaled(const double& a, double& b) {
  b = 2;
  b *= a * a;
  b += a;
}
double read_and_written(double x) {
  copy_scaled(x, x);
  return x * x;
}
TEST(Arrays, ReferenceArgumentsThatAlias) {
  EXPECT_GRADIENT(same_variable_twice, 1.1);
  EXPECT_GRADIENT(read_and_written, 1.1);
}

double aliases(double x) {
  double a = x * x;
  double& r = a;
  const double& c = r;
  double* p = &r;
  *p += x;
  r *= c;
  double b[3] = {x, a, 1};
  int k = 1;
  double& e = b[k];
  k = 2;
  e *= b[k] + x;
  b[k] = e * e;
  return a * c + b[1] * b[2];
}
TEST(Arrays, LocalReferencesAndPointersNameTheirTarget) { EXPECT_GRADIENT(aliases, 1.1); }

void bump(int* i) { i[0] += 1; }
double index_behind_a_pointer(double x, const double* a, int* i) {
  double y = a[i[0]] * x;
  bump(i);
  y *= a[i[0]] * x;
  int local[2] = {0, 1};
  for (int k = 0; k < 2; ++k) {
    y *= a[local[0]] * x;
    bump(local);
  }
  bump(i);
  return y * a[i[0]] * a[local[0]];
}
TEST(Arrays, IndicesChangedThroughPointers) {
  EXPECT_GRADIENT(index_behind_a_pointer, 2.0, (buffer<double>{1, 2, 3, 4, 5}), buffer<int>{0});
}

double pointer_to_array(double (&a)[2][3]) {
  double(*p)[3] = a;
  p[0][1] *= a[1][2];
  return p[0][1] * p[1][1];
}
TEST(Arrays, PointersToArrays) {
  double a[2][3] = {{1, 2, 3}, {4, 5, 6}}, d_a[2][3] = {};
  clad::gradient(pointer_to_array).execute(a, &d_a);
  EXPECT_EQ(30, d_a[0][1]);
  EXPECT_EQ(12, d_a[1][1]);
  EXPECT_EQ(10, d_a[1][2]);
}

double tables(double x, double y) {
  static const double weights[3] = {0.25, 0.5, 0.25};
  static constexpr int columns[] = {2, 0, 1};
  static const double rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += weights[i] * x * rows[i % 2][columns[i]] * y + sum * weights[columns[i]];
  return sum;
}
TEST(Arrays, StaticTablesOfConstants) { EXPECT_GRADIENT(tables, 1.5, -0.7); }

struct Program {
  char steps[8] = "yx";
  Program() {}
  double run(double x, double y) const {
    double r = 1;
    for (const char* p = steps; *p; ++p) r = r * (*p == 'x' ? x : y) + y;
    return r;
  }
};
double strings(double x, double y) {
  const char program[] = "xyx";
  static constexpr unsigned char bits[] = "\x01\xff\x02";
  wchar_t wide[4] = L"xy";
  double r = 1;
  for (int i = 0; program[i]; ++i) r *= program[i] == 'x' ? x * bits[i] : y;
  for (int k = 0; k < 3; ++k) {
    char buffer[16] = {"pqr"}, lines[2][4] = {"xy", "y"};
    buffer[k] += 1;
    lines[1][1] = 'x';
    for (int i = 0; buffer[i]; ++i) r += x * (buffer[i] - 'o') * wide[i];
    for (auto& line : lines)
      for (int i = 0; line[i]; ++i) r *= line[i] == 'x' ? 1 + x / r : y;
  }
  return r * Program().run(x, y) * static_cast<double>(sizeof program);
}
TEST(Arrays, StartAsStrings) { EXPECT_GRADIENT(strings, 1.3, 0.7); }

double rounded_step(double x, const double* a) {
  int i = 1;
  double y = a[i] * x;
  i += 1.5;
  y *= a[i] * x;
  return y * y;
}
TEST(Arrays, AnIntegerStepThatIsTruncatedIsUndone) {
  EXPECT_GRADIENT(rounded_step, 2.0, (buffer<double>{1, 2, 3, 4, 5}));
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wvla-extension"
double product_of(const double* a, const double* b, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += a[i] * b[i];
  return s;
}
struct Product {
  double u, v;
};
double variable_lengths(double x, double y) {
  double s = 0;
  int n = 3;
  for (int t = 0; t < 4; ++t) {
    double a[n], b[n + t];
    int index[n];
    for (int i = 0; i < n; ++i) a[i] = x * (i + 1), index[i] = i * 2 % n;
    for (int i = 0; i < n + t; ++i) b[i] = y * t * (i + 1);
    for (int i = 0; i < n; ++i) s += a[index[i]] * b[i];
    double* p = a;
    *p++ = s;
    *p *= y;
    s += 1e-2 * product_of(a, b, n);
    if (t == 1) n = 4;
  }
  Product pairs[n];
  for (int i = 0; i < n; ++i) pairs[i] = Product{x * i, y};
  for (int i = 0; i < n; ++i) s += pairs[i].u * pairs[i].v;
  n = 9;
  return s + pairs[1].u;
}
TEST(Arrays, OfVariableLength) { EXPECT_GRADIENT(variable_lengths, 1.3, 0.7); }

double variable_size(double x, double y) {
  double s = 0;
  for (int n = 1; n < 5; ++n) {
    int m = n;
    double a[m * 2];
    m = 7;
    for (int i = 0; i < 2 * n; ++i) a[i] = x * i + y * m;
    for (double& e : a) e *= x;
    for (const double e : a) s += e * e;
    s += x * static_cast<double>(sizeof a) + y * static_cast<double>(sizeof a / sizeof a[0]);
  }
  return s;
}
TEST(Arrays, KeepTheVariableLengthTheyWereDeclaredWith) { EXPECT_GRADIENT(variable_size, 1.3, 0.7); }
#pragma clang diagnostic pop

}  // namespace
