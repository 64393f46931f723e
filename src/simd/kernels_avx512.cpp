#define CLADTORCH_ISA avx512
#define CLADTORCH_VECTOR_FLOATS 16
#define CLADTORCH_TILE_VECTORS 4
#include "simd/isa/table.h"
