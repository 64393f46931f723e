#include "cuda/choice_file.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "cuda/check.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {
namespace {

namespace fs = std::filesystem;

/// Puts `text` into a file beside it first, so that a reader sees all or nothing of it.
bool replace_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return false;
  std::string temporary = path.string() + ".XXXXXX";
  const int file = mkstemp(temporary.data());
  if (file < 0) return false;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file, text.data() + written, text.size() - written);
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  const bool whole = written == text.size() && fsync(file) == 0;
  const bool closed = close(file) == 0;
  if (whole && closed) fs::rename(temporary, path, error);
  if (whole && closed && !error) return true;
  fs::remove(temporary, error);
  return false;
}

std::string machine_of(Device device) {
  cudaDeviceProp properties{};
  int driver = 0;
  CLADTORCH_CUDA_CALL(cudaGetDeviceProperties, &properties, device.index);
  CLADTORCH_CUDA_CALL(cudaDriverGetVersion, &driver);
  std::ostringstream out;
  out << properties.name << ", driver " << driver;
  return out.str();
}

[[maybe_unused]] bool is_field(const std::string& text) {
  return !text.empty() && text.find_first_of("\t\n") == std::string::npos;
}

}  // namespace

fs::path choice_path() {
  const auto folder = [](const char* name) -> fs::path {
    const char* const value = std::getenv(name);
    return value ? value : "";
  };
  fs::path cache = folder("XDG_CACHE_HOME");
  if (cache.is_relative()) cache = folder("HOME").empty() ? fs::path() : folder("HOME") / ".cache";
  return cache.empty() ? cache : cache / "cladtorch" / "cuda_choices";
}

ChoiceFile::ChoiceFile(fs::path path, std::string machine)
    : path_(std::move(path)), machine_(std::move(machine)), known_(read()) {}

std::optional<std::string> ChoiceFile::find(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto line = known_.find(machine_ + '\t' + key);
  return line == known_.end() ? std::nullopt : std::optional(line->second);
}

void ChoiceFile::add(const std::string& key, const std::string& choice) {
  assert(is_field(key) && is_field(choice));
  if (path_.empty()) return;
  const std::scoped_lock lock(mutex_);
  Lines lines = read();
  lines[machine_ + '\t' + key] = choice;
  known_ = lines;
  write(lines);
}

ChoiceFile::Lines ChoiceFile::read() const {
  Lines lines;
  if (path_.empty()) return lines;
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find('\t'), last = line.rfind('\t');
    const bool three_fields = std::count(line.begin(), line.end(), '\t') == 2 && first > 0 &&
                              last > first + 1 && last + 1 < line.size();
    if (three_fields) lines[line.substr(0, last)] = line.substr(last + 1);
  }
  return lines;
}

void ChoiceFile::write(const Lines& lines) const {
  std::string text;
  for (const auto& [key, choice] : lines) text += key + '\t' + choice + '\n';
  replace_file(path_, text);
}

ChoiceFile& choice_file(Device device) {
  static std::mutex making;
  static std::map<int, ChoiceFile> files;
  const std::scoped_lock lock(making);
  const auto found = files.find(device.index);
  if (found != files.end()) return found->second;
  return files.try_emplace(device.index, choice_path(), machine_of(device)).first->second;
}

}  // namespace cladtorch::cuda
