// Bytes as text (RFC 4648), for a JSON file that holds a binary one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cladtorch::data {

std::string to_base64(std::string_view bytes);

/// None where `text` is not base64 with its padding.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace cladtorch::data
