// Compiled once per instruction set, with that set's flags, by the kernels_*.cpp files.
// Everything here has internal linkage except the table: an inline function with external linkage could be
// picked by the linker for code that runs on lesser processors. So no standard library templates either.
#include <stddef.h>
#include <stdint.h>
#if CLADTORCH_VECTOR_FLOATS >= 8
#include <immintrin.h>
#endif

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd/kernels.h"
// After kernels.h.
#include "simd/isa/libmvec.h"
#include "tensor/random_words.h"

namespace cladtorch::simd::CLADTORCH_ISA {
namespace {
#include "simd/isa/vector.h"
// After vector.h, in this order.
#include "simd/isa/functions.h"
#include "simd/isa/gemm.h"
#include "simd/isa/packing.h"
#include "simd/isa/pointwise.h"
#include "simd/isa/pooling.h"
#include "simd/isa/rows.h"
// After rows.h.
#include "simd/isa/attention_product.h"
#include "simd/isa/attention_transpose.h"
// After those.
#include "simd/isa/attention.h"
#include "simd/isa/attention_pullback.h"

#define CLADTORCH_FUNCTION_KERNELS(F) {function_values<functions::F>, function_pullback<functions::F>},

constexpr const char* text_of(const char* text) { return text; }
#define CLADTORCH_TEXT_OF(x) text_of(#x)
#define CLADTORCH_TEXT(x) CLADTORCH_TEXT_OF(x)
}  // namespace

extern const Kernels table;
const Kernels table = {
    .name = CLADTORCH_TEXT(CLADTORCH_ISA),
    .vector_length = CLADTORCH_VECTOR_FLOATS,
    .gemm_float = {lanes<float>, tile_vectors, most_rows, most_gathered_rows, gemm_tile<float>},
    .gemm_double = {lanes<double>, tile_vectors, most_rows, most_gathered_rows, gemm_tile<double>},
    .gemm_pairs = {},
    .transpose = transpose<float>,
    .transpose_widened = transpose<bfloat16>,
    .widen = widen,
    .pair = pair,
    .dot = dot,
    .dot_widened = dot_widened,
    .functions = {CLADTORCH_FUNCTIONS(CLADTORCH_FUNCTION_KERNELS)},
    .swiglu = swiglu,
    .swiglu_pullback = swiglu_pullback,
    .dropout = dropout,
    .max_of_windows = max_of_windows,
    .sum = sum,
    .softmax_row = softmax_row,
    .softmax_pullback_row = softmax_pullback_row,
    .log_sum_exp = log_sum_exp,
    .exp_and_sum = exp_and_sum,
    .scaled_exp = scaled_exp,
    .layer_norm_row = layer_norm_row,
    .rms_norm_row = rms_norm_row,
    .layer_norm_pullback = layer_norm_pullback,
    .rotate = rotate,
    .attention_tile = tile,
    .attention_scratch = attention_scratch,
    .attention = attention,
    .attention_delta = attention_delta,
    .attention_pullback_scratch = attention_pullback_scratch,
    .attention_pullback_keys = attention_pullback_keys,
    .attention_pullback_queries = attention_pullback_queries,
};

}  // namespace cladtorch::simd::CLADTORCH_ISA
