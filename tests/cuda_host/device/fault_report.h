// Says which kernel, or that the host, touched memory that
// it must not touch, before the process ends by that.
#pragma once

namespace cuda_host::detail {

// For this thread of the host; does nothing the second time, nor where a sanitizer reports faults itself.
void report_faults();

}  // namespace cuda_host::detail
