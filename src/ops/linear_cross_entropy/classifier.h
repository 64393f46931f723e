// Rows against the vocabulary: the products and sums of linear_cross_entropy, whose file says why they are
// done in this way. Everything is cut by the sizes alone, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "cladtorch/tensor/parallel.h"
#include "ops/common/rows.h"
#include "ops/common/scratch.h"
#include "ops/matmul/gemm.h"
#include "ops/softmax/softmax_math.h"
#include "simd/kernels.h"
#include "tensor/bfloat16_kernels.h"

namespace cladtorch::detail {

/// Takes pieces of one memory, one after the other. Without a memory it only counts their bytes.
class WorkMemory {
 public:
  explicit WorkMemory(std::byte* memory) : memory_(memory) {}

  template <class Element>
  static constexpr int64_t bytes(int64_t count) {
    return (count * static_cast<int64_t>(sizeof(Element)) + 63) / 64 * 64;
  }
  template <class Element>
  Element* take(int64_t count) {
    const int64_t first = std::exchange(used_, used_ + bytes<Element>(count));
    return memory_ ? reinterpret_cast<Element*>(memory_ + first) : nullptr;
  }
  int64_t used() const { return used_; }

 private:
  std::byte* memory_;
  int64_t used_ = 0;
};

/// T is float, double or bfloat16; sums, scores and all that is computed from them are in Sum.
template <class T>
class Classifier {
 public:
  using Sum = Computed<T>;

  /// Bytes of memory that suffice for any number of rows up to `rows`.
  static int64_t work(int64_t rows, int64_t vocabulary, int64_t channels) {
    const int64_t pieces = std::min(most_pieces, chunks_of(vocabulary)), elements = rows * channels;
    const int64_t sums = std::min(pieces * elements, std::max(most_partial_sums, elements));
    return WorkMemory::bytes<Sum>(rows) * 3 + WorkMemory::bytes<Sum>(pieces * rows) +
           WorkMemory::bytes<Sum>(sums) + WorkMemory::bytes<T>(elements);
  }

  /// x [rows, C], weight [V, C], target [rows] in [0, V), and memory to work in, at a multiple of 64 bytes.
  Classifier(int64_t rows, int64_t vocabulary, int64_t channels, const T* x, const T* weight,
             const int32_t* target, std::byte* work)
      : rows_(rows),
        vocabulary_(vocabulary),
        channels_(channels),
        x_(x),
        weight_(weight),
        target_(target),
        work_(work) {
    const int64_t chunks = chunks_of(vocabulary);
    const int64_t pieces = std::clamp<int64_t>(most_partial_sums / (rows * channels + 1), 1, most_pieces);
    piece_ = std::max<int64_t>(1, (chunks + pieces - 1) / pieces) * chunk;
    pieces_ = (vocabulary + piece_ - 1) / piece_;
  }

  /// Sum of the rows' losses.
  double loss() const { return forward(0, nullptr, nullptr, nullptr); }

  /// The same; writes the gradient of `factor` times it to d_x [rows, C], and what d_weight() needs to
  /// exponentials [V, rows] (each chunk of V transposed), unless that is null, and row_factors [rows].
  double loss_and_d_x(double factor, T* d_x, T* exponentials, Sum* row_factors) const {
    return forward(factor, d_x, exponentials, row_factors);
  }

