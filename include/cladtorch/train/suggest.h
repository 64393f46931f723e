// "Did you mean": the known word closest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::train {

/// " (did you mean 'x'?)" with the element of `known` that differs from `word` by the fewest edits, or ""
/// if none is close.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace cladtorch::train
