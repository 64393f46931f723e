// Text that may come from any file, for the one line of an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cladtorch {

/// `text` with its control characters escaped, and no more of it than about `most` bytes: "a long name
/// th...".
std::string shortened(std::string_view text, size_t most = 80);

/// The same in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace cladtorch
