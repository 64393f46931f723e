#include "cladtorch/io/safetensors_folder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/quote.h"

namespace cladtorch::io {
namespace fs = std::filesystem;
namespace {

constexpr const char* extension = ".safetensors";
/// A tensor takes about a hundred bytes of it.
constexpr uintmax_t largest_index = 100'000'000;

fs::path single_file(const fs::path& folder, const std::string& stem) { return folder / (stem + extension); }
fs::path index_file(const fs::path& folder, const std::string& stem) {
  return folder / (stem + extension + ".index.json");
}

[[noreturn]] void refuse(const fs::path& index, const std::string& reason) {
  throw Error(fmt::format("read '{}': not a valid index of shards: {}", index.string(), reason));
}

/// Receives the index's JSON piece by piece and keeps "weight_map", from tensor to file.
class IndexReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit IndexReader(const fs::path& index) : index_(index) {}

  std::map<std::string, std::string> weight_map;

  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(number_integer_t) override { return other(); }
  bool number_unsigned(number_unsigned_t) override { return other(); }
  bool number_float(number_float_t, const string_t&) override { return other(); }
  bool binary(binary_t&) override { return other(); }
  bool string(string_t& text) override {
    if (!in_map()) return other();
    if (text.empty() || text.find('/') != std::string::npos || !text.ends_with(extension)) {
      refuse(index_, fmt::format("{} is said to be in {}, which is no .safetensors file of this folder",
                                 in_quotes(tensor_), in_quotes(text)));
    }
    weight_map.emplace(std::move(tensor_), std::move(text));
    return true;
  }
  bool start_object(size_t) override {
    if (in_map()) other();
    if (depth_ == 1 && field_ == "weight_map" && std::exchange(found_, true)) {
      refuse(index_, "it has two weight_map");
    }
    return ++depth_, true;
  }
  bool start_array(size_t) override {
    if (depth_ == 0) refuse(index_, "it is not a JSON object");
    other();
    return ++depth_, true;
  }
  bool key(string_t& text) override {
    if (depth_ == 1)
      field_ = std::move(text);
    else if (in_map())
      set_tensor(std::move(text));
    return true;
  }
  bool end_object() override { return --depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    refuse(index_, fmt::format("not JSON at byte {}", position));
  }

  bool found() const { return found_; }

 private:
  bool in_map() const { return depth_ == 2 && field_ == "weight_map"; }
  void set_tensor(std::string name) {
    if (weight_map.contains(name)) refuse(index_, fmt::format("{} appears twice", in_quotes(name)));
    tensor_ = std::move(name);
  }
  /// A value that is not the name of a file.
  bool other() const {
    if (depth_ == 0) refuse(index_, "it is not a JSON object");
    if (depth_ == 1 && field_ == "weight_map") refuse(index_, "weight_map is not an object");
    if (in_map()) refuse(index_, fmt::format("the file of {} is not a string", in_quotes(tensor_)));
    return true;
  }

  const fs::path& index_;
  int64_t depth_ = 0;
  bool found_ = false;
  std::string field_, tensor_;
};

std::map<std::string, std::string> read_weight_map(const fs::path& index) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(index, error);
  if (!error && bytes > largest_index) refuse(index, fmt::format("it has {} bytes", bytes));
  const std::string text = read_file(index);
  IndexReader reader(index);
  nlohmann::json::sax_parse(text, &reader);
  if (!reader.found()) refuse(index, "it has no weight_map");
  return std::move(reader.weight_map);
}

/// How many entries each shard holds, in order.
std::vector<size_t> split(std::span<const TensorEntry> entries, uint64_t shard_bytes) {
  std::vector<size_t> counts = {0};
  uint64_t filled = 0;
  for (const TensorEntry& entry : entries) {
    const uint64_t bytes = stored_bytes(entry.name, entry.type, entry.shape);
    if (counts.back() > 0 && (filled > shard_bytes || bytes > shard_bytes - filled)) {
      counts.push_back(0);
      filled = 0;
    }
    ++counts.back();
    filled += bytes;
  }
  return counts;
}

/// Files that go away unless all are kept.
struct NewFiles {
  std::vector<fs::path> paths;
  ~NewFiles() {
    std::error_code ignored;
    for (const fs::path& path : paths) fs::remove(path, ignored);
  }
};

}  // namespace

SafetensorsFolder::SafetensorsFolder(const fs::path& folder, const std::string& stem)
    : StoredTensors(single_file(folder, stem)) {
  std::error_code ignored;
  const fs::path index = index_file(folder, stem);
  if (fs::exists(path_, ignored) || !fs::exists(index, ignored)) {
    files_.emplace_back(path_);
    tensors_ = files_.back().tensors();
    metadata_ = files_.back().metadata();
    return;
  }
  path_ = index;
  std::map<std::string, size_t> shards;
  for (const auto& [tensor, file] : read_weight_map(index)) {
    const auto [shard, is_new] = shards.emplace(file, files_.size());
    if (is_new) files_.emplace_back(folder / file);
    const SafetensorsFile& holder = files_[shard->second];
    if (!holder.contains(tensor))
      refuse(index, fmt::format("{} is not in {}", in_quotes(tensor), in_quotes(file)));
    tensors_.emplace_hint(tensors_.end(), tensor, holder.at(tensor));
  }
  if (!files_.empty()) metadata_ = files_.front().metadata();
}

bool SafetensorsFolder::exists(const fs::path& folder, const std::string& stem) {
  std::error_code ignored;
  return fs::exists(single_file(folder, stem), ignored) || fs::exists(index_file(folder, stem), ignored);
}

void write_safetensors_folder(const fs::path& folder, std::span<const TensorEntry> entries,
                              const TensorData& data, const std::map<std::string, std::string>& metadata,
                              uint64_t shard_bytes, const std::string& stem) {
  const std::vector<size_t> counts = split(entries, shard_bytes);
  std::error_code ignored;
  if (fs::exists(index_file(folder, stem), ignored) ||
      (counts.size() > 1 && SafetensorsFolder::exists(folder, stem))) {
    throw Error(fmt::format(
        "write '{}': it holds a checkpoint already, and shards cannot be replaced at once; name a new folder",
        folder.string()));
  }
  if (counts.size() == 1) return write_safetensors(single_file(folder, stem), entries, data, metadata);
  NewFiles written;
  nlohmann::json weight_map = nlohmann::json::object();
  uint64_t total = 0;
  size_t first = 0;
  for (size_t shard = 0; shard < counts.size(); ++shard) {
    const std::string name = fmt::format("{}-{:05}-of-{:05}{}", stem, shard + 1, counts.size(), extension);
    const auto part = entries.subspan(first, counts[shard]);
    write_safetensors(folder / name, part, [&](size_t index) { return data(first + index); }, metadata);
    written.paths.push_back(folder / name);
    for (const TensorEntry& entry : part) {
      weight_map[entry.name] = name;
      total += stored_bytes(entry.name, entry.type, entry.shape);
    }
    first += counts[shard];
  }
  const nlohmann::json index = {{"metadata", {{"total_size", total}}}, {"weight_map", std::move(weight_map)}};
  write_file(index_file(folder, stem), index.dump(2) + "\n");
  written.paths.clear();
}

}  // namespace cladtorch::io
