// Tiles of matrix products, and what moves their operands, in every instruction set against plain double
// arithmetic.
#include <bit>

#include "simd/simd_test.h"

namespace cladtorch::simd {
namespace {

class Tiles : public Simd {};

template <class T>
T random_element(Random& random) {
  return static_cast<T>(random.normal());
}
template <>
BfloatPair random_element(Random& random) {
  const auto half = [&] { return uint32_t{bfloat16(static_cast<float>(random.normal())).bits}; };
  const uint32_t low = half();
  return {low | half() << 16};
}

template <class T>
double product(T a, T b) {
  return double(a) * double(b);
}
template <>
double product(BfloatPair a, BfloatPair b) {
  const auto half = [](uint32_t bits) { return double(std::bit_cast<float>(bits)); };
  return half(a.bits << 16) * half(b.bits << 16) + half(a.bits & 0xffff0000u) * half(b.bits & 0xffff0000u);
}

/// Random values from the second one on: the first is skipped to leave the rest unaligned.
template <class T>
std::vector<T> tile_operand(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(n) + 1);
  for (T& x : values) x = random_element<T>(random);
  return values;
}

template <class T, class Sum>
void check_tile(const GemmKernel<T, Sum>& kernel, int64_t rows, int64_t columns, bool transposed, bool add,
                double tolerance) {
  const int64_t depth = 13, padded = kernel.vectors * kernel.lanes + 8;
  const auto a = tile_operand<T>(rows * depth, 1), b = tile_operand<T>(depth * padded, 2);
  const int64_t a_row = transposed ? 1 : depth, a_depth = transposed ? rows : 1;
  std::vector<Sum> c(static_cast<size_t>(rows * padded), Sum(2));
  kernel.run({.rows = rows,
              .columns = columns,
              .depth = depth,
              .a = a.data() + 1,
              .a_row = a_row,
              .a_depth = a_depth,
              .b = b.data() + 1,
              .b_depth = padded,
              .c = c.data(),
              .c_row = padded,
              .add = add,
              .ahead = a.data()});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < padded; ++j) {
      double expected = add || j >= columns ? 2 : 0;
      for (int64_t p = 0; p < depth && j < columns; ++p)
        expected += product(a[size_t(1 + i * a_row + p * a_depth)], b[size_t(1 + p * padded + j)]);
      ASSERT_NEAR(double(c[size_t(i * padded + j)]), expected, tolerance) << rows << 'x' << columns;
    }
  }
}

template <class T, class Sum>
void check_tiles(const GemmKernel<T, Sum>& kernel, double tolerance) {
  for (int64_t columns = 1; columns <= kernel.vectors * kernel.lanes; ++columns)
    for (int64_t rows = 1; rows <= kernel.most_rows[(columns + kernel.lanes - 1) / kernel.lanes]; ++rows)
      for (bool transposed : {false, true})
        for (bool add : {false, true}) check_tile(kernel, rows, columns, transposed, add, tolerance);
}

TEST_P(Tiles, GemmTilesOfEverySizeMatchPlainSums) {
  check_tiles(kernels_->gemm_float, 1e-4);
  check_tiles(kernels_->gemm_double, 1e-12);
  if (kernels_->gemm_pairs.run) check_tiles(kernels_->gemm_pairs, 1e-4);
}

TEST_P(Tiles, ATileFindsItsOperandsWhereItsOffsetsSay) {
  const auto& kernel = kernels_->gemm_float;
  constexpr int64_t depth = 13, line = 80;
  const auto a = tile_operand<float>(depth * line, 1), b = tile_operand<float>(depth * line, 2);
  int32_t offsets[depth];
  int64_t places[12], sums[12];
  for (int32_t p = 0; p < depth; ++p) offsets[p] = p * 5 % depth * line;
  for (int64_t i = 0; i < 12; ++i) places[i] = i * 5 % 12;
  for (const auto& [of_left, of_right] : {std::pair(true, false), {false, true}, {true, true}}) {
    for (int64_t columns = 1; columns <= kernel.vectors * kernel.lanes; ++columns) {
      const int64_t* const most = of_left ? kernel.most_gathered_rows : kernel.most_rows;
      for (int64_t rows = 1; rows <= most[(columns + kernel.lanes - 1) / kernel.lanes]; ++rows) {
        std::vector<float> c(static_cast<size_t>(rows * columns), 2.0f);
        for (int64_t i = 0; i < rows; ++i) sums[i] = (rows - 1 - i) * columns;
        kernel.run({.rows = rows,
                    .columns = columns,
                    .depth = depth,
                    .a = a.data(),
                    .a_row = 1,
                    .a_depth = line,
                    .a_places = of_left ? places : nullptr,
                    .c_places = of_left ? sums : nullptr,
                    .a_offsets = of_left ? offsets : nullptr,
                    .far = columns % 2 == 0,
                    .b = b.data(),
                    .b_depth = line,
                    .b_offsets = of_right ? offsets : nullptr,
                    .c = c.data(),
                    .c_row = columns,
                    .add = true});
        for (int64_t i = 0; i < rows; ++i) {
          const float* const row = c.data() + (of_left ? sums[i] : i * columns);
          for (int64_t j = 0; j < columns; ++j) {
            double expected = 2;
            for (int64_t p = 0; p < depth; ++p)
              expected += product(a[size_t(of_left ? places[i] + offsets[p] : i + p * line)],
                                  b[size_t((of_right ? offsets[p] : p * line) + j)]);
            ASSERT_NEAR(double(row[j]), expected, 1e-4) << rows << 'x' << columns;
          }
        }
      }
    }
  }
}

