#include "cladtorch/io/json.h"

#include "cladtorch/io/atomic_file.h"

namespace cladtorch::io {

namespace {

/// Copying and writing JSON call themselves for each level.
constexpr int most_levels = 100;

template <class AnyJson>
AnyJson read_object(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  const auto check_level = [&](int level, typename AnyJson::parse_event_t, AnyJson&) {
    if (level <= most_levels) return true;
    throw Error(fmt::format("read '{}': its JSON is nested more than {} deep", path.string(), most_levels));
  };
  AnyJson value;
  try {
    value = AnyJson::parse(text, check_level);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(fmt::format("read '{}': not JSON at byte {}; was the file cut off or edited?", path.string(),
                            error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    throw Error(fmt::format("read '{}': it holds a number too large for any type", path.string()));
  }
  if (!value.is_object()) {
    throw Error(fmt::format("read '{}': expected a JSON object, found {}", path.string(), value.type_name()));
  }
  return value;
}

}  // namespace

Json read_json(const std::filesystem::path& path) { return read_object<Json>(path); }
nlohmann::json read_large_json(const std::filesystem::path& path) {
  return read_object<nlohmann::json>(path);
}

void write_json(const std::filesystem::path& path, const Json& value) {
  write_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string describe_json(const Json& value) {
  return value.is_number() || value.is_boolean() ? value.dump() : value.type_name();
}

}  // namespace cladtorch::io
