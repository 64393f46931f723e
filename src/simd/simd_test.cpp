// Every instruction set against plain double arithmetic, at lengths around its vector length.
#include "simd/simd_test.h"

#include <sys/mman.h>

#include <bit>
#include <cmath>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"

namespace cladtorch::simd {
namespace {

TEST_P(Simd, DotMatchesAPlainSum) {
  for (int64_t n : lengths()) {
    const std::vector<float> a = normals(n, 1), b = normals(n, 2);
    const std::vector<bfloat16> c = rounded_normals(n, 3);
    double expected = 0, expected_widened = 0;
    for (size_t i = 1; i <= size_t(n); ++i) {
      expected += double(a[i]) * double(b[i]);
      expected_widened += double(a[i]) * double(float(c[i]));
    }
    const double tolerance = 1e-6 * double(n) + 1e-12;
    EXPECT_NEAR(kernels_->dot(n, a.data() + 1, b.data() + 1), expected, tolerance) << n;
    EXPECT_NEAR(kernels_->dot_widened(n, a.data() + 1, c.data() + 1), expected_widened, tolerance) << n;
  }
}

TEST_P(Simd, ExpIsAccurateToTwoUnitsInTheLastPlace) {
  std::vector<float> x, y;
  for (float v = -87; v < 88; v += 0.0137f) x.push_back(v);
  y.resize(x.size());
  kernels_->scaled_exp(int64_t(x.size()), x.data(), 0, 1, y.data(), false);
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(double(x[i]));
    worst = std::max(worst, std::abs(double(y[i]) - exact) / exact);
  }
  EXPECT_LT(worst, 2 * 0x1p-24 * 2);
}

TEST_P(Simd, ExpKeepsNanAndVanishesAtMinusInfinity) {
  const std::vector<float> x = {-INFINITY, -200, NAN, 0, 100};
  std::vector<float> y(5);
  kernels_->scaled_exp(5, x.data(), 0, 1, y.data(), false);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 1);
  EXPECT_GT(y[4], 1e38f);
}

TEST_P(Simd, TanhAndSigmoidAreAccurateToFourUnitsInTheLastPlace) {
  std::vector<float> x;
  for (float v = 1e-8f; v < 120; v *= 1.0007f) x.insert(x.end(), {v, -v});
  x.insert(x.end(), {0.0f, INFINITY, -INFINITY});
  std::vector<float> tanh(x.size()), sigmoid(x.size());
  value<functions::Tanh>(int64_t(x.size()), x.data(), tanh.data());
  value<functions::Sigmoid>(int64_t(x.size()), x.data(), sigmoid.data());
  const auto near = [](float got, double expected) {
    return std::abs(double(got) - expected) <= 4 * 0x1p-23 * std::abs(expected) + 1e-37;
  };
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(near(tanh[i], std::tanh(double(x[i])))) << x[i] << ' ' << tanh[i];
    ASSERT_TRUE(near(sigmoid[i], 1 / (1 + std::exp(-double(x[i]))))) << x[i] << ' ' << sigmoid[i];
  }
  const float nan = NAN;
  float y[2];
  value<functions::Tanh>(1, &nan, y);
  value<functions::Sigmoid>(1, &nan, y + 1);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
}

TEST_P(Simd, DropoutTakesTheWordsOfItsStream) {
  const DropoutMask mask{7, uint64_t{9} << 33 | 5, 0x40000000u, 4.0f / 3};
  constexpr int64_t first = 4 * 0x3ffffffcll, n = 203;  // the block number passes 2^32
  std::vector<float> x(n), y(n, 1), stored(n);
  for (int64_t i = 0; i < n; ++i) x[size_t(i)] = float(i + 1);
  kernels_->dropout(mask, first, n, x.data(), y.data(), true);
  kernels_->dropout(mask, first, n, x.data(), stored.data(), false);
  for (int64_t i = 0; i < n; ++i) {
    const bool kept = random_word(mask.seed, mask.stream, uint64_t(first + i)) >= mask.threshold;
    const float expected = kept ? x[size_t(i)] * mask.factor : 0.0f;
    EXPECT_EQ(stored[size_t(i)], expected) << i;
    EXPECT_FLOAT_EQ(y[size_t(i)], 1 + expected) << i;
  }
}

