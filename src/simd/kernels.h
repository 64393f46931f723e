// Inner loops that are compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

#include "cladtorch/ops/functions/slope.h"
#include "cladtorch/tensor/dtype.h"

namespace cladtorch::simd {

/// Two elements that follow one another along the depth of a product, the first in the lower half.
struct BfloatPair {
  uint32_t bits;
};

/// One tile of a product: C (+)= A B. A(i, p) is a[i * a_row + p * a_depth], and C(i, j) is c[i * c_row + j].
/// Where A has offsets they are a[a_places[i] + a_offsets[p]] and c[c_places[i] + j]. B(p, j) is
/// b[p * b_depth + j], or b[b_offsets[p] + j], readable up to the next multiple of the vector length past
/// `columns`. With offsets there is neither `squares` nor `stream`; pairs have none.
template <class T, class Sum = T>
struct GemmTile {
  int64_t rows = 0, columns = 0, depth = 0;
  const T* a = nullptr;
  int64_t a_row = 0, a_depth = 0;
  const int64_t *a_places = nullptr, *c_places = nullptr;
  const int32_t* a_offsets = nullptr;
  bool far = false;  ///< a hint: A is not in the first-level cache, and what follows its rows is read soon
  const T* b = nullptr;
  int64_t b_depth = 0;
  const int32_t* b_offsets = nullptr;
  Sum* c = nullptr;
  int64_t c_row = 0;
  bool add = false;
  double* squares = nullptr;    ///< unless null, gets the sum of the squares of the tile's elements of c
  bool stream = false;          ///< store past the cache: c and c_row are multiples of the vector, not `add`
  const void* ahead = nullptr;  ///< one line is prefetched per step of the depth, from here on
  int64_t ahead_step = 0;       ///< in bytes
};

template <class T, class Sum = T>
struct GemmKernel {
  int64_t lanes;                      ///< columns per vector
  int64_t vectors;                    ///< most vectors of columns in a tile
  const int64_t* most_rows;           ///< most rows of a tile, by its vectors
  const int64_t* most_gathered_rows;  ///< the same of a tile with a_offsets
  void (*run)(const GemmTile<T, Sum>& tile);
};

/// Heads of one sequence in memory, by the elements from one position to the next.
struct AttentionShape {
  int64_t length, head_size;
  int64_t q_row;   ///< of q and its gradient
  int64_t k_row;   ///< of k, v and their gradients
  int64_t y_row;   ///< of y and its gradient
  int64_t window;  ///< position t sees this many, itself the last; all before it if many more than length
};

/// One head's tensors and what its pullback writes. d_q, d_k and d_v lie as q, k and v do, d_y
/// as y does.
struct AttentionGradient {
  AttentionShape shape;
  const float *q, *k, *v, *d_y;
  const float* log_sum_exp;  ///< [length], from the forward
  const float* delta;        ///< [length], from attention_delta
  float *d_q, *d_k, *d_v;
  bool add_q, add_k, add_v;  ///< to what the gradients hold
};

/// Dense rows of a layer normalization and what its pullback writes. Without `mean` it is that of RMS
/// normalization: the mean is taken for 0.
struct LayerNormGradient {
  int64_t length;
  const float *x, *weight, *mean, *rstd, *d_y;
  float* d_x;             ///< null if not wanted
  bool add;               ///< to what d_x holds
  float* projected;       ///< [rows], unless null: the sum of d_y weight z, with z = (x - mean) rstd
  bool add_sums = false;  ///< to what the gradients of weight and bias hold
};

/// Which elements a dropout keeps: those whose random word is not below `threshold`. Element i has word i % 4
/// of block i / 4 of the stream.
struct DropoutMask {
  uint64_t seed, stream;
  uint32_t threshold;
  float factor;  ///< of the elements that are kept
};

/// A row of windows over an image, all of which are inside: window o has the elements
/// x[o * stride + i * row_step + t * tap_step] for i < rows, t < taps.
struct WindowRow {
  const float* x;
  int64_t windows, stride;
  int64_t rows, row_step, taps, tap_step;
  int64_t first;  ///< place of x[0] in the image
};

/// A pointwise function of ops/functions/functions.h; `f` points to an object of its class. `at` is what
/// functions::slope_at takes.
struct FunctionKernels {
  void (*value)(const void* f, int64_t n, const float* x, float* y);
  void (*pullback)(const void* f, int64_t n, const float* at, const float* d_y, float* d_x, bool add);
};

/// Kernels check nothing. Row kernels reduce in an order that depends on the length alone.
struct Kernels {
  const char* name;
  int64_t vector_length;  ///< floats per vector

