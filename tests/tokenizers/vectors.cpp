#include "tests/tokenizers/vectors.h"

#include <fmt/format.h>

#include <algorithm>

#include "cladtorch/io/atomic_file.h"
#include "data/text/utf8.h"

namespace cladtorch::data {
namespace {

using nlohmann::json;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

const std::vector<bool>& assigned() {
  static const std::vector<bool> table = [] {
    std::vector<bool> result(0x110000);
    for (const json& range : json::parse(io::read_file(vectors_folder() / "assigned.json"))) {
      std::fill(result.begin() + range[0].get<ptrdiff_t>(), result.begin() + range[1].get<ptrdiff_t>(), true);
    }
    return result;
  }();
  return table;
}

}  // namespace

std::filesystem::path vectors_folder() { return CLADTORCH_TOKENIZERS; }

Vectors load_vectors(const std::string& name) {
  const json stored = json::parse(io::read_file(vectors_folder() / name / "vectors.json"));
  Vectors vectors;
  for (const json& entry : stored.at("texts")) {
    vectors.texts.push_back(
        {entry[0].get<std::string>(), entry[1].get<std::vector<int32_t>>(), entry[2].get<std::string>()});
  }
  for (const json& entry : stored.value("bytes", json::array())) {
    vectors.bytes.emplace_back(from_hex(entry[0].get<std::string>()), entry[1].get<std::vector<int32_t>>());
  }
  vectors.blocks = stored.value("blocks", std::vector<std::string>());
  vectors.around = stored.value("around", std::vector<int32_t>());
  return vectors;
}

std::string block_text(size_t block) {
  std::string text;
  for (size_t i = 256 * block; i < 256 * block + 256; ++i) {
    if (!assigned()[i]) continue;
    const std::string c = utf8::encode(static_cast<char32_t>(i));
    text += "x" + c + "y " + c + c + "1" + c + "\n" + c + " ";
  }
  return text;
}

std::string hash_of(const std::vector<int32_t>& tokens) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int32_t token : tokens) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ (static_cast<uint32_t>(token) >> shift & 255)) * 0x100000001b3u;
    }
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace cladtorch::data
