// What lm-evaluation-harness makes of the texts of HellaSwag, whose numbers are compared.
#pragma once

#include <string>
#include <string_view>

namespace cladtorch::data::hellaswag {

/// Without white space around it, with ". " for " [title]", without the shortest [...] of one line, and with
/// one space for each two; in this order.
std::string cleaned(std::string_view text);

/// The first character in title case and all others in lower case, as Python's str.capitalize() but for the
/// few characters whose other case is several characters.
std::string capitalized(std::string_view text);

}  // namespace cladtorch::data::hellaswag
