#include "formats/transpose.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cladtorch/tensor/parallel.h"

namespace cladtorch::formats {
namespace {

constexpr size_t vector_bytes = 16, line_bytes = 64;

/// The first halves of two vectors, or the last, element by element in turn.
template <bool last, class Vector, size_t... i>
Vector interleaved(Vector a, Vector b, std::index_sequence<i...>) {
  constexpr size_t count = sizeof...(i);
  return __builtin_shufflevector(a, b, (i / 2 + (last ? count / 2 : 0) + i % 2 * count)...);
}

/// A square of as many rows as a vector has elements. `in_row` is in bytes, `out_row` in words.
template <class Word>
void transpose_square(const std::byte* in, int64_t in_row, Word* out, int64_t out_row) {
  using Vector [[gnu::vector_size(vector_bytes)]] = Word;
  constexpr int64_t count = vector_bytes / sizeof(Word);
  constexpr auto elements = std::make_index_sequence<static_cast<size_t>(count)>();
  Vector rows[count], halves[count];
  for (int64_t i = 0; i < count; ++i) std::memcpy(&rows[i], in + i * in_row, vector_bytes);
  // Each round halves the distance between the elements of a column.
  for (int64_t round = 1; round < count; round *= 2) {
    for (int64_t i = 0; i < count / 2; ++i) {
      halves[2 * i] = interleaved<false>(rows[i], rows[i + count / 2], elements);
      halves[2 * i + 1] = interleaved<true>(rows[i], rows[i + count / 2], elements);
    }
    std::copy(halves, halves + count, rows);
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * out_row, &rows[i], vector_bytes);
}

/// Columns as wide as a cache line of a band of rows. They go through a small tile: both matrices are touched
/// in whole lines, and lines that are a power of two apart do not push each other out.
template <class Word>
struct Tile {
  static constexpr int64_t band = 128, width = line_bytes / sizeof(Word), bytes = sizeof(Word);
  static constexpr int64_t square = vector_bytes / sizeof(Word);

  void read(const std::byte* in, int64_t in_row, int64_t height, int64_t across) {
    const int64_t whole = across == width ? height / square * square : 0;
    for (int64_t r = 0; r < whole; r += square) {
      for (int64_t c = 0; c < width; c += square)
        transpose_square(in + r * in_row + c * bytes, in_row, &columns[c][r], band);
    }
    for (int64_t r = whole; r < height; ++r) {
      for (int64_t c = 0; c < across; ++c)
        std::memcpy(&columns[c][r], in + r * in_row + c * bytes, sizeof(Word));
    }
  }
  void write(std::byte* out, int64_t out_row, int64_t height, int64_t across) const {
    for (int64_t c = 0; c < across; ++c)
      std::memcpy(out + c * out_row, columns[c], static_cast<size_t>(height * bytes));
  }

  alignas(line_bytes) Word columns[width][band];
};

template <class Word>
void transpose(const std::byte* in, int64_t rows, int64_t columns, std::byte* out) {
  using WordTile = Tile<Word>;
  constexpr int64_t bytes = sizeof(Word), band = WordTile::band, width = WordTile::width;
  parallel_for((rows + band - 1) / band, 1, [&](int64_t first, int64_t last) {
    WordTile tile;
    for (int64_t r = first * band; r < std::min(last * band, rows); r += band) {
      const int64_t height = std::min(band, rows - r);
      for (int64_t c = 0; c < columns; c += width) {
        const int64_t across = std::min(width, columns - c);
        tile.read(in + (r * columns + c) * bytes, columns * bytes, height, across);
        tile.write(out + (c * rows + r) * bytes, rows * bytes, height, across);
      }
    }
  });
}

}  // namespace

void transpose(const std::byte* in, int64_t rows, int64_t columns, size_t word, std::byte* out) {
  if (word == 2) return transpose<uint16_t>(in, rows, columns, out);
  if (word == 4) return transpose<uint32_t>(in, rows, columns, out);
  transpose<uint64_t>(in, rows, columns, out);
}

}  // namespace cladtorch::formats
