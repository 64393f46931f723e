#include "cladtorch/io/json.h"

#include "cladtorch/io/atomic_file.h"

namespace cladtorch::io {

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  Json value;
  try {
    value = Json::parse(text);
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

void write_json(const std::filesystem::path& path, const Json& value) {
  write_file(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string describe_json(const Json& value) {
  return value.is_number() || value.is_boolean() ? value.dump() : value.type_name();
}

}  // namespace cladtorch::io
