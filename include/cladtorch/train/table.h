// Tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace cladtorch::train {

/// Rows of equal length, the first one the heading.
using Table = std::vector<std::vector<std::string>>;

/// In columns: the first one to the left, the others to the right.
std::string to_text(const Table& table);

}  // namespace cladtorch::train
