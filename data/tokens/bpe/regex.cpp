#include "data/tokens/bpe/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cctype>

#include "cladtorch/error.h"

namespace cladtorch::data::bpe {
namespace {

std::string message_of(int code) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

/// `pattern` with what PCRE2 reads differently replaced: its \s takes U+180E too, and \p{Han} also the
/// characters that other scripts share with Han.
std::string in_pcre2_words(const std::string& pattern) {
  constexpr const char* white_space = R"(\p{Z}\t-\r\x{85})";
  std::string result;
  int depth = 0;  // of nested [
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's') {
        result += depth ? white_space : std::string("[") + white_space + "]";
      } else if (next == 'S' && depth == 0) {
        result += std::string("[^") + white_space + "]";
      } else if ((next == 'p' || next == 'P') && pattern.compare(i + 1, 1, "{") == 0) {
        const size_t close = std::min(pattern.find('}', i), pattern.size() - 1);
        const std::string name = pattern.substr(i + 2, close - i - 2);
        const bool script = name.size() > 2 && std::isalpha(static_cast<unsigned char>(name[0])) &&
                            name != "Any" && name.find(':') == std::string::npos;
        result += std::string("\\") + next + "{" + (script ? "sc:" : "") + name + "}";
        i = close;
      } else {
        result += {'\\', next};
      }
      continue;
    }
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
    result += c;
  }
  return result;
}

struct MatchData {
  pcre2_match_data* data;
  explicit MatchData(const pcre2_code* code) : data(pcre2_match_data_create_from_pattern(code, nullptr)) {
    if (data == nullptr) throw std::bad_alloc();
  }
  ~MatchData() { pcre2_match_data_free(data); }
  MatchData(const MatchData&) = delete;
  MatchData& operator=(const MatchData&) = delete;
};

}  // namespace

Regex::Regex(const std::string& pattern) : pattern_(pattern) {
  const std::string translated = in_pcre2_words(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error,
      &offset, nullptr);
  require(code != nullptr, "tokenizer: the pattern '", pattern,
          "' is no regular expression that PCRE2 reads: ", message_of(error));
  code_ = std::shared_ptr<void>(code, [](void* c) { pcre2_code_free(static_cast<pcre2_code*>(c)); });
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it cannot, PCRE2 interprets
}

std::vector<Range> Regex::matches(std::string_view text) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const MatchData match(code);
  std::vector<Range> found;
  for (size_t at = 0; at <= text.size();) {
    int count =
        pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, 0, match.data, nullptr);
    if (count == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter takes its stack from the heap
      count = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, PCRE2_NO_JIT,
                          match.data, nullptr);
    }
    if (count == PCRE2_ERROR_NOMATCH) break;
    require(count >= 0, "encode: the pattern '", pattern_, "' failed at byte ", at, ": ", message_of(count));
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match.data);
    if (range[1] > range[0]) found.push_back({range[0], range[1]});
    at = range[1];
    if (range[1] <= range[0]) {  // an empty match: go on behind the next character
      ++at;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    }
  }
  return found;
}

}  // namespace cladtorch::data::bpe