  GemmKernel<float> gemm_float;
  GemmKernel<double> gemm_double;
  /// Multiplies pairs and adds both products to a float, flushing denormal numbers. No `run` where widening
  /// to float is faster: see dispatch.cpp.
  GemmKernel<BfloatPair, float> gemm_pairs;
  /// to[p * panel + i] = from[i * line + p] for i < lines, p < depth.
  void (*transpose)(int64_t lines, int64_t depth, const float* from, int64_t line, float* to, int64_t panel);
  /// The same, converted.
  void (*transpose_widened)(int64_t lines, int64_t depth, const bfloat16* from, int64_t line, float* to,
                            int64_t panel);
  /// to[i * to_line + j] = from[i * line + j] for i < lines, j < n.
  void (*widen)(int64_t lines, int64_t n, const bfloat16* from, int64_t line, float* to, int64_t to_line);
  /// to[i * to_line + j] is the pair of first[i * line + j] and second[i * line + j], or zero if `second` is
  /// null.
  void (*pair)(int64_t lines, int64_t n, const bfloat16* first, const bfloat16* second, int64_t line,
               BfloatPair* to, int64_t to_line);
  float (*dot)(int64_t n, const float* a, const float* b);
  float (*dot_widened)(int64_t n, const float* a, const bfloat16* b);

  FunctionKernels functions[static_cast<int>(functions::Index::count)];  ///< by functions::Index
  /// y = silu(gate) up
  void (*swiglu)(int64_t n, const float* gate, const float* up, float* y);
  /// Either gradient may be null.
  void (*swiglu_pullback)(int64_t n, const float* gate, const float* up, const float* d_y, float* d_gate,
                          bool add_gate, float* d_up, bool add_up);

  /// Of elements first, first + 1, ...; first is a multiple of 4.
  void (*dropout)(const DropoutMask& mask, int64_t first, int64_t n, const float* x, float* y, bool add);

  /// The largest element of each window, or its last NaN, and the place of the first that is so large.
  void (*max_of_windows)(const WindowRow& row, float* y, int32_t* places);

  double (*sum)(int64_t n, const float* x);
  void (*softmax_row)(int64_t n, const float* x, float* y);
  void (*softmax_pullback_row)(int64_t n, const float* y, const float* d_y, float* d_x, bool add);
  float (*log_sum_exp)(int64_t n, const float* x);
  /// y = exp(x - shift), unless y is null; returns the sum. y may be x.
  float (*exp_and_sum)(int64_t n, const float* x, float shift, float* y);
  /// y (+)= factor * exp(x - shift)
  void (*scaled_exp)(int64_t n, const float* x, float shift, float factor, float* y, bool add);

  /// bias may be null.
  void (*layer_norm_row)(int64_t n, const float* x, const float* weight, const float* bias, float epsilon,
                         float* y, float* mean, float* rstd);
  void (*rms_norm_row)(int64_t n, const float* x, const float* weight, float epsilon, float* y, float* rstd);
  /// d_x of rows [begin, end), and the rows' sums for weight and bias. Either of the two may be null.
  void (*layer_norm_pullback)(const LayerNormGradient& rows, int64_t begin, int64_t end, float* d_weight,
                              float* d_bias);

  /// Turns pairs (x[i], x[half + i]) of each of `heads` pieces of 2 half elements by the angle whose cosine
  /// is table[i] and whose sine is table[half + i], or back.
  void (*rotate)(int64_t heads, int64_t half, const float* x, const float* table, bool back, float* y,
                 bool add);

  /// Attention works on tiles of `attention_tile` positions, the last of a head smaller. Scratch memory is
  /// 64-byte aligned; the sizes are in floats.
  int64_t attention_tile;
  int64_t (*attention_scratch)(int64_t head_size);
  /// One tile of queries of one head. log_sum_exp may be null.
  void (*attention)(const AttentionShape& shape, int64_t first_query, const float* q, const float* k,
                    const float* v, float* y, float* log_sum_exp, float* scratch);

  /// delta[i] = the sum of d_y y at position i, for one tile.
  void (*attention_delta)(const AttentionShape& shape, int64_t first_query, const float* y, const float* d_y,
                          float* delta);
  int64_t (*attention_pullback_scratch)(int64_t head_size);
  /// d_k and d_v of one tile of keys, which `heads` share, and, if `to_queries`, its share of their d_q: then
  /// the tiles must be called for in order, and attention_pullback_queries not at all. `first` is the first
  /// of the heads; q, y and their gradients of the next lie head_size further, its statistics length further.
  void (*attention_pullback_keys)(const AttentionGradient& first, int64_t heads, int64_t first_key,
                                  bool to_queries, float* scratch);
  /// d_q of one tile of queries, bit for bit the sum of all key tiles' shares.
  void (*attention_pullback_queries)(const AttentionGradient& head, int64_t first_query, float* scratch);
};

/// The widest set that this processor runs, or the one named by the environment variable CLADTORCH_SIMD
/// (portable, avx2, avx512, avx512bf16) if it runs here. Throws Error where that is no name of a set.
const Kernels& kernels();

/// The same for `wanted` in the place of the variable; null or empty: the widest.
const Kernels& choose_kernels(const char* wanted);

/// By name, or null if unknown or not supported by this processor: for tests and benchmarks.
const Kernels* find_kernels(const char* name);

}  // namespace cladtorch::simd
