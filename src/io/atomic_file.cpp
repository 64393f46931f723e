#include "cladtorch/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "cladtorch/error.h"
#include "cladtorch/quote.h"

namespace cladtorch::io {
namespace fs = std::filesystem;
namespace {

/// Linux caps one write at 2 GiB - 4 KiB; smaller pieces also let a signal be served between them.
constexpr size_t largest_write = size_t{64} << 20;

/// What is read of a pipe or a device, which may have no end.
constexpr size_t longest_stream = size_t{256} << 20;

std::string_view way_out(std::string_view action, int error_number) {
  const bool reads = action.starts_with("read") || action.starts_with("open");
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another folder";
    case EFBIG:
      return "raise the file size limit (ulimit -f) or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return reads ? "name one that you may read" : "choose a folder that you may write to";
    case ENOENT:
      return "check the path";
    case ENOTDIR:
      return reads ? "a part of this path is a file: check the path"
                   : "a part of this path is a file: choose another folder";
    case ELOOP:
      return "its symbolic links lead in a circle: check the path";
    case EISDIR:
      return "this is a folder: name a file";
    case EPIPE:
      return "its reader has ended";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      return "check the path and the disk";
  }
}

[[noreturn]] void fail(std::string_view action, const fs::path& path, int error_number) {
  throw Error(describe_failure(action, path, error_number));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

std::string describe_failure(std::string_view action, const fs::path& path, int error_number) {
  std::string reason = std::strerror(error_number);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  const std::string name = error_number == ENAMETOOLONG ? shortened(path.string()) : path.string();
  return fmt::format("cannot {} '{}': {}; {}", action, name, reason, way_out(action, error_number));
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  // A rename would replace a device or a pipe by a file instead of writing to it.
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(fmt::format("cannot write '{}': it is no regular file; name another one", path_.string()));
  }
  temporary_ = path_;
  temporary_ += fmt::format(".tmp-{}", ::getpid());
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("write", path_, errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    HeldSignals::throw_if_any();
    const ssize_t written = ::write(descriptor_, next, std::min(bytes, largest_write));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write", path_, errno);
    }
    next += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  HeldSignals::throw_if_any();
  while (::fsync(descriptor_) != 0) {
    if (errno != EINTR) fail("write", path_, errno);
  }
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail("write", path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("write", path_, errno);
  temporary_.clear();
  sync_folder(folder_of(path_));
}

void write_file(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

int open_to_read(const fs::path& path) {
  // Without O_NONBLOCK, opening a pipe waits for somebody to write into it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail("read", path, errno);
  struct stat file{};
  struct statfs system{};
  const bool pipe = ::fstat(descriptor, &file) == 0 && S_ISFIFO(file.st_mode);
  // One of the shell's, <(...) or |, has somebody.
  const bool of_shell = pipe && ::fstatfs(descriptor, &system) == 0 && system.f_type == PIPEFS_MAGIC;
  if (pipe && !of_shell) {
    ::close(descriptor);
    throw Error(fmt::format("cannot read '{}': it is a named pipe; name a file", path.string()));
  }
  ::fcntl(descriptor, F_SETFL, 0);
  return descriptor;
}

std::string read_file(const fs::path& path) {
  const int descriptor = open_to_read(path);
  struct stat info{};
  const bool ends = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  std::string content;
  if (ends) content.reserve(static_cast<size_t>(info.st_size));
  char buffer[1 << 16];
  for (;;) {
    if (!ends && content.size() > longest_stream) {
      ::close(descriptor);
      throw Error(fmt::format("cannot read '{}': it is no regular file, and longer than {} MB", path.string(),
                              longest_stream >> 20));
    }
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error_number = errno;
      ::close(descriptor);
      fail("read", path, error_number);
    }
    if (got == 0) break;
    content.append(buffer, static_cast<size_t>(got));
  }
  ::close(descriptor);
  return content;
}

void create_writable_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail("create folder", path, error.value());
  if (!fs::is_directory(path, error)) fail("create folder", path, ENOTDIR);
  const fs::path probe = path / fmt::format(".writable-{}", ::getpid());
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) fail("write to folder", path, errno);
  ::close(descriptor);
  ::unlink(probe.c_str());
}

void sync_folder(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("open folder", path, errno);
  // Some file systems (9p, some FUSE) cannot flush a folder and say EINVAL: the rename itself has still
  // happened.
  const bool failed = ::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP;
  const int error_number = errno;
  ::close(descriptor);
  if (failed) fail("flush folder", path, error_number);
}

void replace_folder(const fs::path& fresh, const fs::path& target) {
  sync_folder(fresh);
  fs::path old = target;
  old += ".old";
  if (!fs::exists(target)) {
    if (::rename(fresh.c_str(), target.c_str()) != 0) fail("rename to", target, errno);
  } else if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    old = fresh;
  } else {
    fs::remove_all(old);
    if (::rename(target.c_str(), old.c_str()) != 0) fail("rename", target, errno);
    if (::rename(fresh.c_str(), target.c_str()) != 0) fail("rename to", target, errno);
  }
  sync_folder(folder_of(target));
  std::error_code ignored;
  fs::remove_all(old, ignored);
}

void recover_folder(const fs::path& target) {
  std::error_code ignored;
  fs::path old = target;
  old += ".old";
  if (!fs::exists(target) && fs::exists(old)) fs::rename(old, target, ignored);
  if (fs::exists(target)) fs::remove_all(old, ignored);
  remove_temporaries(target);
}

void remove_temporaries(const fs::path& target) {
  const std::string prefix = target.filename().string() + ".tmp-";
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(target), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos) {
      found.push_back(entry->path());
    }
  }
  for (const fs::path& temporary : found) fs::remove_all(temporary, error);
}

}  // namespace cladtorch::io
