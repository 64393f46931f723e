#include "tests/docs/markdown.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

namespace cladtorch::docs {
namespace fs = std::filesystem;
namespace {

/// Code spans hold no links.
std::string without_code(const std::string& line) {
  return std::regex_replace(line, std::regex("`[^`]*`"), "");
}

/// Lower case, spaces as hyphens, no punctuation; a heading that repeats gets -1, -2.
std::string anchor(const std::string& heading, const std::vector<std::string>& earlier) {
  const std::string text = std::regex_replace(heading, std::regex(R"(\[([^\]]*)\]\([^)]*\))"), "$1");
  std::string id;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) || c == '-' || c == '_' || u >= 0x80) id += static_cast<char>(std::tolower(u));
    if (c == ' ') id += '-';
  }
  std::string unique = id;
  for (int n = 1; std::find(earlier.begin(), earlier.end(), unique) != earlier.end(); ++n)
    unique = id + "-" + std::to_string(n);
  return unique;
}

}  // namespace

Page read_page(const fs::path& path) {
  static const std::regex heading("#+ +(.*?) *"), link(R"(\]\(([^) ]+)\))");
  Page page;
  std::ifstream file(path);
  bool in_block = false, in_cpp = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("```")) {
      in_cpp = !in_block && line.starts_with("```cpp");
      in_block = !in_block;
      if (in_cpp) page.cpp.push_back({number + 1, {}});
    } else if (in_cpp) {
      page.cpp.back().lines.push_back(line);
    } else if (!in_block) {
      std::smatch match;
      if (std::regex_match(line, match, heading)) page.anchors.push_back(anchor(match[1], page.anchors));
      const std::string prose = without_code(line);
      for (std::sregex_iterator at(prose.begin(), prose.end(), link), end; at != end; ++at)
        page.links.push_back({number, (*at)[1]});
    }
  }
  return page;
}

std::vector<fs::path> pages(const fs::path& root) {
  std::vector<fs::path> found;
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"})
    if (fs::exists(root / name)) found.push_back(root / name);
  if (fs::exists(root / "docs"))
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs"))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace cladtorch::docs