  /// d_weight [V, C] = or += the gradient of `factor * cotangent` times the loss. Unless null, *squares gets
  /// the sum of the squares of all its elements, or NaN.
  template <class Out>
  void d_weight(double factor, double cotangent, const T* exponentials, const Sum* row_factors, Out* d_weight,
                bool add, double* squares) const {
    T* const scaled = WorkMemory(work_).take<T>(rows_ * channels_);
    for_each_row([&](int64_t row) {
      const Sum by = row_factors[row] * static_cast<Sum>(cotangent);
      for (int64_t i = row * channels_; i < (row + 1) * channels_; ++i)
        scaled[i] = static_cast<T>(by * static_cast<Sum>(x_[i]));
    });
    const Sum of_target = static_cast<Sum>(factor * cotangent);
    thread_local Scratch scratch;
    double* const of_chunk = squares ? scratch.get<double>(chunks_of(vocabulary_)) : nullptr;
    parallel_for(vocabulary_, chunk, [&](int64_t begin, int64_t end) {
      const int64_t n = end - begin;
      double sum = 0;
      gemm<T>(n, channels_, rows_, {exponentials + begin * rows_, 1, n}, {scaled, channels_, 1},
              d_weight + begin * channels_, channels_, add, static_cast<const T*>(nullptr),
              of_chunk ? &sum : nullptr);
      for (int64_t row = 0; row < rows_; ++row) {
        if (target_[row] < begin || target_[row] >= end) continue;
        Out* const out = d_weight + target_[row] * channels_;
        for (int64_t i = 0; i < channels_; ++i) {
          const Sum before = static_cast<Sum>(out[i]);
          const Sum less = of_target * static_cast<Sum>(x_[row * channels_ + i]);
          out[i] = static_cast<Out>(before - less);
          const auto after = static_cast<double>(static_cast<Sum>(out[i]));
          sum += after * after - static_cast<double>(before) * static_cast<double>(before);
        }
      }
      if (of_chunk) of_chunk[begin / chunk] = sum;
    });
    if (!squares) return;
    *squares = 0;
    for (int64_t i = 0; i < chunks_of(vocabulary_); ++i) *squares += of_chunk[i];
  }

 private:
  static constexpr int64_t chunk = 512;       // of the vocabulary: with 768 channels, most of a level-2 cache
  static constexpr int64_t most_pieces = 32;  // that threads share out, each with sums of its own
  static constexpr int64_t most_partial_sums = int64_t{1} << 23;  // elements of all those sums for d_x
  static constexpr bool exact = std::is_same_v<T, Sum>;           // whether T holds a Sum
  static constexpr double largest_log = 30;                       // of Z: far inside float's range

  static int64_t chunks_of(int64_t vocabulary) { return (vocabulary + chunk - 1) / chunk; }

