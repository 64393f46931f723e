// GPT-2's files (vocabulary and merges), read as the tokenizer.json that they stand for.
#include <nlohmann/json.hpp>

#include "cladtorch/data/bpe_tokenizer.h"
#include "data/tokens/bpe/fields.h"

namespace cladtorch::data {
namespace {

using bpe::Json;

constexpr const char* end_of_text = "<|endoftext|>";

/// One merge to a line; a line that begins with #version is a heading.
Json read_merges(std::string_view text) {
  Json merges = Json::array();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(std::string(line));
  }
  return merges;
}

Json byte_level(bool pre_tokenizer) {
  Json json = {{"type", "ByteLevel"}, {"add_prefix_space", !pre_tokenizer}, {"trim_offsets", true}};
  json["use_regex"] = true;
  return json;
}

}  // namespace

std::shared_ptr<const BpeTokenizer> BpeTokenizer::from_vocabulary_and_merges(const Json& vocabulary,
                                                                             std::string_view merges) {
  Json json = {{"pre_tokenizer", byte_level(true)},
               {"decoder", byte_level(false)},
               {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", read_merges(merges)}}}};
  if (vocabulary.is_object() && vocabulary.contains(end_of_text)) {
    json["added_tokens"].push_back(
        {{"id", vocabulary[end_of_text]}, {"content", end_of_text}, {"special", true}});
  }
  return from_json(json);
}

}  // namespace cladtorch::data
