#include "cladtorch/io/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::io {
namespace {

void warn_once(const std::filesystem::path& path, int error_number) {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  const std::string line =
      fmt::format("cladtorch: warning: cannot lock '{}': {}; take care that nobody else trains there\n",
                  path.string(), std::strerror(error_number));
  std::fputs(line.c_str(), stderr);
}

}  // namespace

std::optional<FolderLock> FolderLock::try_lock(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw Error(describe_failure("open folder", path, errno));
  FolderLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return std::nullopt;
  warn_once(path, errno);
  return lock;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace cladtorch::io
