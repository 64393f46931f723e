// The classifier at the end of a language model, and its loss.
#pragma once

#include <clad/opaque.h>

#include <cstdint>

namespace cladtorch::kernels {

/// The number of elements of scratch memory that linear_cross_entropy_forward() needs.
template <class T>
int64_t linear_cross_entropy_work(int64_t N, int64_t C, int64_t V);

/// Mean over the N rows of inp [N, C] of -log softmax(weight inp)[target], with weight [V, C] and targets [N]
/// in [0, V), or -100 for a row that does not count. The scores [N, V] never exist: see
/// linear_cross_entropy() in ops/loss.h. While a gradient is computed, `work` keeps what the pullback needs.
template <class T>
T linear_cross_entropy_forward(T* work, const T* inp, const T* weight, const int32_t* targets, int64_t N,
                               int64_t C, int64_t V);

struct ClassifierState {
  int64_t counted = 0;  ///< rows
};

}  // namespace cladtorch::kernels

namespace clad::custom_derivatives::cladtorch::kernels {
using ::cladtorch::kernels::ClassifierState;

template <class T>
T linear_cross_entropy_forward_reverse_forw(T* work, const T* inp, const T* weight, const int32_t* targets,
                                            int64_t N, int64_t C, int64_t V,
                                            pullback_state<ClassifierState>& state);
/// `work` has no derivative, so this throws Error if it has a cotangent.
template <class T>
void linear_cross_entropy_forward_pullback(T* work, const T* inp, CLAD_UNUSED const T* weight,
                                           const int32_t* targets, int64_t N, int64_t C, int64_t V, T d_loss,
                                           T* d_work, T* d_inp, T* d_weight,
                                           pullback_state<ClassifierState>& state);

}  // namespace clad::custom_derivatives::cladtorch::kernels
