#include "cladtorch/io/gguf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <set>
#include <type_traits>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::io {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is written as the numbers lie in memory");

constexpr uint32_t version = 3;
constexpr size_t alignment = 32;  // what readers assume without general.alignment
constexpr size_t most_dimensions = 4, longest_name = 63;

/// The format's numbers for the alternatives of GgufValue, in their order, and for an array.
constexpr uint32_t value_types[] = {4, 5, 6, 7, 10, 8};
constexpr uint32_t array_type = 9;

/// ggml_type, or nothing.
int tensor_type(StoredType type) {
  switch (type) {
    case StoredType::f32:
      return 0;
    case StoredType::f16:
      return 1;
    case StoredType::i8:
      return 24;
    case StoredType::i16:
      return 25;
    case StoredType::i32:
      return 26;
    case StoredType::i64:
      return 27;
    case StoredType::f64:
      return 28;
    case StoredType::bf16:
      return 30;
    default:
      return -1;
  }
}

template <class T>
uint32_t type_number() {
  return value_types[GgufValue(T{}).index()];
}

/// The part of the file before the data.
class Header {
 public:
  void append(const std::string& text) {
    append<uint64_t>(text.size());
    bytes_ += text;
  }
  void append(bool value) { append<uint8_t>(value ? 1 : 0); }
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  void append(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void append_value(const T& value) {
    append(type_number<T>());
    append(value);
  }
  template <class T>
  void append_value(const std::vector<T>& values) {
    append(array_type);
    append(type_number<T>());
    append<uint64_t>(values.size());
    for (const T& value : values) append(value);
  }
  void pad() { bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0'); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = "GGUF";
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  throw Error(fmt::format("write '{}': {}", path.string(), reason));
}

size_t padding(size_t bytes) { return (alignment - bytes % alignment) % alignment; }

Header make_header(const std::filesystem::path& path, const GgufMetadata& metadata,
                   std::span<const TensorEntry> entries) {
  Header header;
  header.append(version);
  header.append<uint64_t>(entries.size());
  header.append<uint64_t>(metadata.size());
  std::set<std::string_view> names;
  for (const auto& [key, value] : metadata) {
    if (!names.insert(key).second) refuse(path, fmt::format("the key '{}' is given twice", key));
    header.append(key);
    std::visit([&](const auto& held) { header.append_value(held); }, value);
  }
  names.clear();
  uint64_t offset = 0;
  for (const TensorEntry& entry : entries) {
    if (!names.insert(entry.name).second) refuse(path, fmt::format("two tensors are named '{}'", entry.name));
    const int type = tensor_type(entry.type);
    if (type < 0 || entry.shape.size() > most_dimensions || entry.name.size() > longest_name) {
      refuse(path, fmt::format("GGUF has no place for '{}', which is {} [{}]", entry.name,
                               stored_name(entry.type), fmt::join(entry.shape, ",")));
    }
    header.append(entry.name);
    header.append(static_cast<uint32_t>(entry.shape.size()));
    for (size_t i = entry.shape.size(); i-- > 0;) header.append(entry.shape[i]);
    header.append(static_cast<uint32_t>(type));
    header.append(offset);
    const size_t bytes = stored_bytes(entry.name, entry.type, entry.shape);
    offset += bytes + padding(bytes);
  }
  header.pad();
  return header;
}

}  // namespace

void write_gguf(const std::filesystem::path& path, const GgufMetadata& metadata,
                std::span<const TensorEntry> entries, const TensorData& data) {
  const Header header = make_header(path, metadata, entries);
  AtomicFile file(path);
  file.write(header.bytes());
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::span<const std::byte> bytes = data(i);
    const size_t expected = stored_bytes(entries[i].name, entries[i].type, entries[i].shape);
    if (bytes.size() != expected) {
      refuse(path, fmt::format("'{}' needs {} bytes, got {}", entries[i].name, expected, bytes.size()));
    }
    constexpr char zeros[alignment]{};
    file.write(bytes.data(), bytes.size());
    file.write(zeros, padding(bytes.size()));
  }
  file.commit();
}

}  // namespace cladtorch::io
