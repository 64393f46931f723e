#include "ops/matmul/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cladtorch/random.h"
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
  for (T& value : values) value = static_cast<T>(random.normal());
  return values;
}

template <class T>
std::vector<T> run(const Case& x, bool reference) {
  const auto a = normals<T>(x.m * x.k, 1), b = normals<T>(x.k * x.n, 2), bias = normals<T>(x.n, 3);
  auto c = normals<T>(x.m * (x.n + 3), 4);
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

template <class T>
void compare(double epsilon) {
  for (int64_t m : {0, 1, 2, 5, 7, 65, 200}) {
    for (int64_t n : {0, 1, 15, 63, 65, 130}) {
      for (int64_t k : {0, 1, 17, 385}) {
        for (int flags = 0; flags < 16; ++flags) {
          const Case x{m, n, k, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0, (flags & 8) != 0};
          if (flags > 3 && m * n * k > 30000) continue;
          const std::vector<T> got = run<T>(x, false), expected = run<T>(x, true);
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(got[i], expected[i], epsilon * (8 + 4 * double(k)))
                << m << ' ' << n << ' ' << k << ' ' << flags;
          }
        }
      }
    }
  }
}

TEST(Gemm, MatchesPlainLoopsInFloatForAllLayoutsAndEdgeSizes) { compare<float>(0x1p-23); }
TEST(Gemm, MatchesPlainLoopsInDoubleForAllLayoutsAndEdgeSizes) { compare<double>(0x1p-52); }

TEST(Gemm, DoesNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  const Case x{150, 300, 500, false, true, false, true};
  set_num_threads(1);
  const std::vector<float> one = run<float>(x, false);
  for (int threads : {2, 3}) {
    set_num_threads(threads);
    EXPECT_EQ(run<float>(x, false), one);
  }
  set_num_threads(before);
}

TEST(Gemm, NanReachesExactlyItsRow) {
  std::vector<float> a(4 * 3, 1), b(3 * 5, 1), c(4 * 5);
  a[1 * 3 + 2] = NAN;
  gemm<float>(4, 5, 3, {a.data(), 3, 1}, {b.data(), 5, 1}, c.data(), 5, false);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(std::isnan(c[i]), i / 5 == 1);
}

}  // namespace
}  // namespace cladtorch::detail
