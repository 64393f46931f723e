// The parts of a page that the tests of the documentation look at.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cladtorch::docs {

struct CodeBlock {
  int line;  ///< of the page, counted from 1, of the first line of code
  std::vector<std::string> lines;
};

struct Link {
  int line;
  std::string target;  ///< as written: file, file#anchor, #anchor or a URL
};

struct Page {
  std::vector<CodeBlock> cpp;
  std::vector<Link> links;
  std::vector<std::string> anchors;  ///< those that the headings get, as GitHub and Doxygen form them
};

Page read_page(const std::filesystem::path& path);

/// README.md, CONTRIBUTING.md, CHANGELOG.md and docs/, of those that exist under `root`.
std::vector<std::filesystem::path> pages(const std::filesystem::path& root);

}  // namespace cladtorch::docs