TEST_P(Simd, GeluAndItsPullbackMatchDoubleArithmetic) {
  const auto gelu = [](double v) {
    return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  };
  for (int64_t n : lengths()) {
    const std::vector<float> x = normals(n, 3, 3), d_y = normals(n, 4);
    std::vector<float> y(size_t(n) + 1), d_x(size_t(n) + 1, 1.0f), stored(size_t(n) + 1, 1.0f);
    value<functions::GeluTanh>(n, x.data() + 1, y.data() + 1);
    pullback<functions::GeluTanh>(n, x.data() + 1, d_y.data() + 1, d_x.data() + 1, true);
    pullback<functions::GeluTanh>(n, x.data() + 1, d_y.data() + 1, stored.data() + 1, false);
    for (size_t i = 1; i <= size_t(n); ++i) {
      const double v = x[i], h = 1e-6;
      const double slope = (gelu(v + h) - gelu(v - h)) / (2 * h);
      EXPECT_NEAR(y[i], gelu(v), 2e-6 * std::max(1e-3, std::abs(gelu(v))));
      EXPECT_NEAR(stored[i], slope * d_y[i], 2e-6 * std::max(1.0, std::abs(double(d_y[i]))));
      EXPECT_NEAR(d_x[i], 1 + stored[i], 1e-6);
    }
  }
}

TEST_P(Simd, ExactGeluAndItsPullbackMatchDoubleArithmetic) {
  const auto below = [](double v) { return std::erfc(-v / std::sqrt(2)) / 2; };
  for (int64_t n : lengths()) {
    const std::vector<float> x = normals(n, 3, 3), d_y = normals(n, 4);
    std::vector<float> y(size_t(n) + 1), d_x(size_t(n) + 1, 1.0f), stored(size_t(n) + 1, 1.0f);
    value<functions::GeluErf>(n, x.data() + 1, y.data() + 1);
    pullback<functions::GeluErf>(n, x.data() + 1, d_y.data() + 1, d_x.data() + 1, true);
    pullback<functions::GeluErf>(n, x.data() + 1, d_y.data() + 1, stored.data() + 1, false);
    for (size_t i = 1; i <= size_t(n); ++i) {
      const double v = x[i], slope = below(v) + v * std::exp(-v * v / 2) / std::sqrt(2 * M_PI);
      EXPECT_NEAR(y[i], v * below(v), 2e-6 * std::abs(v * below(v)) + 1e-37) << v;
      EXPECT_NEAR(stored[i], slope * d_y[i], 1e-6 * std::abs(double(d_y[i])) + 1e-37) << v;
      EXPECT_NEAR(d_x[i], 1 + stored[i], 1e-6);
    }
  }
}

