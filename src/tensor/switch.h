// Environment variables that turn something off.
#pragma once

#include <cstdlib>
#include <string_view>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"

namespace cladtorch::detail {

/// Whether the environment's `name` is "on", which it is where it is not set or empty too. Throws Error
/// unless it is "on" or "off".
inline bool is_switched_on(const char* name) {
  const char* const value = std::getenv(name);
  const std::string_view text = value == nullptr || *value == '\0' ? "on" : value;
  require(text == "on" || text == "off", name, " is ", in_quotes(text), ", expected on or off");
  return text == "on";
}

}  // namespace cladtorch::detail
