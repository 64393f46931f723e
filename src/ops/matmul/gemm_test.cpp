#include "ops/matmul/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "cladtorch/random.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch::detail {
namespace {

struct Case {
  int64_t m, n, k;
  bool a_transposed, b_transposed, add, with_bias;
};

template <class T>
std::vector<T> normals(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) value = static_cast<T>(static_cast<Computed<T>>(random.normal()));
  return values;
}

template <class T>
double wide(T value) {
  return static_cast<double>(static_cast<Computed<T>>(value));
}

template <class T, class Out = T>
std::vector<Out> run(const Case& x, bool reference) {
  const auto a = normals<T>(x.m * x.k, 1), b = normals<T>(x.k * x.n, 2), bias = normals<T>(x.n, 3);
  auto c = normals<Out>(x.m * (x.n + 3), 4);
  const MatrixView<T> a_view =
      x.a_transposed ? MatrixView<T>{a.data(), 1, x.m} : MatrixView<T>{a.data(), x.k, 1};
  const MatrixView<T> b_view =
      x.b_transposed ? MatrixView<T>{b.data(), 1, x.k} : MatrixView<T>{b.data(), x.n, 1};
  const T* bias_data = x.with_bias ? bias.data() : nullptr;
  if (reference) {
    gemm_reference(x.m, x.n, x.k, a_view, b_view, c.data(), x.n + 3, x.add, bias_data);
  } else {
    gemm(x.m, x.n, x.k, a_view, b_view, c.data(), x.n + 3, x.add, bias_data);
  }
  return c;
}

/// `epsilon` of sums, `rounding` of the result.
template <class T, class Out = T>
void compare(double epsilon, double rounding = 0) {
  for (int64_t m : {0, 1, 2, 5, 7, 65, 200}) {
    for (int64_t n : {0, 1, 15, 63, 65, 130}) {
      for (int64_t k : {0, 1, 17, 385}) {
        for (int flags = 0; flags < 16; ++flags) {
          const Case x{m, n, k, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0};
          if (flags > 3 && m * n * k > 30000) continue;
          const std::vector<Out> got = run<T, Out>(x, false), expected = run<T, Out>(x, true);
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(wide(got[i]), wide(expected[i]),
                        epsilon * (8 + 4 * double(k)) + rounding * std::abs(wide(expected[i])))
                << m << ' ' << n << ' ' << k << ' ' << flags;
          }
        }
      }
    }
  }
}

TEST(Gemm, MatchesPlainLoopsInFloatForAllLayoutsAndEdgeSizes) { compare<float>(0x1p-23); }
TEST(Gemm, MatchesPlainLoopsInDoubleForAllLayoutsAndEdgeSizes) { compare<double>(0x1p-52); }
TEST(Gemm, MatchesPlainLoopsFromBfloat16ToFloatForAllLayoutsAndEdgeSizes) {
  compare<bfloat16, float>(0x1p-23);
}
TEST(Gemm, MatchesPlainLoopsFromBfloat16ToItselfInFloatForAllLayoutsAndEdgeSizes) {
  compare<bfloat16, bfloat16>(0x1p-23, 0x1p-7);  // a sum beside the middle of two values may go either way
}

/// Sizes that take each of the ways through the blocked product, aligned so that results may be stored past
/// the caches.
const Case blocked_cases[] = {
    {16, 768, 300, false, false, false, false},    // slices of the depth, right operand in place
    {40, 208, 500, false, false, true, true},      // the same, added to c
    {150, 400, 460, true, false, true, false},     // packed, several blocks of columns
    {300, 500, 600, true, false, false, false},    // several blocks of rows, partial vectors
    {192, 208, 22000, true, false, false, true},   // several chunks of the depth
    {50, 300, 450, false, false, false, true},     // pieces in slices of the depth
    {150, 1000, 260, false, false, true, false},   // one slice in pieces, several blocks, added to c
    {192, 209, 22000, false, false, false, true},  // pieces in several chunks, partial vectors
    {1030, 1100, 150, false, false, true, true},   // both packed, transposed, added to c
    {50, 300, 1500, false, true, false, true},     // transposed, one panel
    {150, 300, 2500, false, true, true, true},     // transposed, several panels in pieces of the depth
    {20, 100, 5000, false, true, false, false},    // transposed, several chunks of the depth
    {600, 528, 40, true, false, false, false},     // stored past the caches
    {600, 528, 1500, true, false, true, false},    // packed by rows, several chunks of the depth
    {300, 200, 100, true, true, false, true},
};

/// Multiplies both sides with a random vector: every element of c counts, in the time of one pass over each
/// operand.
template <class T, class Out = T>
void check_by_projection(const Case& x, double tolerance) {
  const auto a = normals<T>(x.m * x.k, 1), b = normals<T>(x.k * x.n, 2), bias = normals<T>(x.n, 3);
  const auto v = normals<double>(x.n, 4);
  const int64_t a_row = x.a_transposed ? 1 : x.k, a_column = x.a_transposed ? x.m : 1;
  const int64_t b_row = x.b_transposed ? 1 : x.n, b_column = x.b_transposed ? x.k : 1;
  Tensor c = ones({x.m, x.n}, dtype_of<Out>::value);
  gemm<T>(x.m, x.n, x.k, {a.data(), a_row, a_column}, {b.data(), b_row, b_column}, c.data<Out>(), x.n, x.add,
          x.with_bias ? bias.data() : nullptr);
  const auto at = [](const auto& values, int64_t i) { return wide(values[static_cast<size_t>(i)]); };
  std::vector<double> b_v(static_cast<size_t>(x.k));
  for (int64_t p = 0; p < x.k; ++p)
    for (int64_t j = 0; j < x.n; ++j)
      b_v[static_cast<size_t>(p)] += at(b, p * b_row + j * b_column) * at(v, j);
  double constant = 0;
  for (int64_t j = 0; j < x.n; ++j)
    constant += ((x.add ? 1.0 : 0.0) + (x.with_bias ? at(bias, j) : 0.0)) * at(v, j);
  for (int64_t i = 0; i < x.m; ++i) {
    double expected = constant, got = 0;
    for (int64_t p = 0; p < x.k; ++p) expected += at(a, i * a_row + p * a_column) * at(b_v, p);
    for (int64_t j = 0; j < x.n; ++j) got += wide(c.data<Out>()[i * x.n + j]) * at(v, j);
    ASSERT_NEAR(got, expected, tolerance * std::sqrt(static_cast<double>(x.k * x.n)))
        << "row " << i << " of " << x.m << ' ' << x.n << ' ' << x.k;
  }
}