TEST_P(Simd, SiluAndSwigluAndTheirPullbacksMatchDoubleArithmetic) {
  const auto gate = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (int64_t n : lengths()) {
    const std::vector<float> x = normals(n, 3, 3), up = normals(n, 5), d_y = normals(n, 4);
    const std::vector<float> ones(size_t(n) + 1, 1.0f);
    std::vector<float> y = ones, z = ones, d_x = ones, d_gate = ones, d_up = ones;
    value<functions::Silu>(n, x.data() + 1, y.data() + 1);
    kernels_->swiglu(n, x.data() + 1, up.data() + 1, z.data() + 1);
    pullback<functions::Silu>(n, x.data() + 1, d_y.data() + 1, d_x.data() + 1, true);
    kernels_->swiglu_pullback(n, x.data() + 1, up.data() + 1, d_y.data() + 1, d_gate.data() + 1, false,
                              d_up.data() + 1, true);
    for (size_t i = 1; i <= size_t(n); ++i) {
      const double v = x[i], u = up[i], d = d_y[i], s = gate(v), slope = s + v * s * (1 - s);
      EXPECT_NEAR(y[i], v * s, 1e-6 * std::abs(v));
      EXPECT_NEAR(z[i], v * s * u, 1e-6 * std::abs(v * u));
      EXPECT_NEAR(d_x[i], 1 + d * slope, 2e-6 * (1 + std::abs(d)));
      EXPECT_NEAR(d_gate[i], d * u * slope, 2e-6 * std::abs(d * u) + 1e-9);
      EXPECT_NEAR(d_up[i], 1 + d * v * s, 2e-6 * (1 + std::abs(d * v)));
    }
    std::vector<float> alone = ones;
    kernels_->swiglu_pullback(n, x.data() + 1, up.data() + 1, d_y.data() + 1, nullptr, false,
                              alone.data() + 1, true);
    EXPECT_EQ(alone, d_up);
    alone = ones;
    kernels_->swiglu_pullback(n, x.data() + 1, up.data() + 1, d_y.data() + 1, alone.data() + 1, false,
                              nullptr, true);
    EXPECT_EQ(alone, d_gate);
  }
}

TEST_P(Simd, RotateTurnsPairsForthAndBack) {
  for (int64_t half : lengths()) {
    const int64_t n = 3 * 2 * half;
    const std::vector<float> x = normals(n, 1);
    std::vector<float> table(size_t(2 * half) + 1), y(size_t(n) + 1, 1.0f), back = y;
    for (int64_t i = 0; i < half; ++i) {
      table[size_t(1 + i)] = float(std::cos(0.3 * double(i)));
      table[size_t(1 + half + i)] = float(std::sin(0.3 * double(i)));
    }
    kernels_->rotate(3, half, x.data() + 1, table.data() + 1, false, y.data() + 1, false);
    kernels_->rotate(3, half, y.data() + 1, table.data() + 1, true, back.data() + 1, true);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = i % (2 * half), pair = at % half, other = i + (at < half ? half : -half);
      const double c = table[size_t(1 + pair)], s = table[size_t(1 + half + pair)];
      const double turned = x[size_t(1 + i)] * c + x[size_t(1 + other)] * (at < half ? -s : s);
      ASSERT_NEAR(y[size_t(1 + i)], turned, 1e-6);
      ASSERT_NEAR(back[size_t(1 + i)], 1 + double(x[size_t(1 + i)]), 2e-6);
    }
  }
}

TEST_P(Simd, ResultsDoNotDependOnWhereAnElementLies) {
  const std::vector<float> x = normals(100, 5);
  std::vector<float> whole(101), piece(101);
  value<functions::GeluTanh>(100, x.data(), whole.data());
  for (int64_t start : {1, 3, 50}) {
    value<functions::GeluTanh>(100 - start, x.data() + start, piece.data() + start);
    for (size_t i = size_t(start); i < 100; ++i) ASSERT_EQ(whole[i], piece[i]);
  }
}

TEST_P(Simd, SoftmaxSumsToOneAndLogSumExpMatches) {
  for (int64_t n : lengths()) {
    if (n == 0) continue;
    const std::vector<float> x = normals(n, 6, 5);
    std::vector<float> y(size_t(n) + 1);
    kernels_->softmax_row(n, x.data() + 1, y.data() + 1);
    double sum = 0;
    for (size_t i = 1; i <= size_t(n); ++i) sum += std::exp(double(x[i]));
    EXPECT_NEAR(kernels_->log_sum_exp(n, x.data() + 1), std::log(sum), 1e-5);
    for (size_t i = 1; i <= size_t(n); ++i) EXPECT_NEAR(y[i], std::exp(double(x[i])) / sum, 1e-6);
  }
}

