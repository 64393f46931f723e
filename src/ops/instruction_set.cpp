#include "cladtorch/ops/instruction_set.h"

#include "simd/kernels.h"

namespace cladtorch {

std::string instruction_set() { return simd::kernels().name; }

}  // namespace cladtorch
