#include "cladtorch/data/hellaswag.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cladtorch/data/text_files.h"
#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "data/hellaswag/prompt.h"
#include "data/text/chunks.h"

namespace cladtorch::data {
namespace {

using nlohmann::json;

const std::string& text_of(const json& value, const std::string& name) {
  require(value.is_string(), "the value of ", name, " is of type ", value.type_name(), ", expected a string");
  return value.get_ref<const std::string&>();
}

/// The text of `key`, or `absent` where there is none.
std::string text_or(const json& object, const std::string& key, const std::string& absent) {
  const auto found = object.find(key);
  return found == object.end() ? absent : text_of(*found, "'" + key + "'");
}

std::string joined(const std::string& a, const std::string& b) { return b.empty() ? a : a + " " + b; }

std::string context_of(const json& line, HellaSwagStyle style) {
  const bool parts = line.contains("ctx_a");
  require(parts || line.contains("ctx"), "there is neither a key 'ctx' nor 'ctx_a'");
  const std::string a = text_or(line, "ctx_a", ""), b = text_or(line, "ctx_b", "");
  if (style == HellaSwagStyle::llmc) return text_or(line, "ctx", joined(a, b));
  const std::string activity = text_or(line, "activity_label", "");
  const std::string context = parts ? joined(a, hellaswag::capitalized(b)) : text_or(line, "ctx", "");
  return hellaswag::cleaned(activity.empty() ? context : activity + ": " + context);
}

std::vector<std::string> endings_of(const json& line, HellaSwagStyle style) {
  const auto found = line.find("endings");
  require(found != line.end(), "there is no key 'endings'");
  require(found->is_array() && found->size() >= 2, "'endings' is not a list of at least two");
  std::vector<std::string> endings;
  for (const json& value : *found) {
    const std::string& ending = text_of(value, "'endings'");
    endings.push_back(style == HellaSwagStyle::harness ? hellaswag::cleaned(ending) : ending);
    require(!endings.back().empty(), "ending ", endings.size() - 1, " is empty");
  }
  return endings;
}

size_t answer_of(const json& line, size_t endings) {
  const auto found = line.find("label");
  // The test set is published with labels that are empty or absent.
  require(found != line.end() && *found != "",
          "there is no 'label', so nothing to compare with; the validation set has labels");
  const bool simple = found->is_string() || found->is_number_integer();
  const std::string text = found->is_string() ? found->get<std::string>() : simple ? found->dump() : "";
  for (size_t answer = 0; answer < endings; ++answer) {
    if (text == std::to_string(answer)) return answer;
  }
  fail("'label' is ", simple ? in_quotes(text) : found->type_name(), ", expected a whole number from 0 to ",
       endings - 1);
}

ChoiceQuestion parse(std::string_view text, HellaSwagStyle style) {
  const json line = json::parse(text.begin(), text.end(), nullptr, false);
  require(!line.is_discarded(), "this is not JSON");
  require(line.is_object(), "expected a JSON object, found ", line.type_name());
  ChoiceQuestion question{.context = context_of(line, style), .endings = endings_of(line, style)};
  question.answer = answer_of(line, question.endings.size());
  return question;
}

}  // namespace

HellaSwagStyle hellaswag_style(const std::string& name) {
  if (name == "harness") return HellaSwagStyle::harness;
  if (name == "llmc") return HellaSwagStyle::llmc;
  fail("the style of HellaSwag is ", in_quotes(name), ", expected harness or llmc");
}

std::vector<ChoiceQuestion> read_hellaswag(const std::filesystem::path& path, HellaSwagStyle style,
                                           int64_t limit) {
  require(!std::filesystem::is_directory(path), "read HellaSwag: '", path.string(),
          "' is a folder, expected one file such as hellaswag_val.jsonl");
  const TextFiles files(path, {.field = "ctx"});  // JSON Lines whatever the file's name
  ChunkReader reader(files, size_t{1} << 20, {});
  std::vector<ChoiceQuestion> questions;
  while (const std::optional<Chunk> chunk = reader.next()) {
    uint64_t number = chunk->line;
    for (size_t at = 0; at < chunk->text.size(); ++number) {
      const size_t end = std::min(chunk->text.find('\n', at), chunk->text.size());
      const std::string_view line = std::string_view(chunk->text).substr(at, end - at);
      at = end + 1;
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (std::cmp_equal(questions.size(), limit)) return questions;
      try {
        questions.push_back(parse(line, style));
      } catch (const Error& error) {
        fail("read HellaSwag: '", path.string(), "', line ", number, ": ", error.what());
      }
      questions.back().line = number;
    }
  }
  require(!questions.empty(), "read HellaSwag: '", path.string(), "' holds no examples");
  return questions;
}

}  // namespace cladtorch::data