TEST_P(Simd, ExpAndSumWritesInPlaceOrNotAtAll) {
  for (int64_t n : lengths()) {
    std::vector<float> x = normals(n, 6, 5);
    double sum = 0;
    for (size_t i = 1; i <= size_t(n); ++i) sum += std::exp(double(x[i]) - 2);
    EXPECT_NEAR(kernels_->exp_and_sum(n, x.data() + 1, 2, nullptr), sum, 2e-6 * sum);
    const std::vector<float> before = x;
    EXPECT_NEAR(kernels_->exp_and_sum(n, x.data() + 1, 2, x.data() + 1), sum, 2e-6 * sum);
    for (size_t i = 1; i <= size_t(n); ++i)
      EXPECT_NEAR(x[i], std::exp(double(before[i]) - 2), 1e-6 * double(x[i]));
  }
}

TEST_P(Simd, LayerNormRowMatchesDoubleArithmeticWithALargeMean) {
  for (int64_t n : lengths()) {
    if (n == 0) continue;
    std::vector<float> x = normals(n, 7), weight = normals(n, 8), bias = normals(n, 9), y(size_t(n) + 1);
    for (float& v : x) v += 1000;
    float mean = 0, rstd = 0;
    kernels_->layer_norm_row(n, x.data() + 1, weight.data() + 1, bias.data() + 1, 1e-5f, y.data() + 1, &mean,
                             &rstd);
    double exact_mean = 0, variance = 0;
    for (size_t i = 1; i <= size_t(n); ++i) exact_mean += double(x[i]) / double(n);
    for (size_t i = 1; i <= size_t(n); ++i) variance += (x[i] - exact_mean) * (x[i] - exact_mean) / double(n);
    if (n == 1) variance = 0;
    const double exact_rstd = 1 / std::sqrt(variance + 1e-5);
    EXPECT_NEAR(rstd, exact_rstd, 1e-3 * exact_rstd);
    for (size_t i = 1; i <= size_t(n); ++i)
      EXPECT_NEAR(y[i], (x[i] - exact_mean) * exact_rstd * weight[i] + bias[i], 2e-3);
  }
}

TEST_P(Simd, RmsNormAndItsPullbackMatchDoubleArithmetic) {
  for (int64_t n : lengths()) {
    if (n == 0) continue;
    constexpr int64_t rows = 6;  // four together and two alone
    const std::vector<float> x = normals(rows * n, 7), weight = normals(n, 8), d_y = normals(rows * n, 9);
    std::vector<float> y(x.size()), rstd(rows), projected(rows), d_x(x.size(), 1.0f);
    std::vector<float> d_weight(weight.size(), 1.0f);
    for (int64_t r = 0; r < rows; ++r)
      kernels_->rms_norm_row(n, x.data() + 1 + r * n, weight.data() + 1, 1e-3f, y.data() + 1 + r * n,
                             &rstd[size_t(r)]);
    kernels_->layer_norm_pullback({n, x.data() + 1, weight.data() + 1, nullptr, rstd.data(), d_y.data() + 1,
                                   d_x.data() + 1, true, projected.data(), true},
                                  0, rows, d_weight.data() + 1, nullptr);
    std::vector<double> of_weight(size_t(n), 1);
    for (int64_t r = 0; r < rows; ++r) {
      const auto at = [&](const std::vector<float>& v, int64_t i) {
        return double(v[size_t(1 + r * n + i)]);
      };
      double squares = 0, sum = 0;
      for (int64_t i = 0; i < n; ++i) squares += at(x, i) * at(x, i) / double(n);
      const double exact = 1 / std::sqrt(squares + 1e-3);
      EXPECT_NEAR(rstd[size_t(r)], exact, 1e-6 * exact);
      for (int64_t i = 0; i < n; ++i) {
        sum += at(d_y, i) * weight[size_t(1 + i)] * at(x, i) * exact;
        of_weight[size_t(i)] += at(d_y, i) * at(x, i) * exact;
      }
      EXPECT_NEAR(projected[size_t(r)], sum, 1e-5 * double(n));
      for (int64_t i = 0; i < n; ++i) {
        const double w = weight[size_t(1 + i)], z = at(x, i) * exact;
        EXPECT_NEAR(at(y, i), z * w, 1e-5);
        EXPECT_NEAR(at(d_x, i), 1 + exact * (at(d_y, i) * w - z * sum / double(n)), 2e-5 * (1 + exact));
      }
    }
    for (int64_t i = 0; i < n; ++i) EXPECT_NEAR(d_weight[size_t(1 + i)], of_weight[size_t(i)], 2e-5);
  }
}

