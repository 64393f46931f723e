// The classifier's loss on raw memory: rows that do not count are left out, the others go through in blocks.
#pragma once

#include <algorithm>
#include <cstring>

#include "ops/linear_cross_entropy/classifier.h"

namespace cladtorch::detail {

/// Calls visit(number among those that count, number among all) for each target that counts.
template <class Visit>
void for_each_counted(int64_t n, const int32_t* targets, int64_t ignore_index, Visit visit) {
  int64_t counted = 0;
  for (int64_t i = 0; i < n; ++i)
    if (targets[i] != ignore_index) visit(counted++, i);
}

/// The rows that count, one after the other; rows are `length` elements of T.
template <class T>
void pack_rows(int64_t n, const int32_t* targets, int64_t ignore_index, int64_t length, const T* all,
               T* packed) {
  for_each_counted(n, targets, ignore_index, [&](int64_t to, int64_t from) {
    std::copy_n(all + from * length, length, packed + to * length);
  });
}

/// Undoes pack_rows: zero where no row counts.
template <class T>
void unpack_rows(int64_t n, const int32_t* targets, int64_t ignore_index, int64_t length, const T* packed,
                 T* all) {
  std::fill_n(all, n * length, T{});
  for_each_counted(n, targets, ignore_index, [&](int64_t from, int64_t to) {
    std::copy_n(packed + from * length, length, all + to * length);
  });
}

/// How rows that count are cut into blocks.
template <class T>
struct ClassifierBlocks {
  int64_t rows, vocabulary, channels;
  int64_t count;       ///< of blocks
  int64_t block_rows;  ///< of all but the last, which may have fewer

  ClassifierBlocks(int64_t rows, int64_t vocabulary, int64_t channels)
      : rows(rows), vocabulary(vocabulary), channels(channels) {
    const int64_t most = rows <= most_in_one(vocabulary, channels) ? rows : most_of_several(vocabulary);
    count = rows == 0 ? 1 : (rows + most - 1) / most;
    block_rows = (rows + count - 1) / count;
  }

  /// Rows of one of several blocks. Its exponentials are 54 MB in float, a third of GPT-2's W. With its
  /// vocabulary that is 256 rows, enough to hide reading W and updating d_W behind the products.
  static int64_t most_of_several(int64_t vocabulary) {
    constexpr int64_t block_scores = int64_t{13} << 20, smallest_block = 128;
    return std::max(smallest_block, block_scores / vocabulary / 64 * 64);
  }
  /// Rows that go through as one block: their exponentials take no more memory than those of one of several
  /// blocks and the sums for d_W, which one block does without.
  static int64_t most_in_one(int64_t vocabulary, int64_t channels) {
    constexpr int64_t elements_per_sum = sizeof(Computed<T>) / sizeof(T);
    return most_of_several(vocabulary) + channels * elements_per_sum;
  }
  /// What makes the sum of the rows' losses their mean.
  double factor() const { return rows == 0 ? 0 : 1 / static_cast<double>(rows); }
};

/// What the forward leaves for the pullback.
template <class T>
struct ClassifierGradients {
  T* d_x = nullptr;                    ///< [rows, C] for a cotangent of 1
  T* exponentials = nullptr;           ///< [V, block_rows] of the last block's scores, unless null
  Computed<T>* row_factors = nullptr;  ///< [block_rows]
  Computed<T>* d_weight = nullptr;     ///< [V, C] for a cotangent of 1; only for several blocks
};

/// The mean loss of x [rows, C] under weight [V, C], all of whose targets [rows] count; with a `kept`, also
/// what the pullback needs. `work` holds Classifier<T>::work() bytes.
template <class T>
double mean_loss(const ClassifierBlocks<T>& blocks, const T* x, const T* weight, const int32_t* targets,
                 const ClassifierGradients<T>* kept, std::byte* work) {
  double total = 0;
  for (int64_t begin = 0; begin < blocks.rows; begin += blocks.block_rows) {
    const Classifier<T> block(std::min(blocks.block_rows, blocks.rows - begin), blocks.vocabulary,
                              blocks.channels, x + begin * blocks.channels, weight, targets + begin, work);
    if (!kept) {
      total += block.loss();
      continue;
    }
    total += block.loss_and_d_x(blocks.factor(), kept->d_x + begin * blocks.channels, kept->exponentials,
                                kept->row_factors);
    if (blocks.count > 1 && kept->d_weight)
      block.d_weight(blocks.factor(), 1, kept->exponentials, kept->row_factors, kept->d_weight, begin > 0,
                     nullptr);
  }
  return blocks.factor() * total;
}

/// out [n] = or += factor * x, for sums or gradients x. Unless null, *squares gets the sum of the squares of
/// out.
template <class T, class Out>
void add_scaled(int64_t n, const T* x, double factor, Out* out, bool add, double* squares) {
  using Sum = Computed<T>;
  const auto by = static_cast<Sum>(factor);
  constexpr int64_t grain = 1 << 14;
  thread_local Scratch scratch;
  double* const of_piece = squares ? scratch.get<double>(n / grain + 1) : nullptr;
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    if (add) {
      for (int64_t i = begin; i < end; ++i)
        out[i] = convert<Out>(convert<Sum>(out[i]) + by * convert<Sum>(x[i]));
    } else {
      for (int64_t i = begin; i < end; ++i) out[i] = convert<Out>(by * convert<Sum>(x[i]));
    }
    if (!of_piece) return;
    double sums[8] = {};  // several, so that no addition waits for the one before
    for (int64_t i = begin; i < end; ++i) {
      const auto value = static_cast<double>(convert<Sum>(out[i]));
      sums[i % 8] += value * value;
    }
    double sum = 0;
    for (const double part : sums) sum += part;
    of_piece[begin / grain] = sum;
  });
  if (!squares) return;
  *squares = 0;
  for (int64_t i = 0; i * grain < n; ++i) *squares += of_piece[i];
}

}  // namespace cladtorch::detail
