// Three inner loops of ours, written over Google Highway: what highway_bench compares.
#pragma once

#include <cstdint>

namespace cladtorch::highway {

/// c [rows, columns] = a b for panels as GemmTile has them: a [depth, rows], b [depth, columns], with 8 rows
/// and 3 vectors of columns.
void product(int64_t depth, const float* a, const float* b, float* c, int64_t c_row);
/// Floats per vector of the instruction set that Highway chose.
int64_t vector_length();
const char* target();
/// y = gelu_tanh(x); n is a multiple of the vector.
void gelu_tanh(int64_t n, const float* x, float* y);
/// y = exp(x - shift); returns the sum. n is a multiple of four vectors.
float exp_and_sum(int64_t n, const float* x, float shift, float* y);

}  // namespace cladtorch::highway
