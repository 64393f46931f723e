// Counts forward operations, so that tests can check that no forward work is done twice, and what they cost.
#pragma once

#include <cstdint>

namespace cladtorch {

/// Forward operations executed by this process so far (not views, not pullbacks).
int64_t op_count();

/// What the products of matrices, convolutions and attention in this thread's forward operations have cost so
/// far: two for each multiplication with its addition.
int64_t flop_count();

namespace detail {
/// Called once by every forward operation.
void count_op();
void count_flops(int64_t flops);
}  // namespace detail

}  // namespace cladtorch
