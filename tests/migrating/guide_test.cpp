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

/// The cells of a row of a table.
std::vector<std::string> cells_of(const std::string& row) {
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
  cells.resize(std::max<size_t>(cells.size(), 2));
  return cells;
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
      const std::string cell = cells_of(line)[1];
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
  std::string source;
  for (const auto& entry : std::filesystem::directory_iterator(CLADTORCH_SNIPPETS))
    source += without_space(read(entry.path().string()));
  const auto code = guide();
  const auto [begin, end] = code.equal_range("cladtorch");
  EXPECT_GT(std::distance(begin, end), 100);
  for (auto piece = begin; piece != end; ++piece)
    EXPECT_NE(source.find(without_space(piece->second)), std::string::npos) << piece->second;
}

/// names.txt has the 200 names of PyTorch that are used most, with their modules.
TEST(MigrationGuide, AnswersTheNamesThatAreUsedMost) {
  std::string asked;
  std::istringstream lines(read(CLADTORCH_GUIDE));
  for (std::string line; std::getline(lines, line) && line != "## What is missing";)
    if (line.starts_with("|")) asked += cells_of(line)[0];
  std::istringstream names(read(CLADTORCH_NAMES));
  int count = 0;
  std::vector<std::string> missing;
  for (std::string name; names >> name; ++count)
    if (!std::regex_search(asked, std::regex("\\b" + name.substr(name.rfind('.') + 1) + "\\b")))
      missing.push_back(name);
  EXPECT_EQ(count, 200);
  EXPECT_EQ(missing.size(), 0u) << ::testing::PrintToString(missing);
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

/// The names in the first column of the table of keys, each with the keys beside it.
std::vector<std::pair<std::string, std::vector<std::string>>> foreign_names() {
  const std::regex name("([a-z_0-9]+)(=.*)?"), argument(".*\\(([a-z_0-9]+)=.*");
  std::vector<std::pair<std::string, std::vector<std::string>>> names;
  std::istringstream lines(read(CLADTORCH_GUIDE));
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line);
    in_table = line.starts_with("|") && (in_table || cells[1] == " key ");
    if (!in_table) continue;
    const std::vector<std::string> spans = code_spans(cells[0]), keys = code_spans(cells[1]);
    for (size_t i = 0; i < spans.size(); ++i) {
      std::smatch match;
      if (!std::regex_match(spans[i], match, name) && !std::regex_match(spans[i], match, argument)) continue;
      names.emplace_back(match[1], spans.size() == keys.size() ? std::vector{keys[i]} : keys);
    }
  }
  return names;
}

TEST(MigrationGuide, NamesWhatTheProgramAnswersWithTheSameKeys) {
  const io::TemporaryFolder folder;
  const auto names = foreign_names();
  EXPECT_GT(names.size(), 25u);
  for (const auto& [name, keys] : names) {
    const integration::Outcome outcome =
        integration::run({"train", "--set", name + "=1"}, {.folder = folder.path()});
    EXPECT_EQ(outcome.code, 2) << name;
    const bool answered = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      return outcome.err.find("(did you mean '" + key.substr(0, key.find(' ')) + "'") != std::string::npos;
    });
    EXPECT_TRUE(answered ||
                (keys.empty() && outcome.err.find("unknown key '" + name + "': ") != std::string::npos))
        << name << ": " << outcome.err;
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
  EXPECT_GT(std::distance(begin, end), 25);
  for (auto missing = begin; missing != end; ++missing)
    EXPECT_FALSE(declared.contains(missing->second))
        << missing->second << " exists: take it out of the list, and add it to the tables above";
}

}  // namespace
}  // namespace cladtorch
