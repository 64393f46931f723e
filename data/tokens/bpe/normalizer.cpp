#include "data/tokens/bpe/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "data/text/utf8.h"
#include "data/tokens/bpe/fields.h"
#include "data/tokens/bpe/regex.h"

namespace cladtorch::data::bpe {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// A normal form of one stretch of UTF-8.
std::string compose(std::string_view text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                               static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(mapped, std::free);
  require(length >= 0, "encode: cannot normalize the text: ", utf8proc_errmsg(length));
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(length)};
}

std::string normal_form(std::string text, int options) {
  if (is_ascii(text)) return text;
  if (utf8::is_valid(text)) return compose(text, options);
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size()) {
      const utf8::Decoded next = utf8::decode_first(std::string_view(text).substr(end));
      if (next.bytes == 0) break;
      end += next.bytes;
    }
    result += compose(std::string_view(text).substr(at, end - at), options);
    if (end < text.size()) result += text[end++];
    at = end;
  }
  return result;
}

std::string replace_all(std::string_view text, const std::vector<Range>& matches,
                        const std::string& content) {
  std::string result;
  size_t at = 0;
  for (const Range& match : matches) {
    result.append(text, at, match.begin - at).append(content);
    at = match.end;
  }
  return result.append(text, at);
}

std::vector<Range> occurrences(std::string_view text, const std::string& part) {
  std::vector<Range> found;
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) {
    found.push_back({at, at + part.size()});
  }
  return found;
}

std::vector<Range> matches_of(const Regex& regex, std::string_view text) {
  std::vector<Range> found;
  regex.for_each_match(text, [&](Range match) { found.push_back(match); });
  return found;
}

}  // namespace

Normalizer::Normalizer(const Json& json) {
  if (!json.is_null()) add(json, 0);
}

void Normalizer::add(const Json& json, int depth) {
  check_depth(depth);
  const std::string type = type_of(json, "normalizer");
  const auto form = [&](int options) {
    steps_.push_back([options](std::string text, Place) {
      return normal_form(std::move(text), UTF8PROC_STABLE | options);
    });
  };
  if (type == "Sequence") {
    for (const Json& part : list_field(json, "normalizers")) add(part, depth + 1);
  } else if (type == "NFC") {
    form(UTF8PROC_COMPOSE);
  } else if (type == "NFD") {
    form(UTF8PROC_DECOMPOSE);
  } else if (type == "NFKC") {
    form(UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  } else if (type == "NFKD") {
    form(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  } else if (type == "Prepend") {
    steps_.push_back([text = field<std::string>(json, "prepend")](std::string rest, Place place) {
      return place == Place::continuation ? rest : text + rest;
    });
  } else if (type == "Replace") {
    const PatternText pattern = pattern_field(json);
    const std::string content = field<std::string>(json, "content");
    require(content.size() <= 64, "tokenizer: the content of a Replace is longer than 64 bytes");
    if (pattern.regex) {
      const auto regex = std::make_shared<Regex>(pattern.text);
      steps_.push_back(
          [=](std::string text, Place) { return replace_all(text, matches_of(*regex, text), content); });
      local_ = false;
    } else {
      require(!pattern.text.empty(), "tokenizer: the pattern of a Replace is empty");
      // A pattern of one space is the only longer context that a cut before a space leaves whole.
      if (pattern.text.find(' ') != std::string::npos && pattern.text != " ") local_ = false;
      steps_.push_back([=](std::string text, Place) {
        return replace_all(text, occurrences(text, pattern.text), content);
      });
    }
  } else {
    not_supported("normalizer", type, "NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence");
  }
}

std::string Normalizer::apply(std::string text, Place place) const {
  // No normal form grows a text this much, but replacements that double it, one after the other, would.
  const size_t most = 64 * text.size() + 4096;
  for (const auto& step : steps_) {
    text = step(std::move(text), place);
    require(text.size() <= most, "encode: the normalizer makes the text more than 64 times as long");
  }
  return text;
}

}  // namespace cladtorch::data::bpe
