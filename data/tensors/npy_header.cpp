#include "data/tensors/npy_header.h"

#include <algorithm>
#include <charconv>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"

namespace cladtorch::data {
namespace {

/// Reads the literal of a Python dict, such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), text_(text), rest_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    std::vector<std::string> keys;
    expect('{');
    while (!take('}')) {
      keys.push_back(string());
      expect(':');
      if (keys.back() == "descr") {
        header.type = description();
      } else if (keys.back() == "fortran_order") {
        header.fortran_order = boolean();
      } else if (keys.back() == "shape") {
        header.shape = tuple();
      } else {
        fail_here();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    std::sort(keys.begin(), keys.end());
    skip_space();
    if (keys != std::vector<std::string>{"descr", "fortran_order", "shape"} || !rest_.empty()) fail_here();
    return header;
  }

 private:
  [[noreturn]] void fail_here() const {
    fail(name_, " has a header that NumPy does not write: ", in_quotes(text_));
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(std::string_view text) {
    skip_space();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  void expect(char c) {
    if (!take(c)) fail_here();
  }

  std::string string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect(quote);
    const size_t end = rest_.find(quote);
    if (end == std::string_view::npos) fail_here();
    std::string value(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return value;
  }
  std::string description() {
    if (take('[')) fail(name_, " is a structured array, which is not read; save its fields one by one");
    return string();
  }
  bool boolean() {
    if (take("True")) return true;
    if (!take("False")) fail_here();
    return false;
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!take(')')) {
      skip_space();
      int64_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc() || value < 0) fail_here();
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      take('L');  // Python 2
      values.push_back(value);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  const std::string& name_;
  std::string_view text_, rest_;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& name, std::string_view text) {
  return HeaderParser(name, text).parse();
}

}  // namespace cladtorch::data
