// JSON files with errors that name the file and the key.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cladtorch/error.h"

namespace cladtorch::io {

using Json = nlohmann::ordered_json;

/// The object in `path`. Throws cladtorch::Error when the file cannot be read or does not hold one JSON
/// object.
Json read_json(const std::filesystem::path& path);

/// Writes `value` to `path` atomically, indented, with a final newline.
void write_json(const std::filesystem::path& path, const Json& value);

/// The value of `key` in `object` as a T; `where` names the file in the message when it is absent or of
/// another type.
template <class T>
T json_field(const Json& object, const std::string& key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error(fmt::format("read '{}': key '{}' is missing", where, key));
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (!found->is_number()) {
      throw Error(
          fmt::format("read '{}': key '{}' is {}, expected a number", where, key, found->type_name()));
    }
  }
  try {
    return found->template get<T>();
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("read '{}': key '{}' is {}, which is not the expected type", where, key,
                            found->type_name()));
  }
}

}  // namespace cladtorch::io
