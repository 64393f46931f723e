#include "train/run/unknown_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cladtorch/train/suggest.h"
#include "train/run/foreign_keys.h"

namespace cladtorch::train {
namespace {

std::string_view section_of(std::string_view key) { return key.substr(0, key.find('.')); }
std::string_view name_of(std::string_view key) { return key.substr(key.rfind('.') + 1); }

/// Lower case, with an underscore where programs take either that or a hyphen.
std::string normalized(std::string_view key) {
  std::string text(key);
  for (char& c : text) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The keys of `section`, or the sections.
std::string choices(std::string_view section, const std::vector<std::string>& known) {
  std::vector<std::string> names, sections;
  for (const std::string& key : known) {
    if (section_of(key) == section) names.emplace_back(name_of(key));
    if (sections.empty() || sections.back() != section_of(key)) sections.emplace_back(section_of(key));
  }
  if (names.empty()) return "; the sections are " + enumeration(sections, "and");
  return fmt::format("; [{}] has {}", section, enumeration(names, "and"));
}

std::string describe(const ForeignKey& foreign) {
  if (foreign.key.empty()) return fmt::format(": {}", foreign.note);
  if (foreign.note.empty()) return fmt::format(" (did you mean '{}'?)", foreign.key);
  return fmt::format(" (did you mean '{}', {}?)", foreign.key, foreign.note);
}

const ForeignKey* find_foreign_key(std::string_view name) {
  const auto* const found = std::find_if(std::begin(foreign_keys), std::end(foreign_keys),
                                         [&](const ForeignKey& key) { return key.name == name; });
  return found == std::end(foreign_keys) ? nullptr : found;
}

/// The key that ends like `wanted`; of several the one whose section is close, or the first.
std::string namesake(const std::string& wanted, const std::vector<std::string>& known) {
  std::vector<std::string> namesakes;
  for (const std::string& key : known) {
    if (name_of(key) == name_of(wanted)) namesakes.push_back(key);
  }
  const std::string nearest = closest(wanted, namesakes);
  return nearest.empty() && !namesakes.empty() ? namesakes.front() : nearest;
}

}  // namespace

std::string meant_key(std::string_view name, const std::vector<std::string>& known) {
  const std::string wanted = normalized(name);
  if (const std::string found = namesake(wanted, known); !found.empty()) return found;
  const ForeignKey* foreign = find_foreign_key(name_of(wanted));
  return foreign == nullptr ? "" : std::string(foreign->key);
}

std::string unknown_key_hint(std::string_view key, const std::vector<std::string>& known) {
  const std::string wanted = normalized(key);
  if (const std::string found = namesake(wanted, known); !found.empty())
    return fmt::format(" (did you mean '{}'?)", found);
  if (const ForeignKey* foreign = find_foreign_key(name_of(wanted))) return describe(*foreign);
  if (std::string hint = suggestion(wanted, known); !hint.empty()) return hint;
  std::vector<std::string> foreign;
  for (const ForeignKey& each : foreign_keys) foreign.emplace_back(each.name);
  if (const std::string near = closest(name_of(wanted), foreign); !near.empty())
    return describe(*find_foreign_key(near));
  return choices(section_of(wanted), known);
}

}  // namespace cladtorch::train
