#include "data/tokens/bpe/gpt2_files.h"

#include "data/tokens/bpe/fields.h"

namespace cladtorch::data::bpe {
namespace {

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

Json byte_level(bool add_prefix_space) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", true},
          {"use_regex", true}};
}

}  // namespace

Json gpt2_tokenizer(const Json& vocabulary, std::string_view merges, bool add_prefix_space) {
  Json json = {{"added_tokens", Json::array()},
               {"pre_tokenizer", byte_level(add_prefix_space)},
               {"decoder", byte_level(true)},
               {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", read_merges(merges)}}}};
  if (vocabulary.is_object() && vocabulary.contains(gpt2_end_of_text)) {
    json["added_tokens"].push_back(
        {{"id", vocabulary[gpt2_end_of_text]}, {"content", gpt2_end_of_text}, {"special", true}});
  }
  return json;
}

}  // namespace cladtorch::data::bpe
