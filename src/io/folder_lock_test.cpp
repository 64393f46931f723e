#include "cladtorch/io/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/temporary_folder.h"

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

}  // namespace
}  // namespace cladtorch::io
