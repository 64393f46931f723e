#include "cladtorch/io/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "io/temporary_folder.h"

namespace {
bool has_locks = true;
}

/// Takes the place of the C library's.
extern "C" int flock(int descriptor, int operation) {
  if (has_locks) return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
  errno = ENOLCK;
  return -1;
}

namespace cladtorch::io {
namespace {

TEST(FolderLock, IsHeldByOneAtATime) {
  const TemporaryFolder folder;
  {
    const auto first = FolderLock::try_lock(folder.path());
    ASSERT_TRUE(first.has_value());
    EXPECT_FALSE(FolderLock::try_lock(folder.path()).has_value());
  }
  EXPECT_TRUE(FolderLock::try_lock(folder.path()).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FolderLock, EndsWithAProcessThatIsKilled) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FolderLock::try_lock(folder.path());
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(FolderLock::try_lock(folder.path()).has_value());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FolderLock::try_lock(folder.path()).has_value());
  for (const int end : ready) ::close(end);
}

TEST(FolderLock, NamesAFolderThatIsNotThere) {
  EXPECT_THAT(error_of([] { FolderLock::try_lock("no/such/folder"); }),
              testing::HasSubstr("'no/such/folder'"));
}

TEST(FolderLock, WarnsOnceWhereTheFileSystemHasNoLocks) {
  const TemporaryFolder folder;
  has_locks = false;
  testing::internal::CaptureStderr();
  EXPECT_TRUE(FolderLock::try_lock(folder.path()).has_value());
  EXPECT_TRUE(FolderLock::try_lock(folder.path()).has_value());
  has_locks = true;
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cladtorch: warning: cannot lock '" + folder.path().string() +
                "': No locks available; take care that nobody else trains there\n");
}

}  // namespace
}  // namespace cladtorch::io
