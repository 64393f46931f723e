#include "cladtorch/io/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/json.h"

namespace cladtorch::io {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are mapped as little-endian");

constexpr uint64_t largest_header = 100'000'000;
constexpr const char* metadata_key = "__metadata__";

struct TypeEntry {
  StoredType type;
  const char* name;
  size_t size;
};
constexpr std::array<TypeEntry, 13> stored_types = {{{StoredType::boolean, "BOOL", 1},
                                                     {StoredType::u8, "U8", 1},
                                                     {StoredType::i8, "I8", 1},
                                                     {StoredType::i16, "I16", 2},
                                                     {StoredType::u16, "U16", 2},
                                                     {StoredType::f16, "F16", 2},
                                                     {StoredType::bf16, "BF16", 2},
                                                     {StoredType::i32, "I32", 4},
                                                     {StoredType::u32, "U32", 4},
                                                     {StoredType::f32, "F32", 4},
                                                     {StoredType::i64, "I64", 8},
                                                     {StoredType::u64, "U64", 8},
                                                     {StoredType::f64, "F64", 8}}};

const TypeEntry& entry(StoredType type) {
  return *std::find_if(stored_types.begin(), stored_types.end(),
                       [&](const TypeEntry& e) { return e.type == type; });
}

/// Collects why a file is refused; every message reads "read 'file': not a valid safetensors file: reason".
struct Reader {
  std::string path;

  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(fmt::format("read '{}': not a valid safetensors file: {}", path, reason));
  }

  Json header(std::string_view text) const {
    std::vector<std::set<std::string>> keys;
    std::string duplicate;
    const auto watch = [&](int, Json::parse_event_t event, Json& value) {
      if (event == Json::parse_event_t::object_start) keys.emplace_back();
      if (event == Json::parse_event_t::object_end) keys.pop_back();
      if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
        duplicate = value.get<std::string>();
      }
      return true;
    };
    Json parsed;
    try {
      parsed = Json::parse(text, watch);
    } catch (const nlohmann::json::exception&) {  // bad syntax, or a number too large for any type
      refuse("the header is not JSON");
    }
    if (!duplicate.empty()) refuse(fmt::format("'{}' appears twice in the header", duplicate));
    if (!parsed.is_object()) refuse("the header is not a JSON object");
    return parsed;
  }

  std::vector<uint64_t> unsigned_array(const std::string& name, const Json& info, const char* key) const {
    const auto found = info.find(key);
    if (found == info.end() || !found->is_array()) refuse(fmt::format("'{}' has no {} array", name, key));
    std::vector<uint64_t> values;
    for (const Json& item : *found) {
      if (!is_whole_number<int64_t>(item) || item < 0) {
        refuse(fmt::format("{} of '{}' holds {}", key, name, describe_json(item)));
      }
      values.push_back(item.get<uint64_t>());
    }
    return values;
  }

  StoredTensor tensor(const std::string& name, const Json& info, std::span<const std::byte> data) const {
    if (!info.is_object()) refuse(fmt::format("'{}' is not described by an object", name));
    const auto dtype = info.find("dtype");
    if (dtype == info.end() || !dtype->is_string()) refuse(fmt::format("'{}' has no dtype", name));
    const auto known = std::find_if(stored_types.begin(), stored_types.end(),
                                    [&](const TypeEntry& e) { return dtype->get<std::string>() == e.name; });
    if (known == stored_types.end()) refuse(fmt::format("'{}' has unknown dtype {}", name, dtype->dump()));

    StoredTensor result;
    result.type = known->type;
    uint64_t bytes = known->size;
    for (const uint64_t dimension : unsigned_array(name, info, "shape")) {
      if (dimension != 0 && bytes > uint64_t{std::numeric_limits<int64_t>::max()} / dimension) {
        refuse(fmt::format("the shape of '{}' overflows", name));
      }
      bytes *= dimension;
      result.shape.push_back(static_cast<int64_t>(dimension));
    }
    const auto offsets = unsigned_array(name, info, "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size()) {
      refuse(fmt::format("'{}' lies at bytes [{}] of {} data bytes; was the file cut off?", name,
                         fmt::join(offsets, ","), data.size()));
    }
    if (offsets[1] - offsets[0] != bytes) {
      refuse(fmt::format("'{}' is {} [{}] = {} bytes, but its range holds {}", name, known->name,
                         fmt::join(result.shape, ","), bytes, offsets[1] - offsets[0]));
    }
    result.data = data.subspan(offsets[0], offsets[1] - offsets[0]);
    return result;
  }

  void check_ranges(const std::map<std::string, StoredTensor>& tensors,
                    std::span<const std::byte> data) const {
    std::vector<std::pair<std::span<const std::byte>, const std::string*>> ranges;
    for (const auto& [name, tensor] : tensors) ranges.emplace_back(tensor.data, &name);
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first.data(), a.first.size()) < std::pair(b.first.data(), b.first.size());
    });
    const std::byte* end = data.data();
    for (const auto& [range, name] : ranges) {
      if (range.data() < end) refuse(fmt::format("'{}' overlaps another tensor", *name));
      if (range.data() > end) refuse(fmt::format("there is a hole before '{}'", *name));
      end = range.data() + range.size();
    }
    if (end != data.data() + data.size()) refuse("there are bytes after the last tensor");
  }
};

}  // namespace

