// Our vector type beside Google Highway: the same inner loops in both, on one thread, on data in the caches.
// Results are compared first, then both take turns. Median and quartiles over the turns.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "bench/simd/highway_loops.h"
#include "simd/kernels.h"

namespace cladtorch {
namespace {

constexpr int turns = 41;

/// Of this thread alone: what others on the machine take does not count.
double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F>
double seconds_of(int repetitions, F f) {
  const double start = thread_seconds();
  for (int i = 0; i < repetitions; ++i) f();
  return (thread_seconds() - start) / repetitions;
}

std::vector<float> numbers(size_t n, float scale) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = scale * (static_cast<float>((i * 7919) % 2003) / 1001 - 1);
  return values;
}

void verify(const std::vector<float>& ours, const std::vector<float>& theirs, const char* what) {
  for (size_t i = 0; i < ours.size(); ++i) {
    if (std::abs(ours[i] - theirs[i]) <= 2e-6f * std::max(1.0f, std::abs(ours[i]))) continue;
    std::fprintf(stderr, "%s: element %zu is %g with our kernels, %g with Highway's: not timed\n", what, i,
                 static_cast<double>(ours[i]), static_cast<double>(theirs[i]));
    std::exit(1);
  }
}

/// `work` is operations or elements of one call, in 1e9 for the unit given.
template <class Ours, class Theirs>
void compare(const char* what, const char* unit, double work, int repetitions, Ours ours, Theirs theirs) {
  std::vector<double> a, b;
  for (int turn = 0; turn < turns; ++turn) {
    a.push_back(1e-9 * work / seconds_of(repetitions, ours));
    b.push_back(1e-9 * work / seconds_of(repetitions, theirs));
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::printf("%-12s %-9s ours %8.2f (%.2f-%.2f)   Highway %8.2f (%.2f-%.2f)   ratio %.2f\n", what, unit,
              a[turns / 2], a[turns / 4], a[3 * turns / 4], b[turns / 2], b[turns / 4], b[3 * turns / 4],
              a[turns / 2] / b[turns / 2]);
}

void compare_products(const simd::Kernels& kernels) {
  constexpr int64_t rows = 8, depth = 256;
  const int64_t columns = 3 * kernels.vector_length;
  const std::vector<float> a = numbers(static_cast<size_t>(rows * depth), 1.0f / 16),
                           b = numbers(static_cast<size_t>(columns * depth), 1.0f / 16);
  std::vector<float> c(static_cast<size_t>(rows * columns)), d = c;
  const simd::GemmTile<float> tile{.rows = rows,
                                   .columns = columns,
                                   .depth = depth,
                                   .a = a.data(),
                                   .a_row = 1,
                                   .a_depth = rows,
                                   .b = b.data(),
                                   .b_depth = columns,
                                   .c = c.data(),
                                   .c_row = columns,
                                   .ahead = a.data()};
  const auto ours = [&] { kernels.gemm_float.run(tile); };
  const auto theirs = [&] { highway::product(depth, a.data(), b.data(), d.data(), columns); };
  ours();
  theirs();
  verify(c, d, "product");
  compare("product", "GFLOP/s", 2.0 * static_cast<double>(rows * columns * depth), 4000, ours, theirs);
}

void compare_pointwise(const simd::Kernels& kernels) {
  constexpr int64_t n = 3072;
  const std::vector<float> x = numbers(n, 6);
  std::vector<float> y(n), z(n);
  const functions::GeluTanh f;
  const auto gelu = [&] {
    kernels.functions[functions::index_of<functions::GeluTanh>].value(&f, n, x.data(), y.data());
  };
  const auto highway_gelu = [&] { highway::gelu_tanh(n, x.data(), z.data()); };
  gelu();
  highway_gelu();
  verify(y, z, "gelu_tanh");
  compare("gelu_tanh", "Gelem/s", n, 4000, gelu, highway_gelu);

  float sum = 0, highway_sum = 0;
  const auto softmax = [&] { sum = kernels.exp_and_sum(n, x.data(), 6, y.data()); };
  const auto highway_softmax = [&] { highway_sum = highway::exp_and_sum(n, x.data(), 6, z.data()); };
  softmax();
  highway_softmax();
  y.push_back(sum / n);
  z.push_back(highway_sum / n);
  verify(y, z, "exp_and_sum");
  y.pop_back();
  z.pop_back();
  compare("exp_and_sum", "Gelem/s", n, 4000, softmax, highway_softmax);
}

int run() {
  const simd::Kernels& kernels = simd::kernels();
  std::printf("ours: %s, Highway: %s; one thread, median of %d turns (quartiles)\n", kernels.name,
              highway::target(), turns);
  if (kernels.vector_length != highway::vector_length() || kernels.gemm_float.vectors < 3) {
    std::fprintf(stderr,
                 "the tiles of this comparison are 3 vectors wide and need the same vectors in both\n");
    return 1;
  }
  compare_products(kernels);
  compare_pointwise(kernels);
  return 0;
}

}  // namespace
}  // namespace cladtorch

int main() { return cladtorch::run(); }
