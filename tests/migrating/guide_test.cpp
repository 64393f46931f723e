// Every piece of C++, every key and every command of docs/migrating-from-pytorch.md exists, and what it calls
// missing does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cladtorch/train/config.h"
#include "io/temporary_folder.h"
#include "tests/integration/program.h"

namespace cladtorch {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string without_space(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); }),
             text.end());
  return text;
}

/// What is between backticks.
std::vector<std::string> code_spans(const std::string& text) {
  std::vector<std::string> spans;
  for (size_t open = text.find('`'); open != std::string::npos; open = text.find('`', open)) {
    const size_t close = text.find('`', open + 1);
    spans.push_back(text.substr(open + 1, close - open - 1));
    open = close + 1;
  }
  return spans;
}

/// The second cell of a row of a table.
std::string second_cell(const std::string& row) {
  std::vector<std::string> cells;
  bool in_code = false;
  for (const char c : row) {
    if (c == '`') in_code = !in_code;
    if (c == '|' && !in_code) {
      cells.emplace_back();
    } else if (!cells.empty()) {
      cells.back() += c;
    }
  }
  return cells.size() > 1 ? cells[1] : "";
}

/// The guide's code, by the heading of the column in which it stands; blocks of C++ count as "cladtorch".
std::multimap<std::string, std::string> guide() {
  std::multimap<std::string, std::string> code;
  std::istringstream lines(read(CLADTORCH_GUIDE));
  std::string line, heading, block;
  bool in_cpp = false, in_other = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("```")) {
      if (in_cpp) code.emplace("cladtorch", block);
      in_other = !in_cpp && !in_other && line != "```cpp";
      in_cpp = !in_cpp && line == "```cpp";
      block.clear();
    } else if (in_cpp) {
      block += line + "\n";
    } else if (!in_other && line.starts_with("|")) {
      const std::string cell = second_cell(line);
      if (cell == " cladtorch " || cell == " command " || cell == " key " || cell == " would be ") {
        heading = without_space(cell);
      } else {
        for (const std::string& span : code_spans(cell)) code.emplace(heading, span);
      }
    } else {
      heading.clear();
    }
  }
  return code;
}

/// The identifiers of the public headers, without those in comments.
std::set<std::string> public_identifiers() {
  const std::regex identifier("[A-Za-z_][A-Za-z_0-9]*");
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CLADTORCH_HEADERS)) {
    if (!entry.is_regular_file()) continue;
    std::istringstream lines(read(entry.path().string()));
    for (std::string line; std::getline(lines, line);) {
      const std::string code = line.substr(0, line.find("//"));
      for (std::sregex_iterator match(code.begin(), code.end(), identifier), end; match != end; ++match)
        found.insert(match->str());
    }
  }
  return found;
}

TEST(MigrationGuide, HasOnlyCodeThatIsCompiled) {
  const std::string source = without_space(read(CLADTORCH_SNIPPETS));
  const auto code = guide();
  const auto [begin, end] = code.equal_range("cladtorch");
  EXPECT_GT(std::distance(begin, end), 100);
  for (auto piece = begin; piece != end; ++piece)
    EXPECT_NE(source.find(without_space(piece->second)), std::string::npos) << piece->second;
}

TEST(MigrationGuide, HasOnlyKeysThatExist) {
  train::TrainConfig config;
  std::set<std::string> known;
  for (const train::ConfigField& field : train::config_fields(config)) known.insert(field.key);
  const auto code = guide();
  const auto [begin, end] = code.equal_range("key");
  EXPECT_GT(std::distance(begin, end), 20);
  for (auto key = begin; key != end; ++key) {
    const size_t value = key->second.find(" = ");
    EXPECT_TRUE(known.contains(key->second.substr(0, value))) << key->second;
    if (value != std::string::npos) {
      std::string assignment = key->second.substr(0, value) + "=" + key->second.substr(value + 3);
      assignment.erase(std::remove(assignment.begin(), assignment.end(), '"'), assignment.end());
      EXPECT_NO_THROW(train::set_config(config, assignment)) << key->second;
      EXPECT_NO_THROW(train::check_config(config)) << key->second;
    }
  }
}

TEST(MigrationGuide, HasOnlyCommandsThatTheProgramTakes) {
  const io::TemporaryFolder folder;
  const auto code = guide();
  const auto [begin, end] = code.equal_range("command");
  EXPECT_GT(std::distance(begin, end), 5);
  for (auto command = begin; command != end; ++command) {
    std::istringstream words(command->second);
    std::vector<std::string> arguments;
    std::string help;
    for (std::string word; words >> word;) {
      if (word.starts_with("--")) {
        if (help.empty()) {
          arguments.push_back("--help");
          const integration::Outcome outcome = integration::run(arguments, {.folder = folder.path()});
          EXPECT_EQ(outcome.code, 0) << command->second;
          help = outcome.out;
        }
        EXPECT_TRUE(std::regex_search(help, std::regex("\n  " + word + "[ ,]")))
            << word << " in " << command->second;
      } else if (help.empty() && word != "cladtorch") {
        arguments.push_back(word);
      }
    }
    EXPECT_FALSE(help.empty()) << command->second;
  }
}

TEST(MigrationGuide, CallsMissingOnlyWhatNoPublicHeaderNames) {
  const std::set<std::string> declared = public_identifiers();
  for (const char* name : {"matmul", "AdamW", "causal_attention", "Loader", "load_model"})
    EXPECT_TRUE(declared.contains(name)) << name;
  const auto code = guide();
  const auto [begin, end] = code.equal_range("wouldbe");
  EXPECT_GT(std::distance(begin, end), 50);
  for (auto missing = begin; missing != end; ++missing)
    EXPECT_FALSE(declared.contains(missing->second))
        << missing->second << " exists: take it out of the list, and add it to the tables above";
}

}  // namespace
}  // namespace cladtorch
