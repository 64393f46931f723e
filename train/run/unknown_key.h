// What to say of a key of a configuration that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::train {

/// The key of `known` that `name` ends like, or that is called so by another program, or "". Sections and
/// case do not count.
std::string meant_key(std::string_view name, const std::vector<std::string>& known);

/// What follows "unknown key 'x'": the key of `known` that was meant, whatever its section and case and also
/// by the name that another program gives it, or else the keys of its section.
std::string unknown_key_hint(std::string_view key, const std::vector<std::string>& known);

}  // namespace cladtorch::train