/// Memory whose end is the end of what the process may touch.
class Guarded {
 public:
  Guarded() : base_(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    ::mprotect(static_cast<std::byte*>(base_) + page, page, PROT_NONE);
  }
  ~Guarded() { ::munmap(base_, 2 * page); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  float* last(int64_t n) const { return reinterpret_cast<float*>(static_cast<std::byte*>(base_) + page) - n; }

 private:
  static constexpr size_t page = 1 << 16;
  void* base_;
};

TEST_P(Simd, PartsOfVectorsReachNoFurtherThanTheirElements) {
  const Guarded memory[5];
  for (int64_t n = 1; n <= 2 * kernels_->vector_length; ++n) {
    float *const x = memory[0].last(n), *const y = memory[1].last(n), *const d = memory[2].last(n),
                 *const d_weight = memory[3].last(n), *const d_bias = memory[4].last(n);
    float mean = 0, rstd = 0;
    kernels_->softmax_row(n, x, y);
    kernels_->softmax_pullback_row(n, y, x, d, true);
    value<functions::GeluTanh>(n, x, y);
    pullback<functions::GeluTanh>(n, x, y, d, true);
    value<functions::GeluErf>(n, x, y);
    pullback<functions::GeluErf>(n, x, y, d, true);
    kernels_->layer_norm_row(n, x, y, d, 1e-5f, d, &mean, &rstd);
    kernels_->layer_norm_pullback({n, x, y, &mean, &rstd, y, d, true, nullptr}, 0, 1, d_weight, d_bias);
    kernels_->rms_norm_row(n, x, y, 1e-5f, d, &rstd);
    kernels_->layer_norm_pullback({n, x, y, nullptr, &rstd, y, d, true, nullptr}, 0, 1, d_weight, nullptr);
    value<functions::Silu>(n, x, y);
    pullback<functions::Silu>(n, x, y, d, true);
    kernels_->swiglu(n, x, y, d);
    kernels_->swiglu_pullback(n, x, y, d, d_weight, true, d_bias, false);
    if (n % 2 == 0) kernels_->rotate(1, n / 2, x, y, false, d, true);
    EXPECT_EQ(kernels_->sum(n, x), 0);
    EXPECT_EQ(kernels_->dot(n, x, x), 0);
  }
}

TEST(Choice, IsTheSetThatIsWantedIfItRunsHere) {
  EXPECT_STREQ(choose_kernels("portable").name, "portable");
  EXPECT_STREQ(choose_kernels("").name, choose_kernels(nullptr).name);
  for (const char* set : {"avx2", "avx512", "avx512bf16"}) {
    if (find_kernels(set))
      EXPECT_STREQ(choose_kernels(set).name, set);
    else
      EXPECT_STREQ(choose_kernels(set).name, choose_kernels(nullptr).name);
  }
}

TEST(Choice, RefusesWhatIsNoSet) {
  for (const char* set : {"garbage", "AVX2", "avx", " avx2"}) {
    try {
      choose_kernels(set);
      ADD_FAILURE() << set;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(),
                "CLADTORCH_SIMD is " + in_quotes(set) + ", expected portable, avx2, avx512 or avx512bf16");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Simd, instruction_sets(), name_of_set);

}  // namespace
}  // namespace cladtorch::simd
