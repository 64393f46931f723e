// From rules with variables to plain rules: every rule is copied for each value of the variables that it
// reads.
#include <map>
#include <set>
#include <utility>

#include "cladtorch/data/grammar.h"
#include "cladtorch/error.h"
#include "data/grammar/source.h"

namespace cladtorch::data {
namespace {

using grammar::Alternative;
using grammar::Item;
using grammar::Lead;
using grammar::Rule;
using grammar::Source;
using grammar::Table;

using Bindings = std::map<std::string, uint32_t>;  // table -> row
using Node = Grammar::Node;

class Compiler {
 public:
  Compiler(const Source& source, std::vector<Node>& nodes) : source_(source), nodes_(nodes) {}

  uint32_t rule(const std::string& name, const Bindings& bindings, Lead lead) {
    const Rule& rule = find(name);
    Bindings used;
    for (const std::string& table : free_tables(name)) {
      const auto bound = bindings.find(table);
      if (bound == bindings.end())
        fail(rule.line, "rule '" + name + "' uses {" + table + "} where it is not bound");
      used.insert(*bound);
    }
    const auto key = std::tuple(name, used, lead);
    if (const auto known = compiled_.find(key); known != compiled_.end()) return known->second;

    Node choice{Node::Kind::choice, {}, {}, {}, 0};
    for (const Alternative& alternative : rule.alternatives) {
      choice.children.push_back(items(alternative.items, 0, used, lead, rule.line));
      choice.weights.push_back(alternative.weight);
    }
    const uint32_t id = choice.children.size() == 1 ? choice.children[0] : add_choice(std::move(choice));
    compiled_.emplace(key, id);
    return id;
  }

 private:
  [[noreturn]] static void fail(int line, const std::string& what) {
    throw Error("grammar: line " + std::to_string(line) + ": " + what);
  }

  const Rule& find(const std::string& name) const {
    const auto rule = source_.rules.find(name);
    if (rule == source_.rules.end()) throw Error("grammar: there is no rule '" + name + "'");
    if (rule->second.alternatives.empty()) fail(rule->second.line, "rule '" + name + "' has no alternatives");
    return rule->second;
  }

  /// The tables that a rule reads and does not bind itself.
  const std::set<std::string>& free_tables(const std::string& name) {
    if (const auto known = free_.find(name); known != free_.end()) return known->second;
    const Rule& rule = find(name);
    if (!visiting_.insert(name).second)
      fail(rule.line, "rule '" + name + "' uses itself; texts must be finite");
    std::set<std::string> result;
    for (const Alternative& alternative : rule.alternatives) {
      std::set<std::string> bound;
      for (const Item& item : alternative.items) {
        if (item.kind == Item::Kind::bind) bound.insert(item.name);
        std::set<std::string> read;
        if (item.kind == Item::Kind::rule) read = free_tables(item.name);
        if (item.kind == Item::Kind::field) read = {item.name};
        for (const std::string& table : read) {
          if (!bound.contains(table)) result.insert(table);
        }
      }
    }
    visiting_.erase(name);
    return free_.emplace(name, std::move(result)).first->second;
  }

  /// The sequence of items from `first` on. What follows a binding is one alternative per row of its table.
  uint32_t items(const std::vector<Item>& list, size_t first, const Bindings& bindings, Lead lead, int line) {
    Node sequence{Node::Kind::sequence, {}, {}, {}, 0};
    std::string text;
    const auto flush = [&] {
      if (!text.empty()) sequence.children.push_back(add_text(std::exchange(text, {})));
    };
    for (size_t i = first; i < list.size(); ++i) {
      const Item& item = list[i];
      if (item.kind == Item::Kind::bind) {
        flush();
        sequence.children.push_back(binding(list, i, bindings, lead, line));
        break;
      }
      if (item.kind == Item::Kind::rule) {
        flush();
        if (lead != Lead::none && item.lead != Lead::none)
          fail(line, "'" + item.name + "' gets two articles");
        sequence.children.push_back(rule(item.name, bindings, lead == Lead::none ? item.lead : lead));
      } else {
        const std::string& word = item.kind == Item::Kind::text ? item.name : field(item, bindings, line);
        text += apply_lead(lead, word);
      }
      lead = Lead::none;
    }
    flush();
    if (sequence.children.empty()) return add_text("");
    return sequence.children.size() == 1 ? sequence.children[0] : add(std::move(sequence));
  }

  uint32_t binding(const std::vector<Item>& list, size_t at, const Bindings& bindings, Lead lead, int line) {
    const auto table = source_.tables.find(list[at].name);
    if (table == source_.tables.end()) fail(line, "there is no table '" + list[at].name + "'");
    if (table->second.rows.empty()) fail(table->second.line, "table '" + table->first + "' has no rows");
    if (bindings.contains(table->first)) fail(line, "[" + table->first + "] is bound twice");
    Node choice{Node::Kind::choice, {}, {}, {}, 0};
    for (uint32_t row = 0; row < table->second.rows.size(); ++row) {
      Bindings inner = bindings;
      inner[table->first] = row;
      choice.children.push_back(items(list, at + 1, inner, lead, line));
      choice.weights.push_back(1);
    }
    return choice.children.size() == 1 ? choice.children[0] : add_choice(std::move(choice));
  }

  const std::string& field(const Item& item, const Bindings& bindings, int line) const {
    const auto bound = bindings.find(item.name);
    if (bound == bindings.end()) fail(line, "{" + item.name + "} is read before [" + item.name + "]");
    return source_.tables.at(item.name).rows[bound->second][item.column];
  }

  uint32_t add_text(std::string text) {
    const auto [place, fresh] = texts_.try_emplace(text, 0);
    if (fresh) place->second = add({Node::Kind::text, std::move(text), {}, {}, 0});
    return place->second;
  }

  uint32_t add_choice(Node choice) {
    for (uint32_t weight : choice.weights) choice.total_weight += weight;
    return add(std::move(choice));
  }

  uint32_t add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  const Source& source_;
  std::vector<Node>& nodes_;
  std::map<std::tuple<std::string, Bindings, Lead>, uint32_t> compiled_;
  std::map<std::string, std::set<std::string>> free_;
  std::set<std::string> visiting_;
  std::map<std::string, uint32_t> texts_;
};

}  // namespace

Grammar::Grammar(std::string_view source, std::string_view start) {
  const Source rules = grammar::read_source(source);
  root_ = Compiler(rules, nodes_).rule(std::string(start), {}, Lead::none);
}

}  // namespace cladtorch::data
