// Reading the objects of a tokenizer.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"

namespace cladtorch::data::bpe {

using Json = nlohmann::json;

/// A value for a message: short, whatever it is.
inline std::string shown(const Json& value) {
  return value.is_primitive() ? shortened(value.dump(-1, ' ', true, Json::error_handler_t::replace))
                              : value.type_name();
}

/// `object[key]` as a T; `absent` where it is missing or null. Throws Error when it is of another type.
template <class T>
T field_or(const Json& object, const char* key, T absent) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return absent;
  bool fits = false;
  if constexpr (std::is_same_v<T, bool>) fits = found->is_boolean();
  if constexpr (std::is_same_v<T, std::string>) fits = found->is_string();
  if constexpr (std::is_same_v<T, int64_t>) {
    fits = found->is_number_integer() &&
           (!found->is_number_unsigned() || found->get<uint64_t>() <= uint64_t{INT64_MAX});
  }
  require(fits, "tokenizer: ", in_quotes(key), " is ", shown(*found), ", expected ",
          std::is_same_v<T, bool>          ? "true or false"
          : std::is_same_v<T, std::string> ? "a string"
                                           : "a whole number");
  return found->template get<T>();
}

/// The same for a key that must be there.
template <class T>
T field(const Json& object, const char* key) {
  const auto found = object.find(key);
  require(found != object.end() && !found->is_null(), "tokenizer: ", in_quotes(key), " is missing");
  return field_or<T>(object, key, T{});
}

/// The "type" of a part of the tokenizer, such as its pre_tokenizer.
inline std::string type_of(const Json& part, const char* what) {
  require(part.is_object(), "tokenizer: the ", what, " is ", shown(part), ", expected an object");
  return field<std::string>(part, "type");
}

[[noreturn]] inline void not_supported(const char* what, const std::string& type, const char* supported) {
  fail("tokenizer: the ", what, " ", in_quotes(type), " is not supported; supported are ", supported);
}

/// A list under `key`.
inline const Json& list_field(const Json& object, const char* key) {
  const auto found = object.find(key);
  require(found != object.end() && found->is_array(), "tokenizer: ", in_quotes(key), " must be a list");
  return *found;
}

/// {"String": "x"} or {"Regex": "x"}, as patterns are written.
struct PatternText {
  std::string text;
  bool regex = false;
};
inline PatternText pattern_field(const Json& object) {
  const auto found = object.find("pattern");
  require(found != object.end() && found->is_object() && found->size() == 1 &&
              (found->contains("String") || found->contains("Regex")) && found->begin()->is_string(),
          "tokenizer: 'pattern' must be {\"String\": ...} or {\"Regex\": ...}");
  return {found->begin()->get<std::string>(), found->contains("Regex")};
}

/// Sequences may hold sequences; deeper than any tokenizer needs is an attack on the stack.
inline void check_depth(int depth) {
  require(depth <= 8, "tokenizer: a Sequence holds a Sequence more than 8 levels deep");
}

}  // namespace cladtorch::data::bpe
