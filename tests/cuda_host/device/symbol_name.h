// The name of a function by its address, for messages.
#pragma once

#include <string>

namespace cuda_host::detail {

std::string symbol_name(const void* function);

}  // namespace cuda_host::detail
