#include "data/tokens/bpe/decoder.h"

#include <charconv>

#include "cladtorch/quote.h"
#include "data/tokens/bpe/byte_alphabet.h"
#include "data/tokens/bpe/fields.h"

namespace cladtorch::data::bpe {
namespace {

constexpr const char* supported = "ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip, Sequence";

}  // namespace

Decoder::Decoder(const Json& json, bool byte_level) : byte_level_(byte_level) {
  if (!json.is_null()) add(json, 0);
}

void Decoder::add(const Json& json, int depth) {
  check_depth(depth);
  const std::string type = type_of(json, "decoder");
  if (type == "Sequence") {
    for (const Json& part : list_field(json, "decoders")) add(part, depth + 1);
    return;
  }
  require((type == "ByteLevel") == byte_level_ || type == "Fuse", "tokenizer: the decoder ", in_quotes(type),
          " does not go with a pre_tokenizer that is ", byte_level_ ? "" : "not ", "ByteLevel");
  if (type == "ByteLevel" || type == "Fuse") return;
  if (type == "ByteFallback") {
    bytes_by_name_ = true;
  } else if (type == "Metaspace") {
    replacements_.emplace_back(field_or<std::string>(json, "replacement", "\u2581"), " ");
    require(!replacements_.back().first.empty(), "tokenizer: the replacement of Metaspace is empty");
    const bool old = field_or(json, "add_prefix_space", true);
    if (field_or<std::string>(json, "prepend_scheme", old ? "always" : "never") != "never") {
      strip_ = " ";
      strip_count_ = 1;
    }
  } else if (type == "Replace") {
    const PatternText pattern = pattern_field(json);
    require(!pattern.regex && !pattern.text.empty(),
            "tokenizer: a Replace of the decoder is only supported with a String that is not empty");
    replacements_.emplace_back(pattern.text, field<std::string>(json, "content"));
    require(replacements_.back().second.size() <= 64,
            "tokenizer: the content of a Replace is longer than 64 bytes");
  } else if (type == "Strip") {
    strip_ = field<std::string>(json, "content");
    const int64_t start = field_or<int64_t>(json, "start", 0), stop = field_or<int64_t>(json, "stop", 0);
    require(start >= 0 && stop == 0 && !strip_.empty(),
            "tokenizer: Strip of the decoder is only supported for the beginning of a text");
    strip_count_ = static_cast<size_t>(start);
  } else {
    not_supported("decoder", type, supported);
  }
}

std::string Decoder::bytes_of(const std::string& name) const {
  // A name that is not written in the alphabet of bytes is the text itself.
  if (byte_level_) return from_alphabet(name).value_or(name);
  if (bytes_by_name_ && name.size() == 6 && name.starts_with("<0x") && name.ends_with('>')) {
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(name.data() + 3, name.data() + 5, byte, 16);
    if (error == std::errc{} && end == name.data() + 5) return {static_cast<char>(byte)};
  }
  std::string text = name;
  for (const auto& [from, to] : replacements_) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    require(text.size() <= 64 * name.size() + 64,
            "tokenizer: the decoder makes a token more than 64 times as long");
  }
  return text;
}

size_t Decoder::added_before(std::string_view text) const {
  size_t added = 0;
  for (size_t i = 0; i < strip_count_ && text.substr(added).starts_with(strip_); ++i) added += strip_.size();
  return added;
}

}  // namespace cladtorch::data::bpe
