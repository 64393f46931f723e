// Loops over elements, compiled for several instruction sets and chosen at run time.
#pragma once

#include <cstdint>

#include "cladtorch/tensor/dtype.h"
#include "train/step/update_math.h"

namespace cladtorch::train {

/// Muon's momentum: u is what will be made orthogonal.
void muon_loop(const float* g, float* b, float* u, bool fresh, int64_t count,
               const MuonCoefficients<float>& c);
void muon_loop(const double* g, double* b, double* u, bool fresh, int64_t count,
               const MuonCoefficients<double>& c);

/// p = keep p - step d, and its copy in bfloat16 unless `rounded` is null.
void descend_loop(float* p, const float* d, bfloat16* rounded, int64_t count, float keep, float step);
void descend_loop(double* p, const double* d, bfloat16* rounded, int64_t count, double keep, double step);

/// In double, in an order that depends on `count` alone.
double sum_of_squares(const bfloat16* values, int64_t count);
double sum_of_squares(const float* values, int64_t count);
double sum_of_squares(const double* values, int64_t count);

}  // namespace cladtorch::train
