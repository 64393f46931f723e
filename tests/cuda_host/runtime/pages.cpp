#include "runtime/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace cuda_host::detail {
namespace {
constexpr size_t poison_bytes = size_t{16} << 20;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "cuda_host: %s: %s\n", what, std::strerror(errno));
  std::abort();
}

// A file of 0xFF: private mappings of it share its pages until they are written.
int poison_file() {
  static const int file = [] {
    const int created = memfd_create("cuda_host", MFD_CLOEXEC);
    const std::vector<unsigned char> poison(1 << 20, 0xFF);
    for (size_t done = 0; created >= 0 && done < poison_bytes; done += poison.size()) {
      if (write(created, poison.data(), poison.size()) != static_cast<ssize_t>(poison.size()))
        give_up("write");
    }
    if (created < 0) give_up("memfd_create");
    return created;
  }();
  return file;
}

void protect(char* start, size_t bytes, int protection) {
  if (mprotect(start, bytes, protection) != 0) give_up("mprotect");
}
}  // namespace

char* reserve_pages(size_t bytes) {
  void* start = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) give_up("mmap");
  return static_cast<char*>(start);
}

void map_poisoned_pages(char* start, size_t bytes) {
  for (size_t done = 0; done < bytes; done += poison_bytes) {
    const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    const size_t part = std::min(poison_bytes, bytes - done);
    if (mmap(start + done, part, PROT_NONE, flags, poison_file(), 0) == MAP_FAILED) give_up("mmap");
  }
}

void map_poisoned_huge_pages(char* start, size_t bytes) {
  unmap_pages(start, bytes);
  madvise(start, bytes, MADV_HUGEPAGE);  // where there are none, the usual ones do
  open_pages(start, bytes);
  std::memset(start, 0xFF, bytes);
  close_pages(start, bytes);
}

void unmap_pages(char* start, size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE;
  if (mmap(start, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED) give_up("mmap");
}

void open_pages(char* start, size_t bytes) { protect(start, bytes, PROT_READ | PROT_WRITE); }
void close_pages(char* start, size_t bytes) { protect(start, bytes, PROT_NONE); }

}  // namespace cuda_host::detail
