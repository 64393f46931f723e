#include "formats/transpose.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cladtorch::formats {
namespace {

/// Numbers with a guard behind them, at an address that is no multiple of anything.
template <class Word>
void expect_transposed(int64_t rows, int64_t columns) {
  const auto count = static_cast<size_t>(rows * columns);
  std::vector<Word> in(count + 1), out(count + 1);
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<Word>(i * 0x9e3779b97f4a7c15u >> 13);
  constexpr std::byte guard{0x5a};
  std::vector<std::byte> from(count * sizeof(Word) + 1), to(count * sizeof(Word) + 2, guard);
  std::memcpy(from.data() + 1, in.data(), count * sizeof(Word));
  transpose(from.data() + 1, rows, columns, sizeof(Word), to.data() + 1);
  std::memcpy(out.data(), to.data() + 1, count * sizeof(Word));
  EXPECT_EQ(to.front(), guard);
  EXPECT_EQ(to.back(), guard);
  int64_t wrong = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      wrong += out[static_cast<size_t>(c * rows + r)] != in[static_cast<size_t>(r * columns + c)];
  }
  EXPECT_EQ(wrong, 0) << rows << " x " << columns << " words of " << sizeof(Word);
}

TEST(Transpose, OfMatricesOfAnySize) {
  for (int64_t rows : {0, 1, 3, 8, 127, 128, 129, 300}) {
    for (int64_t columns : {1, 7, 8, 15, 16, 17, 32, 33, 100}) {
      expect_transposed<uint16_t>(rows, columns);
      expect_transposed<uint32_t>(rows, columns);
      expect_transposed<uint64_t>(rows, columns);
    }
  }
}

}  // namespace
}  // namespace cladtorch::formats
