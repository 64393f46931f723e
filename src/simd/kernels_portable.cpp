#define CLADTORCH_ISA portable
#define CLADTORCH_VECTOR_FLOATS 4
#define CLADTORCH_TILE_VECTORS 2
#include "simd/isa/table.h"
