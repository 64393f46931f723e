#define CLADTORCH_ISA avx2
#define CLADTORCH_VECTOR_FLOATS 8
#define CLADTORCH_TILE_VECTORS 2
#include "simd/isa/table.h"