TEST(Gemm, IsRightOnEveryWayThroughTheBlocksInFloat) {
  for (const Case& x : blocked_cases) check_by_projection<float>(x, 1e-4);
}
TEST(Gemm, IsRightOnEveryWayThroughTheBlocksInDouble) {
  for (const Case& x : blocked_cases) check_by_projection<double>(x, 1e-12);
}

TEST(Gemm, IsRightOnEveryWayThroughTheBlocksFromBfloat16ToFloat) {
  for (const Case& x : blocked_cases) check_by_projection<bfloat16, float>(x, 1e-4);
}
/// Each element is rounded by up to 1/256 of it, at random: 1e-2 is 6 standard deviations of their sum.
TEST(Gemm, IsRightOnEveryWayThroughTheBlocksFromBfloat16ToItselfInFloat) {
  for (const Case& x : blocked_cases) check_by_projection<bfloat16>(x, 1e-2);
}

template <class T, class Out = T>
void expect_equal_bits_for_any_threads() {
  const int before = num_threads();
  for (const Case& x : blocked_cases) {
    set_num_threads(1);
    const std::vector<Out> one = run<T, Out>(x, false);
    for (int threads : {3, 64}) {
      set_num_threads(threads);
      const std::vector<Out> got = run<T, Out>(x, false);
      EXPECT_EQ(std::memcmp(got.data(), one.data(), one.size() * sizeof(Out)), 0)
          << threads << " threads: " << x.m << ' ' << x.n << ' ' << x.k;
    }
  }
  set_num_threads(before);
}

TEST(Gemm, DoesNotDependOnTheNumberOfThreadsInFloat) {
#if defined(CLADTORCH_CBLAS)
  GTEST_SKIP() << "the order of the sums is the CBLAS library's";
#endif
  expect_equal_bits_for_any_threads<float>();
}
TEST(Gemm, DoesNotDependOnTheNumberOfThreadsFromBfloat16ToFloat) {
  expect_equal_bits_for_any_threads<bfloat16, float>();
}
TEST(Gemm, DoesNotDependOnTheNumberOfThreadsFromBfloat16ToItselfInFloat) {
  expect_equal_bits_for_any_threads<bfloat16>();
}

/// Whether gemm told the sum of the squares of what it left in c.
template <class T, class Out>
bool squares_are_told(const Case& x) {
  const auto a = normals<T>(x.m * x.k, 1), b = normals<T>(x.k * x.n, 2);
  Tensor c = ones({x.m, x.n}, dtype_of<Out>::value);
  double squares = 0, expected = 0;
  gemm<T>(x.m, x.n, x.k, {a.data(), x.a_transposed ? 1 : x.k, x.a_transposed ? x.m : 1},
          {b.data(), x.b_transposed ? 1 : x.n, x.b_transposed ? x.k : 1}, c.data<Out>(), x.n, x.add,
          static_cast<const T*>(nullptr), &squares);
  for (int64_t i = 0; i < c.numel(); ++i) expected += wide(c.data<Out>()[i]) * wide(c.data<Out>()[i]);
  if (std::isnan(squares)) return false;
  EXPECT_NEAR(squares, expected, 1e-6 * expected) << x.m << ' ' << x.n << ' ' << x.k;
  return true;
}

TEST(Gemm, TellsTheSumOfSquaresOfGradientsOfWeights) {
#if defined(CLADTORCH_CBLAS)
  GTEST_SKIP() << "a CBLAS library does not tell it";
#endif
  for (const Case& x : {Case{600, 528, 40, true, false, false, false},
                        {600, 530, 40, true, false, true, false},
                        {70, 50, 17, true, false, false, false},
                        {600, 528, 1500, true, false, true, false}}) {
    EXPECT_TRUE((squares_are_told<float, float>(x)));
    EXPECT_TRUE((squares_are_told<double, double>(x)));
    EXPECT_TRUE((squares_are_told<bfloat16, float>(x)));
  }
}
TEST(Gemm, TellsNoWrongSumOfSquares) {
  for (const Case& x : blocked_cases) {
    squares_are_told<float, float>(x);
    squares_are_told<bfloat16, bfloat16>(x);
  }
  EXPECT_FALSE((squares_are_told<float, float>({0, 5, 5, false, false, false, false})));
}

TEST(Gemm, NanReachesExactlyItsRow) {
  std::vector<float> a(4 * 3, 1), b(3 * 5, 1), c(4 * 5);
  a[1 * 3 + 2] = NAN;
  gemm<float>(4, 5, 3, {a.data(), 3, 1}, {b.data(), 5, 1}, c.data(), 5, false);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(std::isnan(c[i]), i / 5 == 1);
}

}  // namespace
}  // namespace cladtorch::detail
