// Which instructions the operations compute with on a CPU.
#pragma once

#include <string>

namespace cladtorch {

/// "portable", "avx2", "avx512" or "avx512bf16": the widest set that this processor runs, or the one that the
/// environment's CLADTORCH_SIMD names, if it runs here. Throws Error where that is no name of a set; the
/// first operation does so too, but one on several threads ends the program.
std::string instruction_set();

}  // namespace cladtorch
