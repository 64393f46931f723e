#include "cladtorch/data/text_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
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

/// Length of the part of `piece` that holds whole characters. `offset` is the place of `piece` in `file`.
size_t whole_characters(std::string_view piece, bool last, uint64_t offset, const fs::path& file) {
  size_t at = 0;
  while (at < piece.size()) {
    const utf8::Decoded decoded = utf8::decode_first(piece.substr(at));
    if (decoded.bytes == 0) {
      if (decoded.truncated && !last) break;
      fail("read text: '", file.string(), "' is not UTF-8 at byte ", offset + at,
           "; convert it, or use the byte vocabulary, which takes any bytes");
    }
    at += decoded.bytes;
  }
  return at;
}

}  // namespace

TextFiles::TextFiles(const fs::path& path) : root_(path) {
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
}

void TextFiles::read(bool utf8, const std::function<void(std::string_view)>& visit,
                     size_t piece_bytes) const {
  std::string buffer(piece_bytes, '\0');
  char last_byte = '\n';
  for (const fs::path& path : paths_) {
    if (last_byte != '\n') visit("\n");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(io::describe_failure("read text", path, errno));
    uint64_t offset = 0;  // of the start of the buffer in the file
    size_t kept = 0;      // bytes of a character that the last piece cut in two
    while (file) {
      file.read(buffer.data() + kept, static_cast<std::streamsize>(buffer.size() - kept));
      if (file.bad()) throw Error(io::describe_failure("read text", path, errno));
      const std::string_view piece(buffer.data(), kept + static_cast<size_t>(file.gcount()));
      const size_t whole = utf8 ? whole_characters(piece, file.eof(), offset, path) : piece.size();
      if (whole > 0) {
        visit(piece.substr(0, whole));
        last_byte = piece[whole - 1];
      }
      kept = piece.size() - whole;
      std::copy_n(buffer.begin() + static_cast<ptrdiff_t>(whole), kept, buffer.begin());
      offset += whole;
    }
  }
}

}  // namespace cladtorch::data
