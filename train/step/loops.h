// The loops over all parameters, compiled for several instruction sets and chosen at run time.
#pragma once

#include <cstdint>

#include "cladtorch/tensor/dtype.h"
#include "train/step/update_math.h"

namespace cladtorch::train {

/// m and v become the new moments, p the new parameter. Fresh moments are zero and not read. `rounded`,
/// unless null, receives the new parameter in bfloat16. Float traffic is 28 bytes an element, the gradient
/// read, the parameter and both moments read and written; 30 with the rounded copy.
void adamw_loop(float* p, const float* g, float* m, float* v, bfloat16* rounded, bool fresh, int64_t count,
                const AdamWCoefficients<float>& c);
void adamw_loop(double* p, const double* g, double* m, double* v, bool fresh, int64_t count,
                const AdamWCoefficients<double>& c);

/// The same for SGD, with the buffer b, or without momentum if that is null.
void sgd_loop(float* p, const float* g, float* b, bfloat16* rounded, bool fresh, int64_t count,
              const SGDCoefficients<float>& c);
void sgd_loop(double* p, const double* g, double* b, bfloat16* rounded, bool fresh, int64_t count,
              const SGDCoefficients<double>& c);

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
