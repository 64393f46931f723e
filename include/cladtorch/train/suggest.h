// "Did you mean": the known word closest to a mistyped one, and lists of known words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::train {

/// The element of `known` that differs from `word` by the fewest edits, or "" if none is close. The part of
/// an element behind its last dot counts too: 'lr' is close to 'optimizer.lr'.
std::string closest(std::string_view word, const std::vector<std::string>& known);

/// " (did you mean 'x'?)" with the closest element of `known`, or "" if none is close.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

/// "a, b or c", with "or" as the conjunction.
std::string enumeration(const std::vector<std::string>& words, std::string_view conjunction);

}  // namespace cladtorch::train
