// Tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace cladtorch::train {

/// Rows of equal length, of which the first is the heading.
using Table = std::vector<std::vector<std::string>>;

/// Writes columns, the first aligned left and the others aligned right.
std::string to_text(const Table& table);

}  // namespace cladtorch::train