  template <class F>
  void for_each_row(F f) const {
    parallel_for(rows_, row_grain(channels_), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) f(row);
    });
  }

  static Sum dot(int64_t n, const T* a, const T* b) {
    if constexpr (std::is_same_v<T, float>) {
      return simd::kernels().dot(n, a, b);
    } else {
      Sum sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += static_cast<Sum>(a[i]) * static_cast<Sum>(b[i]);
      return sum;
    }
  }
  /// Replaces the scores of one row by exp(score - shift); returns their sum.
  static Sum exponentiate(int64_t n, Sum* scores, Sum shift) {
    if constexpr (std::is_same_v<Sum, float>) {
      return simd::kernels().exp_and_sum(n, scores, shift, scores);
    } else {
      Sum sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += scores[i] = std::exp(scores[i] - shift);
      return sum;
    }
  }

  double forward(double factor, T* d_x, T* exponentials, Sum* row_factors) const {
    WorkMemory work(work_);
    Sum *const score = work.take<Sum>(rows_), *const shift = work.take<Sum>(rows_);
    Sum *const total = work.take<Sum>(rows_), *const of_pieces = work.take<Sum>(pieces_ * rows_);
    for_each_row([&](int64_t row) {
      score[row] = dot(channels_, x_ + row * channels_, weight_ + target_[row] * channels_);
      shift[row] = score[row];
    });
    Sum* d_x_sums = nullptr;
    if (d_x) {
      if constexpr (exact) d_x_sums = d_x;  // with one piece its sums are the result
      if (!exact || pieces_ > 1) d_x_sums = work.take<Sum>(pieces_ * rows_ * channels_);
    }
    sum_exponentials(shift, of_pieces, total, d_x_sums, exponentials);
    const double limit = std::exp(largest_log);
    if (std::any_of(total, total + rows_, [&](Sum z) { return static_cast<double>(z) > limit; })) {
      find_maxima(of_pieces, shift);
      sum_exponentials(shift, of_pieces, total, d_x_sums, exponentials);
    }
    if (d_x) finish_d_x(factor, total, d_x_sums, d_x, row_factors);
    double sum = 0;
    for (int64_t row = 0; row < rows_; ++row)
      sum += std::log(static_cast<double>(total[row])) + static_cast<double>(shift[row] - score[row]);
    return sum;
  }

  /// Calls use(piece, first, n, scores) with the scores [rows, n] of each chunk of the vocabulary, `first` of
  /// them; they lie in `all` if it takes them exactly, else in memory of the thread, which without an `all`
  /// has place for them in T behind them.
  template <class Use>
  void for_each_chunk(T* all, Use use) const {
    const auto scratch = [&] {
      thread_local Scratch memory;
      const int64_t scores = rows_ * std::min(chunk, vocabulary_);
      return exact && all ? nullptr : memory.get<Sum>(exact || all ? scores : 2 * scores);
    };
    parallel_for(vocabulary_, piece_, scratch, [&](int64_t begin, int64_t end) {
      Sum* const own = scratch();
      for (int64_t v = begin; v < end; v += chunk) {
        const int64_t n = std::min(chunk, end - v);
        Sum* scores = own;
        if constexpr (exact) scores = all ? all + v * rows_ : own;
        gemm<T>(rows_, n, channels_, {x_, channels_, 1}, {weight_ + v * channels_, 1, channels_}, scores, n,
                false);
        use(begin / piece_, v, n, scores);
      }
    });
  }

  /// Where the scores [rows, n] lie as T, if no memory for all chunks was given.
  T* behind(Sum* scores, int64_t n) const {
    if constexpr (exact) {
      return scores;
    } else {
      return reinterpret_cast<T*>(scores + rows_ * n);
    }
  }

  /// sums [pieces, rows] and total [rows] = sums of exp(score - shift); d_x_sums [pieces, rows, C] =
  /// exponentials times weight, unless null.
  void sum_exponentials(const Sum* shift, Sum* sums, Sum* total, Sum* d_x_sums, T* exponentials) const {
    for_each_chunk(exponentials, [&](int64_t piece, int64_t v, int64_t n, Sum* scores) {
      const bool first = v == piece * piece_;
      T* const kept = exponentials ? exponentials + v * rows_ : behind(scores, n);
      parallel_for(rows_, row_grain(n), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          Sum& sum = sums[piece * rows_ + row];
          sum = (first ? Sum(0) : sum) + exponentiate(n, scores + row * n, shift[row]);
          if constexpr (!exact)
            if (d_x_sums) narrow(n, scores + row * n, kept + row * n);
        }
      });
      if (d_x_sums) {
        gemm<T>(rows_, channels_, n, {kept, n, 1}, {weight_ + v * channels_, channels_, 1},
                d_x_sums + piece * rows_ * channels_, channels_, !first);
      }
    });
    for (int64_t row = 0; row < rows_; ++row) {
      total[row] = 0;
      for (int64_t piece = 0; piece < pieces_; ++piece) total[row] += sums[piece * rows_ + row];
    }
  }

  /// maxima [pieces, rows] and largest [rows] of the scores.
  void find_maxima(Sum* maxima, Sum* largest) const {
    for_each_chunk(nullptr, [&](int64_t piece, int64_t v, int64_t n, const Sum* scores) {
      for (int64_t row = 0; row < rows_; ++row) {
        Sum& m = maxima[piece * rows_ + row];
        const Sum pair[] = {v == piece * piece_ ? scores[row * n] : m, maximum(n, scores + row * n)};
        m = maximum(2, pair);
      }
    });
    for (int64_t row = 0; row < rows_; ++row) {
      largest[row] = maxima[row];
      for (int64_t piece = 1; piece < pieces_; ++piece) {
        const Sum pair[] = {largest[row], maxima[piece * rows_ + row]};
        largest[row] = maximum(2, pair);
      }
    }
  }

  /// Adds the pieces' sums [pieces, rows, C] in order, in place.
  void finish_d_x(double factor, const Sum* total, Sum* sums, T* d_x, Sum* row_factors) const {
    const int64_t size = rows_ * channels_;
    for_each_row([&](int64_t row) {
      row_factors[row] = static_cast<Sum>(factor / static_cast<double>(total[row]));
      Sum* const sum = sums + row * channels_;
      T* const out = d_x + row * channels_;
      const T* const of_target = weight_ + target_[row] * channels_;
      for (int64_t piece = 1; piece < pieces_; ++piece)
        for (int64_t i = 0; i < channels_; ++i) sum[i] += sum[piece * size + i];
      for (int64_t i = 0; i < channels_; ++i) {
        out[i] = static_cast<T>(row_factors[row] * sum[i] -
                                static_cast<Sum>(factor) * static_cast<Sum>(of_target[i]));
      }
    });
  }

  int64_t rows_, vocabulary_, channels_;
  const T *x_, *weight_;
  const int32_t* target_;
  std::byte* work_;
  int64_t piece_, pieces_;
};

}  // namespace cladtorch::detail
