// log(sum exp(x)) of rows, in one pass over elements of which nothing is known before.
#pragma once

#include "cuda/rows.cuh"
#include "ops/common/scalar_exp.h"

namespace cladtorch::cuda {

/// The largest of some numbers, and the sum of exp(x - largest). NaN in any of them becomes NaN of the sum.
template <class C>
struct ExponentialSum {
  C largest = Maximum::of_nothing<C>(), sum = 0;

  /// One exponential for each element, and one for the pack.
  template <class T, int N>
  __device__ __forceinline__ void add(const Pack<T, N>& pack) {
    C larger = largest;
#pragma unroll
    for (int i = 0; i < N; ++i) larger = max(larger, read(pack.values[i]));
    // As long as all is -inf, there is no infinity to subtract from itself.
    const C subtracted = larger == Maximum::of_nothing<C>() ? C(0) : larger;
    sum *= detail::ScalarExp{}(largest - subtracted);
#pragma unroll
    for (int i = 0; i < N; ++i) sum += detail::ScalarExp{}(read(pack.values[i]) - subtracted);
    largest = larger;
  }

  /// That of all threads of the team together; NaN if all numbers are -inf, as on the CPU.
  template <class Team>
  __device__ void reduce() {
    C all[1] = {largest};
    Team::template reduce<Maximum>(all);
    C scaled[1] = {sum * detail::ScalarExp{}(largest - all[0])};
    Team::template reduce<Sum>(scaled);
    largest = all[0];
    sum = scaled[0];
  }
};

}  // namespace cladtorch::cuda
