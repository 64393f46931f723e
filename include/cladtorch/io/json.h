// JSON files with errors that name the file and the key.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "cladtorch/error.h"

namespace cladtorch::io {

using Json = nlohmann::ordered_json;

/// The object in `path`. Throws cladtorch::Error if the file cannot be read, does not hold one JSON
/// object, or is nested more than a hundred levels deep.
Json read_json(const std::filesystem::path& path);

/// The same for files with many keys. The keys are sorted, whereas io::Json compares a key with all others.
nlohmann::json read_large_json(const std::filesystem::path& path);

/// Writes `value` to `path` atomically, indented, with a final newline.
void write_json(const std::filesystem::path& path, const Json& value);

/// `value` for a message: the text of a number or a truth value, or the name of its type for anything else.
std::string describe_json(const Json& value);

/// Whether `value` is a whole number that a T can hold.
template <class T>
bool is_whole_number(const Json& value) {
  if (value.is_number_unsigned()) return std::in_range<T>(value.get<uint64_t>());
  return value.is_number_integer() && std::in_range<T>(value.get<int64_t>());
}

/// The value of `key` in `object` as a T. Throws an error with `where`, the name of the file, if the key is
/// absent, of another type, or a number that a T cannot hold.
template <class T>
T json_field(const Json& object, const std::string& key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error(fmt::format("read '{}': key '{}' is missing", where, key));
  const auto check = [&](bool fits, const char* expected) {
    if (fits) return;
    throw Error(
        fmt::format("read '{}': key '{}' is {}, expected {}", where, key, describe_json(*found), expected));
  };
  if constexpr (std::is_same_v<T, bool>) {
    check(found->is_boolean(), "true or false");
  } else if constexpr (std::is_integral_v<T>) {
    check(is_whole_number<T>(*found),
          std::is_unsigned_v<T> ? "a whole number, not negative" : "a whole number");
  } else if constexpr (std::is_floating_point_v<T>) {
    check(found->is_number(), "a number");
  } else if constexpr (std::is_same_v<T, std::string>) {
    check(found->is_string(), "a string");
  }
  return found->template get<T>();
}

/// The same, or `absent` if there is no such key.
template <class T>
T json_field_or(const Json& object, const std::string& key, const std::string& where, T absent) {
  return object.contains(key) ? json_field<T>(object, key, where) : absent;
}

}  // namespace cladtorch::io
