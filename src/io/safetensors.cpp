#include "cladtorch/io/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>
#include <set>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/json.h"
#include "cladtorch/quote.h"
#include "io/safetensors_header.h"

namespace cladtorch::io {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are mapped as little-endian");

constexpr uint64_t largest_header = 100'000'000;

/// The header's text and where the data begin.
std::string_view header_text(std::span<const std::byte> file) {
  uint64_t length = 0;
  if (file.size() < sizeof length) throw Error(fmt::format("it has only {} bytes", file.size()));
  std::memcpy(&length, file.data(), sizeof length);
  if (length > largest_header) throw Error(fmt::format("its header would have {} bytes", length));
  if (length > file.size() - sizeof length) {
    throw Error(fmt::format("its header has {} bytes, the file {}; was it cut off?", length, file.size()));
  }
  return {reinterpret_cast<const char*>(file.data()) + sizeof length, length};
}

/// Padded with spaces, so that the data are aligned for doubles.
std::string make_header(std::span<const TensorEntry> entries,
                        const std::map<std::string, std::string>& metadata) {
  std::string text = "{";
  std::set<std::string_view> names = {metadata_key};
  const auto append = [&](const std::string& key, const Json& value) {
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", Json(key).dump(), value.dump());
  };
  if (!metadata.empty()) append(metadata_key, metadata);
  size_t offset = 0;
  for (const TensorEntry& entry : entries) {
    if (!names.insert(entry.name).second)
      throw Error(fmt::format("two tensors are named {}", in_quotes(entry.name)));
    const size_t bytes = stored_bytes(entry.name, entry.type, entry.shape);
    append(entry.name, {{"dtype", stored_name(entry.type)},
                        {"shape", entry.shape},
                        {"data_offsets", {offset, offset + bytes}}});
    offset += bytes;
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

const StoredTensor& StoredTensors::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw Error(fmt::format("read '{}': there is no tensor {} among its {}; is it another model's file?",
                            path_.string(), in_quotes(name), tensors_.size()));
  }
  return found->second;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : StoredTensors(path), file_(path) {
  try {
    const std::string_view text = header_text(file_.bytes());
    const std::span<const std::byte> data = file_.bytes().subspan(sizeof(uint64_t) + text.size());
    SafetensorsHeader header = parse_safetensors_header(text, data.size());
    for (auto& [name, tensor] : header.tensors) {
      tensors_.emplace_hint(tensors_.end(), name,
                            StoredTensor{tensor.type, std::move(tensor.shape),
                                         data.subspan(tensor.begin, tensor.end - tensor.begin)});
    }
    metadata_ = std::move(header.metadata);
  } catch (const Error& error) {
    throw Error(fmt::format("read '{}': not a valid safetensors file: {}", path.string(), error.what()));
  }
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorEntry> entries,
                       const TensorData& data, const std::map<std::string, std::string>& metadata) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(fmt::format("write '{}': {}", path.string(), reason));
  };
  std::string text;
  try {
    text = make_header(entries, metadata);
  } catch (const Error& error) {
    refuse(error.what());
  }
  const uint64_t length = text.size();
  if (length > largest_header) refuse(fmt::format("its header would have {} bytes", length));
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(text);
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::span<const std::byte> bytes = data(i);
    const size_t expected = stored_bytes(entries[i].name, entries[i].type, entries[i].shape);
    if (bytes.size() != expected) {
      refuse(fmt::format("{} of shape [{}] needs {} bytes, got {}", in_quotes(entries[i].name),
                         fmt::join(entries[i].shape, ","), expected, bytes.size()));
    }
    file.write(bytes.data(), bytes.size());
  }
  file.commit();
}

void write_safetensors(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, StoredTensor>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<TensorEntry> entries;
  for (const auto& [name, tensor] : tensors) entries.push_back({name, tensor.type, tensor.shape});
  write_safetensors(path, entries, [&](size_t index) { return tensors[index].second.data; }, metadata);
}

}  // namespace cladtorch::io
