#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/tensorboard.h"
#include "data/text/utf8.h"
#include "train/report/tensorboard/event.h"

namespace cladtorch::train {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view name_prefix = "events.out.tfevents.";

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

/// The seconds in the name of the latest event file of `folder`, or -1.
int64_t latest_event_file(const fs::path& folder) {
  int64_t latest = -1;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_event_file(entry->path())) continue;
    const std::string name = entry->path().filename().string().substr(name_prefix.size());
    int64_t seconds = 0;
    std::from_chars(name.data(), name.data() + name.size(), seconds);
    latest = std::max(latest, seconds);
  }
  return latest;
}

}  // namespace

bool is_event_file(const fs::path& path) { return path.filename().string().starts_with(name_prefix); }

EventFile::EventFile(const fs::path& folder, int64_t first_step) : file_(nullptr, std::fclose) {
  const int64_t latest = latest_event_file(folder);
  const double time = now();
  // TensorBoard reads the files of a folder in the order of their names.
  const int64_t seconds = std::max(static_cast<int64_t>(time), latest + 1);
  path_ = folder / fmt::format("{}{:010}.{}.{}.0", name_prefix, seconds, host_name(), ::getpid());
  file_.reset(std::fopen(path_.c_str(), "wbxe"));
  if (!file_) throw Error(io::describe_failure("write", path_, errno));
  pending_ += tfrecord(version_event({.seconds = time}));
  if (latest >= 0) pending_ += tfrecord(session_start_event({.seconds = time, .step = first_step}));
  flush();
}

void EventFile::add_scalar(std::string_view tag, double value, int64_t step) {
  pending_ += tfrecord(scalar_event({.seconds = now(), .step = step}, tag, static_cast<float>(value)));
}

void EventFile::add_text(std::string_view tag, std::string_view text, int64_t step) {
  pending_ += tfrecord(text_event({.seconds = now(), .step = step}, tag, data::utf8::replace_invalid(text)));
}

void EventFile::add_histogram(std::string_view tag, const Histogram& histogram, int64_t step) {
  pending_ += tfrecord(histogram_event({.seconds = now(), .step = step}, tag, histogram));
}

void EventFile::flush() {
  const bool written = std::fwrite(pending_.data(), 1, pending_.size(), file_.get()) == pending_.size();
  if (!written || std::fflush(file_.get()) != 0) throw Error(io::describe_failure("write", path_, errno));
  pending_.clear();
}

}  // namespace cladtorch::train
