// Every ```cpp block of the pages is real: what has an #include is compiled (CMakeLists.txt), and the lines
// of anything else stand in this order in one source file of the project.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "io/temporary_folder.h"
#include "tests/docs/markdown.h"

namespace cladtorch::docs {
namespace {

namespace fs = std::filesystem;

/// A line without white space, trailing comment and the backslash that continues a directive.
std::string squeezed(std::string line) {
  line.erase(std::min(line.find("//"), line.size()));
  line.erase(std::remove_if(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c); }),
             line.end());
  if (line.ends_with('\\')) line.pop_back();
  return line;
}

/// The code of a file without white space and comments, and where its lines begin. A page may break lines
/// elsewhere.
struct Source {
  std::string code;
  std::set<size_t> starts;

  explicit Source(std::istream&& file) {
    for (std::string line; std::getline(file, line);) {
      starts.insert(code.size());
      code += squeezed(line);
    }
  }

  /// How many of the lines follow each other here, each at the start of a line or right behind the one
  /// before.
  size_t follow(const std::vector<std::string>& lines) const {
    size_t end = 0, count = 0;
    for (const std::string& line : lines) {
      const size_t earliest = end;
      size_t at = code.find(line, earliest);
      while (at != std::string::npos && !starts.contains(at) && !(count > 0 && at == earliest))
        at = code.find(line, at + 1);
      if (at == std::string::npos) break;
      end = at + line.size();
      ++count;
    }
    return count;
  }
};

/// What the build compiles or a test compares.
std::map<fs::path, Source> sources(const fs::path& root) {
  std::map<fs::path, Source> found;
  for (const char* folder : {"apps", "bench", "clad", "data", "docs/generated", "examples", "formats",
                             "include", "models", "src", "tests", "train"}) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      static const std::set<std::string> kinds = {".h", ".cpp", ".cu", ".cuh", ".expected"};
      const fs::path& path = entry.path();
      if (kinds.contains(path.extension().string()) || path.parent_path().filename() == "generated")
        found.emplace(path, Source(std::ifstream(path)));
    }
  }
  return found;
}

/// What is wrong with the excerpts of a page, one line each.
std::string faults(const fs::path& page, const std::map<fs::path, Source>& sources) {
  std::ostringstream out;
  for (const CodeBlock& block : read_page(page).cpp) {
    std::vector<std::string> lines;
    std::vector<size_t> numbers;
    bool whole = false, is_private = false;
    for (size_t i = 0; i < block.lines.size(); ++i) {
      const std::string code = squeezed(block.lines[i]);
      whole = whole || code.starts_with("#include");
      is_private = is_private || (code.starts_with("#include\"") && !code.starts_with("#include\"clad"));
      if (code.find_first_not_of("{}.") == std::string::npos) continue;
      lines.push_back(code);
      numbers.push_back(i);
    }
    if ((whole && !is_private) || lines.empty()) continue;
    size_t most = 0;
    fs::path nearest;
    for (const auto& [path, source] : sources) {
      const size_t count = source.follow(lines);
      if (count > most) most = count, nearest = path;
      if (most == lines.size()) break;
    }
    if (most == lines.size()) continue;
    out << page.filename().string() << ":" << block.line + numbers[most] << ": ";
    out << (nearest.empty() ? "no source file has the line: "
                            : nearest.string() + " has the lines above, but not: ");
    out << block.lines[numbers[most]] << "\n";
  }
  return out.str();
}

TEST(Snippets, AreExcerptsOfCompiledCode) {
  const auto code = sources(CLADTORCH_ROOT);
  for (const fs::path& page : pages(CLADTORCH_ROOT)) {
    const std::string found = faults(page, code);
    EXPECT_TRUE(found.empty()) << found;
  }
}

class Excerpt : public ::testing::Test {
 protected:
  std::string check(const std::string& excerpt) {
    const fs::path page = folder_.write("docs/page.md", "# Page\n\n```cpp\n" + excerpt + "```\n");
    folder_.write(
        "src/f.cpp",
        "double f(double x) {\n  const double y = x *\n      x;  // a square\n  return 2 * y;\n}\n");
    return faults(page, sources(folder_.path()));
  }
  io::TemporaryFolder folder_;
};

TEST_F(Excerpt, MayLeaveOutLinesAndBreakOthersElsewhere) {
  EXPECT_EQ(check("double f(double x) {\n  const double y =\n      x * x;  // here\n  return 2 * y;\n}\n"),
            "");
  EXPECT_EQ(check("double f(double x) {\n  ...\n  return 2 * y;\n}\n"), "");
}

TEST_F(Excerpt, IsNamedWithItsFirstLineThatNoSourceHas) {
  EXPECT_EQ(check("double g(double x);\n"), "page.md:4: no source file has the line: double g(double x);\n");
  EXPECT_EQ(
      check("double f(double x) {\n  return 3 * y;\n}\n"),
      "page.md:5: " + (folder_ / "src/f.cpp").string() + " has the lines above, but not:   return 3 * y;\n");
}

TEST_F(Excerpt, KeepsTheOrderAndBeginsWhereALineDoes) {
  EXPECT_NE(check("return 2 * y;\ndouble f(double x) {\n"), "");
  EXPECT_NE(check("y = x * x;\n"), "");
}

TEST_F(Excerpt, IsLeftToTheCompilerWhenItIncludesPublicHeadersAlone) {
  EXPECT_EQ(check("#include <cmath>\n#include \"cladtorch/cladtorch.h\"\ndouble g(double x);\n"), "");
  EXPECT_NE(check("#include <cmath>\n#include \"own.h\"\ndouble g(double x);\n"), "");
}

}  // namespace
}  // namespace cladtorch::docs
