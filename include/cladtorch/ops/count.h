// Counts forward operations, so that tests can check that no forward work is done twice.
#pragma once

#include <cstdint>

namespace cladtorch {

/// Forward operations executed by this process so far (not views, not pullbacks).
int64_t op_count();

namespace detail {
/// Called once by every forward operation.
void count_op();
}  // namespace detail

}  // namespace cladtorch
