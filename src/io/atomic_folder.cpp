#include "cladtorch/io/atomic_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::io {
namespace fs = std::filesystem;
namespace {

/// "a/b/" as "a/b".
fs::path without_slash(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

AtomicFolder::AtomicFolder(const fs::path& target) : target_(without_slash(target)), fresh_(target_) {
  fresh_ += fmt::format(".tmp-{}", ::getpid());
  remove_temporaries(target_);
  std::error_code error;
  if (!fs::create_directory(fresh_, error))
    throw Error(describe_failure("create folder", target, error.value()));
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!fresh_.empty()) fs::remove_all(fresh_, ignored);
}

void AtomicFolder::commit() {
  HeldSignals::throw_if_any();
  replace_folder(fresh_, target_);
  fresh_.clear();
}

void require_new_folder(const fs::path& path) {
  std::error_code error;
  require(!fs::exists(path) || (fs::is_directory(path) && fs::is_empty(path, error)), "write '",
          path.string(), "': it exists already; name a new folder");
  fs::create_directories(without_slash(path).parent_path(), error);
  if (error) throw Error(describe_failure("create folder", path, error.value()));
}

}  // namespace cladtorch::io
