#include "data/grammar/source.h"

#include <cctype>
#include <utility>

#include "cladtorch/error.h"

namespace cladtorch::data::grammar {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trim(std::string_view s) {
  const size_t first = s.find_first_not_of(blanks);
  return first == std::string_view::npos ? s.substr(0, 0)
                                         : s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view s, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = s.find_first_of(separators);
    if (const std::string_view part = trim(s.substr(0, end)); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    s.remove_prefix(end + 1);
  }
}

class Reader {
 public:
  Source read(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      ++line_;
      read_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    flush();
    return std::move(source_);
  }

 private:
  enum class Block { none, table, words, rule };

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("grammar: line " + std::to_string(line_) + ": " + what);
  }

  void read_line(std::string_view line) {
    const bool indented = !line.empty() && blanks.find(line.front()) != std::string_view::npos;
    const std::string_view body = trim(line);
    if (body.empty() || body.front() == '#') return;
    if (!indented) return begin(body);
    switch (block_) {
      case Block::none:
        fail("expected 'table', 'words' or 'rule' before an indented line");
      case Block::table:
        return add_row(body);
      case Block::words:
        for (std::string_view word : split(body, blanks)) {
          rule_->alternatives.push_back({1, {Item{Item::Kind::text, std::string(word)}}});
        }
        return;
      case Block::rule:
        if (body.starts_with("+ ")) {
          if (pending_.empty()) fail("'+' continues an alternative, but none is open");
          pending_ += ' ' + std::string(trim(body.substr(2)));
        } else {
          flush();
          pending_ = body;
        }
    }
  }

  void begin(std::string_view head) {
    flush();
    const std::vector<std::string_view> words = split(head, blanks);
    if (words.size() < 2)
      fail("expected 'table', 'words' or 'rule' and a name, got '" + std::string(head) + "'");
    const std::string name(words[1]);
    if (source_.rules.contains(name) || source_.tables.contains(name))
      fail("'" + name + "' is defined twice");
    if (words[0] == "table") {
      block_ = Block::table;
      table_ = &source_.tables[name];
      *table_ = {line_, {words.begin() + 2, words.end()}, {}};
    } else if (words[0] == "words" || words[0] == "rule") {
      block_ = words[0] == "words" ? Block::words : Block::rule;
      rule_ = &source_.rules[name];
      rule_->line = line_;
    } else {
      fail("expected 'table', 'words' or 'rule', got '" + std::string(words[0]) + "'");
    }
  }

  void add_row(std::string_view body) {
    const std::vector<std::string_view> fields = split(body, "|");
    if (fields.size() != table_->columns.size()) {
      fail("expected " + std::to_string(table_->columns.size()) + " fields, got " +
           std::to_string(fields.size()));
    }
    table_->rows.emplace_back(fields.begin(), fields.end());
  }

  /// Adds the alternative that is complete now that another line begins.
  void flush() {
    if (pending_.empty()) return;
    std::string_view body = pending_;
    Alternative alternative;
    size_t digits = 0;
    while (digits < body.size() && std::isdigit(static_cast<unsigned char>(body[digits]))) ++digits;
    if (digits > 0 && digits < 7 && body.substr(digits).starts_with(": ")) {
      alternative.weight = static_cast<uint32_t>(std::stoul(std::string(body.substr(0, digits))));
      if (alternative.weight == 0) fail("a weight must be at least 1");
      body = trim(body.substr(digits + 2));
    }
    alternative.items = read_items(body);
    rule_->alternatives.push_back(std::move(alternative));
    pending_.clear();
  }

  std::vector<Item> read_items(std::string_view body) {
    std::vector<Item> items;
    std::string text;
    const auto flush_text = [&] {
      if (!text.empty()) items.push_back({Item::Kind::text, std::exchange(text, {})});
    };
    for (size_t i = 0; i < body.size(); ++i) {
      const char c = body[i];
      if (body.substr(i, 2) == "\\n") {
        text += '\n';
        ++i;
      } else if (const size_t open = std::string_view("<{[(").find(c); open != std::string_view::npos) {
        const size_t end = body.find(">}])"[open], i);
        if (end == std::string_view::npos) fail("'" + std::string(1, c) + "' is not closed");
        flush_text();
        items.push_back(read_reference(c, body.substr(i + 1, end - i - 1)));
        i = end;
      } else {
        text += c;
      }
    }
    flush_text();
    return items;
  }

  Item read_reference(char open, std::string_view inside) {
    if (open == '(') return inline_choice(inside);
    if (open == '[') return {Item::Kind::bind, std::string(inside)};
    if (open == '{') {
      const size_t dot = inside.find('.');
      const auto table = source_.tables.find(inside.substr(0, dot));
      if (dot == std::string_view::npos || table == source_.tables.end()) {
        fail("expected {table.column} of a table above, got '{" + std::string(inside) + "}'");
      }
      for (uint32_t column = 0; column < table->second.columns.size(); ++column) {
        if (table->second.columns[column] == inside.substr(dot + 1))
          return {Item::Kind::field, table->first, column};
      }
      fail("table '" + table->first + "' has no column '" + std::string(inside.substr(dot + 1)) + "'");
    }
    Item item{Item::Kind::rule, std::string(inside)};
    for (auto [mark, lead] :
         {std::pair{"a ", Lead::article}, {"A ", Lead::capital_article}, {"^", Lead::capital}}) {
      if (inside.starts_with(mark)) {
        item.name = inside.substr(std::string_view(mark).size());
        item.lead = lead;
      }
    }
    return item;
  }

  /// "(a/b/c)" becomes a rule without a name that a source could use.
  Item inline_choice(std::string_view inside) {
    const std::string name = "(" + std::string(inside) + ")";
    Rule rule{line_, {}};
    for (std::string_view option : split(inside, "/")) {
      rule.alternatives.push_back({1, {Item{Item::Kind::text, std::string(option)}}});
    }
    if (rule.alternatives.size() < 2) fail("expected (one/or/the other), got '" + name + "'");
    source_.rules.emplace(name, std::move(rule));
    return {Item::Kind::rule, name};
  }

  Source source_;
  int line_ = 0;
  Block block_ = Block::none;
  Table* table_ = nullptr;
  Rule* rule_ = nullptr;
  std::string pending_;
};

}  // namespace

Source read_source(std::string_view text) { return Reader().read(text); }

std::string apply_lead(Lead lead, std::string word) {
  if (lead == Lead::article || lead == Lead::capital_article) {
    const bool vowel =
        !word.empty() && std::string_view("aeiouAEIOU").find(word[0]) != std::string_view::npos;
    word = (vowel ? "an " : "a ") + word;
  }
  if ((lead == Lead::capital || lead == Lead::capital_article) && !word.empty()) {
    word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  }
  return word;
}

}  // namespace cladtorch::data::grammar
