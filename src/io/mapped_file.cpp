#include "cladtorch/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::io {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int descriptor = open_to_read(path);
  struct stat info{};
  int error_number = ::fstat(descriptor, &info) != 0 ? errno : 0;
  if (error_number == 0 && S_ISDIR(info.st_mode)) error_number = EISDIR;
  if (error_number == 0 && !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    throw Error("cannot read '" + path.string() + "': it is no regular file; name another one");
  }
  if (error_number == 0 && info.st_size > 0) {
    size_ = static_cast<size_t>(info.st_size);
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
      error_number = errno;
    } else {
      data_ = static_cast<const std::byte*>(mapped);
    }
  }
  ::close(descriptor);
  if (error_number != 0) throw Error(describe_failure("read", path, error_number));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace cladtorch::io
