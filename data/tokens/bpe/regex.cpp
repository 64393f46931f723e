#include "data/tokens/bpe/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cctype>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "data/text/utf8.h"

namespace cladtorch::data::bpe {
namespace {

/// Of backtracking, where a pattern needs more of it than the stack of compiled code gives.
constexpr uint32_t most_heap_kilobytes = 512 << 10;

/// Places to cut that are tried.
constexpr int most_tries = 4;

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

/// Whether a match may depend on what stands before the place where the search began; true in doubt.
bool looks_behind(const pcre2_code* code, const std::string& pattern) {
  uint32_t characters = 0;
  pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &characters);
  if (characters > 0 || pattern.find("(*") != std::string::npos) return true;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && ++i < pattern.size()) {
      if (std::string_view("AGKbB").find(pattern[i]) != std::string_view::npos) return true;
      if (pattern[i] == '[' && pattern.compare(i + 1, 1, "^") == 0) return true;
    } else if (pattern[i] == '^' && (i == 0 || pattern[i - 1] != '[')) {
      return true;  // the start of a line, not of a class of other characters
    }
  }
  return false;
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
  require(code != nullptr, "tokenizer: the pattern ", in_quotes(pattern),
          " is not a regular expression that PCRE2 can read: ", message_of(error));
  code_ = std::shared_ptr<void>(code, [](void* c) { pcre2_code_free(static_cast<pcre2_code*>(c)); });
  looks_behind_ = looks_behind(code, pattern);
  // Where it cannot, PCRE2 interprets.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE | (looks_behind_ ? 0 : PCRE2_JIT_PARTIAL_HARD));
  pcre2_match_context* limits = pcre2_match_context_create(nullptr);
  if (limits == nullptr) throw std::bad_alloc();
  limits_ = std::shared_ptr<void>(
      limits, [](void* c) { pcre2_match_context_free(static_cast<pcre2_match_context*>(c)); });
  pcre2_set_heap_limit(limits, most_heap_kilobytes);
}

void Regex::search(std::string_view text, bool partial, const std::function<void(Range)>& visit) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  auto* limits = static_cast<pcre2_match_context*>(limits_.get());
  const MatchData match(code);
  const uint32_t options = partial ? PCRE2_PARTIAL_HARD : 0;
  for (size_t at = 0; at <= text.size();) {
    const auto attempt = [&](uint32_t more) {
      return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at, options | more,
                         match.data, limits);
    };
    int count = attempt(0);
    // The interpreter takes its stack from the heap.
    if (count == PCRE2_ERROR_JIT_STACKLIMIT) count = attempt(PCRE2_NO_JIT);
    if (count == PCRE2_ERROR_NOMATCH || count == PCRE2_ERROR_PARTIAL) break;
    require(count >= 0, "encode: the pattern ", in_quotes(pattern_), " failed at byte ", at, ": ",
            message_of(count));
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match.data);
    if (range[1] > range[0]) visit({range[0], range[1]});
    at = range[1];
    if (range[1] <= range[0]) {  // an empty match: go on behind the next character
      ++at;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    }
  }
}

void Regex::for_each_match(std::string_view text, const std::function<void(Range)>& visit) const {
  search(text, false, visit);
}

size_t Regex::last_boundary(std::string_view text) const {
  if (looks_behind_) return 0;
  text.remove_suffix(utf8::unfinished_tail(text));  // for now it would be no character
  std::vector<Range> certain;
  search(text, true, [&](Range match) { certain.push_back(match); });
  // The last matches may be others where the text ends behind them.
  for (int tries = 0; tries < most_tries && !certain.empty(); ++tries, certain.pop_back()) {
    const size_t end = certain.back().end;
    size_t found = 0;
    bool same = true;
    search(text.substr(0, end), false, [&](Range match) {
      same = same && found < certain.size() && certain[found].begin == match.begin &&
             certain[found].end == match.end;
      ++found;
    });
    if (same && found == certain.size()) return end;
  }
  return 0;
}

}  // namespace cladtorch::data::bpe