size_t stored_size(StoredType type) { return entry(type).size; }
const char* stored_name(StoredType type) { return entry(type).name; }

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), file_(path) {
  const Reader reader{path.string()};
  const auto bytes = file_.bytes();
  uint64_t length = 0;
  if (bytes.size() < sizeof length) reader.refuse(fmt::format("it has only {} bytes", bytes.size()));
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > largest_header) reader.refuse(fmt::format("its header would have {} bytes", length));
  if (length > bytes.size() - sizeof length) {
    reader.refuse(fmt::format("its header has {} bytes, the file {}; was it cut off?", length, bytes.size()));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length);
  const auto data = bytes.subspan(sizeof length + length);
  const Json header = reader.header(text);
  for (const auto& [name, info] : header.items()) {
    if (name != metadata_key) {
      tensors_.emplace(name, reader.tensor(name, info, data));
      continue;
    }
    if (!info.is_object()) reader.refuse("__metadata__ is not an object");
    for (const auto& [key, value] : info.items()) {
      if (!value.is_string()) reader.refuse(fmt::format("__metadata__ '{}' is not a string", key));
      metadata_.emplace(key, value.get<std::string>());
    }
  }
  reader.check_ranges(tensors_, data);
}

const StoredTensor& SafetensorsFile::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw Error(fmt::format("read '{}': there is no tensor '{}' among its {}; is it another model's file?",
                            path_.string(), name, tensors_.size()));
  }
  return found->second;
}

void write_safetensors(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, StoredTensor>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[metadata_key] = metadata;
  size_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    size_t bytes = stored_size(tensor.type);
    for (const int64_t dimension : tensor.shape) bytes *= static_cast<size_t>(dimension);
    if (bytes != tensor.data.size()) {
      throw Error(fmt::format("write '{}': '{}' of shape [{}] needs {} bytes, got {}", path.string(), name,
                              fmt::join(tensor.shape, ","), bytes, tensor.data.size()));
    }
    if (name == metadata_key || header.contains(name)) {
      throw Error(fmt::format("write '{}': two tensors are named '{}'", path.string(), name));
    }
    header[name] = {{"dtype", stored_name(tensor.type)},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // keeps the data aligned for doubles
  const uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(text);
  for (const auto& [name, tensor] : tensors) file.write(tensor.data.data(), tensor.data.size());
  file.commit();
}

}  // namespace cladtorch::io
