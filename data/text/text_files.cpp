#include "cladtorch/data/text_files.h"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>

#include "cladtorch/error.h"
#include "data/text/byte_source.h"
#include "data/text/chunks.h"
#include "data/text/documents.h"
#include "data/text/utf8.h"

namespace cladtorch::data {
namespace fs = std::filesystem;
namespace {

bool hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error, no_file;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(no_file)) {
      files.push_back(entry->path());
    }
  }
  if (error) fail("read text: cannot list the folder '", folder.string(), "': ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

bool named_json_lines(const fs::path& path) {
  const fs::path extension = without_compression(path).extension();
  return extension == ".jsonl" || extension == ".ndjson";
}

}  // namespace

TextFiles::TextFiles(const fs::path& path, TextOptions options) : options_(std::move(options)) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) fail("read text: '", path.string(), "' does not exist");
  if (status.type() == fs::file_type::none) fail("read text: '", path.string(), "': ", error.message());
  if (fs::is_directory(status)) {
    paths_ = files_below(path);
    if (paths_.empty()) fail("read text: there are no files in the folder '", path.string(), "'");
  } else if (fs::is_regular_file(status)) {
    paths_ = {path};
  } else {
    fail("read text: '", path.string(), "' is neither a file nor a folder");
  }
  std::erase_if(paths_, [&](const fs::path& file) { return fs::file_size(file, error) == 0; });
  if (paths_.empty()) fail("read text: '", path.string(), "' is empty");
  for (const fs::path& file : paths_) {
    json_lines_.push_back(!options_.field.empty() || named_json_lines(file));
    bytes_ += fs::file_size(file, error);
  }
}

bool TextFiles::has_json_lines() const {
  return std::find(json_lines_.begin(), json_lines_.end(), true) != json_lines_.end();
}

void TextFiles::read(bool utf8, const std::function<void(std::string_view)>& visit,
                     size_t piece_bytes) const {
  ChunkReader reader(*this, piece_bytes, [=](std::string_view text) {
    return utf8 ? text.size() - utf8::unfinished_tail(text) : text.size();
  });
  char last_byte = '\n';
  while (const std::optional<Chunk> chunk = reader.next()) {
    if (utf8) check_utf8(*this, *chunk);
    read_documents(*this, *chunk, [&](const Segment& segment) {
      if (segment.begins_document && last_byte != '\n') visit("\n");
      if (segment.text.empty()) return;
      visit(segment.text);
      last_byte = segment.text.back();
    });
  }
}

}  // namespace cladtorch::data
