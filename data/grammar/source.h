// The notation of grammars, read into rules that still have variables. See docs/data.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::data::grammar {

/// How the first word of a rule is changed where the rule is used.
enum class Lead : uint8_t { none, article, capital_article, capital };

/// One part of an alternative.
struct Item {
  enum class Kind : uint8_t { text, rule, field, bind } kind = Kind::text;
  std::string name;        // the text, the rule, or the table
  uint32_t column = 0;     // field
  Lead lead = Lead::none;  // rule
};

struct Alternative {
  uint32_t weight = 1;
  std::vector<Item> items;
};

struct Rule {
  int line = 0;
  std::vector<Alternative> alternatives;
};

/// Rows of fields; a variable of this name is bound to one row, all rows being equally likely.
struct Table {
  int line = 0;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Source {
  std::map<std::string, Rule, std::less<>> rules;
  std::map<std::string, Table, std::less<>> tables;
};

/// Throws Error naming the line that cannot be read.
Source read_source(std::string_view text);

/// `word` with the article or capital that `lead` asks for.
std::string apply_lead(Lead lead, std::string word);

}  // namespace cladtorch::data::grammar
