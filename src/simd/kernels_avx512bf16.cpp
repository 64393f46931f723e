// The one kernel that AVX512-BF16 adds to those of AVX-512.
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/kernels.h"

#define CLADTORCH_VECTOR_FLOATS 16
#define CLADTORCH_TILE_VECTORS 4

namespace cladtorch::simd::avx512bf16 {
namespace {
#include "simd/isa/vector.h"
// After vector.h.
#include "simd/isa/gemm.h"
}  // namespace

extern const GemmKernel<BfloatPair, float> gemm_pairs;
const GemmKernel<BfloatPair, float> gemm_pairs = {lanes<float>, tile_vectors, most_rows, most_gathered_rows,
                                                  gemm_tile<BfloatPair>};

}  // namespace cladtorch::simd::avx512bf16
