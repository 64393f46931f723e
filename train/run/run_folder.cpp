#include "train/run/run_folder.h"

#include <fmt/format.h>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::train {
namespace fs = std::filesystem;
namespace {

/// What a run writes; none of it may be there before.
constexpr const char* checkpoints[] = {"last", "best"};
constexpr const char* files[] = {"config.toml", "run.json", "log.jsonl", "report.html"};

bool holds_checkpoint(const fs::path& folder) {
  for (const char* name : checkpoints) {
    if (fs::exists(folder / name)) return true;
  }
  return false;
}

/// The first of a run's files in `folder`, or "".
std::string file_in(const fs::path& folder) {
  for (const char* name : files) {
    if (fs::exists(folder / name)) return name;
  }
  return {};
}

bool is_free(const fs::path& folder) { return !holds_checkpoint(folder) && file_in(folder).empty(); }

[[noreturn]] void fail_in_use(const fs::path& path) {
  fail("train: '", path.string(), "' is in use by another training process; wait until it ends");
}

}  // namespace

RunFolder RunFolder::for_new_run(const TrainConfig& config) {
  RunFolder folder;
  if (config.run.out.empty()) {
    folder.unnumbered_ = "runs/" + config.run.name;
    folder.path_ = folder.unnumbered_;
    return folder;
  }
  const fs::path path = folder.path_ = config.run.out;
  if (fs::is_directory(path) && !io::FolderLock::try_lock(path)) fail_in_use(path);
  require(!holds_checkpoint(path), "train: '", path.string(),
          "' already holds a run; continue it with --resume ", path.string(), " or choose another --out");
  require(is_free(path), "train: '", path.string(), "' holds a ", file_in(path),
          " but no checkpoint to continue; remove it or choose another --out");
  return folder;
}

RunFolder RunFolder::of_run(const fs::path& path) {
  RunFolder folder;
  folder.path_ = path;
  folder.lock_ = io::FolderLock::try_lock(path);
  if (!folder.lock_) fail_in_use(path);
  for (const char* name : checkpoints) io::recover_folder(path / name);
  for (const char* name : files) io::remove_temporaries(path / name);
  require(fs::exists(path / "last"), "train: --resume '", path.string(),
          "' holds no last/: the run was stopped before its first checkpoint; start it again");
  return folder;
}

RunFolder RunFolder::of_others(const fs::path& path) {
  RunFolder folder;
  folder.path_ = path;
  return folder;
}

bool RunFolder::try_claim() {
  io::create_writable_folder(path_);
  lock_ = io::FolderLock::try_lock(path_);
  if (lock_ && is_free(path_)) return true;
  lock_.reset();
  return false;
}

void RunFolder::claim() {
  if (lock_) return;
  if (unnumbered_.empty()) {
    if (!try_claim()) fail_in_use(path_);
    return;
  }
  for (int number = 2; !is_free(path_) || !try_claim(); ++number) {
    path_ = fmt::format("{}-{}", unnumbered_, number);
  }
}

}  // namespace cladtorch::train
