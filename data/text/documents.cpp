#include "data/text/documents.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"
#include "data/text/utf8.h"

namespace cladtorch::data {
namespace {

using nlohmann::json;

/// A segment that owns its text, before it is known whether the rest of its line is good.
struct Part {
  std::string text;
  bool ignored = false;
  bool ends_turn = false;
};

/// The text of `key`, moved out: it may be most of the memory there is.
std::string take_text(json& object, const std::string& key, const std::string& advice = {}) {
  const auto found = object.find(key);
  if (found == object.end()) fail("there is no key ", in_quotes(key), advice);
  if (!found->is_string())
    fail("the value of ", in_quotes(key), " is of type ", found->type_name(), ", expected a string");
  return std::move(found->get_ref<std::string&>());
}

/// The template: "<|role|>\n", the content and a newline per message; what the assistant says is learned.
std::vector<Part> read_messages(json& messages) {
  require(messages.is_array() && !messages.empty(), "'messages' must be a list of objects");
  std::vector<Part> parts;
  bool answered = false;
  for (json& message : messages) {
    require(message.is_object(), "'messages' must be a list of objects");
    const std::string role = take_text(message, "role"), content = take_text(message, "content");
    const bool answer = role == "assistant";
    const std::string head = "<|" + role + "|>\n";
    // The newline after an answer belongs to the next prompt: the answer ends with its end of text.
    parts.push_back({(parts.empty() ? "" : "\n") + head + (answer ? "" : content), true});
    if (answer) parts.push_back({content, false, true});
    answered = answered || answer;
  }
  require(answered, "no message has the role 'assistant', so there is nothing to learn");
  return parts;
}

std::vector<Part> read_line(json& line, const std::string& field) {
  require(line.is_object(), "expected a JSON object, found ", line.type_name());
  std::vector<Part> parts;  // a list in braces would be copied
  if (!field.empty()) {
    parts.push_back({take_text(line, field)});
    return parts;
  }
  if (const auto messages = line.find("messages"); messages != line.end()) return read_messages(*messages);
  if (line.contains("prompt") && line.contains("completion")) {
    parts.push_back({take_text(line, "prompt"), true});
    parts.push_back({take_text(line, "completion"), false, true});
    return parts;
  }
  parts.push_back({take_text(line, "text", "; 'cladtorch data prepare' takes another one with --field")});
  return parts;
}

/// Merges neighbours of one kind and drops empty ones, so that the text does not depend on how it was cut.
std::vector<Part> joined(std::vector<Part> parts) {
  std::vector<Part> result;
  for (Part& part : parts) {
    if (!result.empty() && result.back().ignored == part.ignored && !result.back().ends_turn) {
      result.back().text += part.text;
      result.back().ends_turn = part.ends_turn;
    } else if (!part.text.empty() || part.ends_turn) {
      result.push_back(std::move(part));
    }
  }
  return result;
}

std::vector<Part> parse_line(std::string_view text, const std::string& field) {
  json line = json::parse(text.begin(), text.end(), nullptr, false);
  require(!line.is_discarded(), "this is not JSON");
  return joined(read_line(line, field));
}

void visit_parts(const std::vector<Part>& parts, const std::function<void(const Segment&)>& visit) {
  for (size_t i = 0; i < parts.size(); ++i) {
    visit({.text = parts[i].text,
           .ignored = parts[i].ignored,
           .begins_document = i == 0,
           .ends_document = i + 1 == parts.size(),
           .ends_turn = parts[i].ends_turn});
  }
}

std::string where(const TextFiles& files, const Chunk& chunk, uint64_t line) {
  return "read text: '" + files.paths()[chunk.file].string() + "', line " + std::to_string(line) + ": ";
}

uint64_t read_lines(const TextFiles& files, const Chunk& chunk,
                    const std::function<void(const Segment&)>& visit) {
  uint64_t skipped = 0, number = chunk.line;
  for (size_t at = 0; at < chunk.text.size(); ++number) {
    const size_t end = std::min(chunk.text.find('\n', at), chunk.text.size());
    const std::string_view line = std::string_view(chunk.text).substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::vector<Part> parts;
    try {
      parts = parse_line(line, files.options().field);
    } catch (const Error& error) {
      if (!files.options().skip_invalid) fail(where(files, chunk, number), error.what());
      ++skipped;
    }
    try {
      visit_parts(parts, visit);
    } catch (const Error& error) {
      fail(where(files, chunk, number), error.what());
    }
  }
  return skipped;
}

}  // namespace

uint64_t read_documents(const TextFiles& files, const Chunk& chunk,
                        const std::function<void(const Segment&)>& visit) {
  if (files.is_json_lines(chunk.file)) return read_lines(files, chunk, visit);
  if (chunk.text.empty()) return 0;
  visit({.text = chunk.text,
         .continues = !chunk.begins,
         .begins_document = chunk.begins,
         .ends_document = chunk.ends});
  return 0;
}

void check_utf8(const TextFiles& files, const Chunk& chunk) {
  if (files.is_json_lines(chunk.file)) return;  // JSON is UTF-8, or no JSON
  const std::string_view text = chunk.text;
  for (size_t at = utf8::ascii_prefix(text); at < text.size(); at += utf8::ascii_prefix(text.substr(at))) {
    const size_t bytes = utf8::decode_first(text.substr(at)).bytes;
    if (bytes == 0) {
      fail("read text: '", files.paths()[chunk.file].string(), "' is not UTF-8 at byte ", chunk.offset + at,
           "; convert it, or use the byte vocabulary, which takes any bytes");
    }
    at += bytes;
  }
}

}  // namespace cladtorch::data