TEST_P(Tiles, ATileStoredPastTheCachesHasTheSameValues) {
  const auto& kernel = kernels_->gemm_float;
  const int64_t columns = kernel.vectors * kernel.lanes, rows = kernel.most_rows[kernel.vectors];
  const auto a = tile_operand<float>(rows * 5, 1), b = tile_operand<float>(5 * columns, 2);
  alignas(64) float stored[12 * 64], streamed[12 * 64];
  GemmTile<float> tile{.rows = rows,
                       .columns = columns,
                       .depth = 5,
                       .a = a.data(),
                       .a_row = 5,
                       .a_depth = 1,
                       .b = b.data(),
                       .b_depth = columns,
                       .c = stored,
                       .c_row = columns,
                       .ahead = a.data()};
  kernel.run(tile);
  tile.c = streamed;
  tile.stream = true;
  kernel.run(tile);
  for (int64_t i = 0; i < rows * columns; ++i) ASSERT_EQ(stored[i], streamed[i]);
}

TEST_P(Tiles, TransposeMovesEveryElement) {
  for (int64_t lines : {1, 3, 4, 6, 9, 16, 23, 48}) {
    for (int64_t depth : {1, 4, 15, 16, 21}) {
      const std::vector<float> from = normals(lines * (depth + 2), 1);
      std::vector<float> to(static_cast<size_t>(depth * 50), -1.0f);
      kernels_->transpose(lines, depth, from.data(), depth + 2, to.data(), 50);
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < 50; ++i)
          ASSERT_EQ(to[size_t(p * 50 + i)], i < lines ? from[size_t(i * (depth + 2) + p)] : -1.0f);
    }
  }
}

TEST_P(Tiles, TransposeWidenedMovesEveryElement) {
  for (int64_t lines : {1, 3, 4, 6, 9, 16, 23, 48}) {
    for (int64_t depth : {1, 4, 15, 16, 21}) {
      const std::vector<bfloat16> from = rounded_normals(lines * (depth + 2), 1);
      std::vector<float> to(static_cast<size_t>(depth * 50), -1.0f);
      kernels_->transpose_widened(lines, depth, from.data() + 1, depth + 2, to.data(), 50);
      for (int64_t p = 0; p < depth; ++p)
        for (int64_t i = 0; i < 50; ++i)
          ASSERT_EQ(to[size_t(p * 50 + i)], i < lines ? float(from[size_t(1 + i * (depth + 2) + p)]) : -1.0f);
    }
  }
}

TEST_P(Tiles, WidenAndPairMoveEveryElementOfTheirLines) {
  constexpr int64_t lines = 3;
  for (int64_t n : lengths()) {
    const int64_t line = n + 5, to_line = n + 2;
    const std::vector<bfloat16> first = rounded_normals(lines * line, 1),
                                second = rounded_normals(lines * line, 2);
    std::vector<float> wide(static_cast<size_t>(lines * to_line), -1.0f);
    std::vector<BfloatPair> pairs(wide.size(), BfloatPair{7}), halves = pairs;
    kernels_->widen(lines, n, first.data() + 1, line, wide.data(), to_line);
    kernels_->pair(lines, n, first.data() + 1, second.data() + 1, line, pairs.data(), to_line);
    kernels_->pair(lines, n, first.data() + 1, nullptr, line, halves.data(), to_line);
    for (int64_t i = 0; i < lines; ++i) {
      for (int64_t j = 0; j < to_line; ++j) {
        const size_t from = size_t(1 + i * line + j), to = size_t(i * to_line + j);
        const uint32_t low = first[from].bits, high = uint32_t{second[from].bits} << 16;
        ASSERT_EQ(wide[to], j < n ? float(first[from]) : -1.0f);
        ASSERT_EQ(pairs[to].bits, j < n ? low | high : 7);
        ASSERT_EQ(halves[to].bits, j < n ? low : 7);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Tiles, instruction_sets(), name_of_set);

}  // namespace
}  // namespace cladtorch::simd
