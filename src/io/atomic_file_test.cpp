#include "cladtorch/io/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_folder.h"
#include "cladtorch/io/mapped_file.h"
#include "io/temporary_folder.h"

namespace cladtorch::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

size_t entries(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  TemporaryFolder folder;
  AtomicFile file(folder / "x");
  file.write("half ");
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  file.write("whole");
  file.commit();
  EXPECT_EQ(read_file(folder / "x"), "half whole");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicFile, KeepsTheOldContentAndRemovesItsOwnWhenNotCommitted) {
  TemporaryFolder folder;
  write_file(folder / "x", "old");
  {
    AtomicFile(folder / "x").write("new");
  }
  EXPECT_EQ(read_file(folder / "x"), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(AtomicFile, NamesThePathAndTheWayOutWhenTheFolderIsAFile) {
  TemporaryFolder folder;
  write_file(folder / "file", "");
  const std::string message = error_of([&] { write_file(folder / "file" / "x", "text"); });
  EXPECT_THAT(message, AllOf(HasSubstr("file/x"), HasSubstr("choose another folder")));
}

TEST(AtomicFile, DoesNotReplaceADeviceOrAFolder) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of([] { write_file("/dev/null", "text"); }), HasSubstr("no regular file"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THAT(error_of([&] { write_file(folder.path(), "text"); }), HasSubstr("no regular file"));
}

TEST(AtomicFile, LeavesNothingBehindWhenThereIsNoSpace) {
  TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    // A file size limit fails a write the way a full disk does; it is lowered in a child because it is for
    // good.
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    const std::string message = error_of([&] { write_file(folder / "x", std::string(10'000, 'a')); });
    ::_exit(message.find("ulimit -f") != std::string::npos && entries(folder.path()) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// What became of a child that writes `x` in `folder` and gets `signals` meanwhile.
int status_of_interrupted_write(const TemporaryFolder& folder, std::initializer_list<int> signals) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      AtomicFolder outer(folder / "outer");
      AtomicFile file(outer.path() / "x");
      file.write("half ");
      for (const int signal : signals) ::raise(signal);
      file.write("whole");
      file.commit();
    } catch (const Error&) {
      ::_exit(3);
    }
    ::_exit(4);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(AtomicFile, IsRemovedBeforeASignalEndsTheProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    TemporaryFolder folder;
    const int status = status_of_interrupted_write(folder, {signal});
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(entries(folder.path()), 0u);
  }
}

TEST(AtomicFile, DoesNotHoldASecondSignal) {
  TemporaryFolder folder;
  const int status = status_of_interrupted_write(folder, {SIGINT, SIGTERM});
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(AtomicFile, LeavesSignalsAloneThatAreHandledOrIgnored) {
  TemporaryFolder folder;
  const auto before = ::signal(SIGINT, SIG_IGN);
  {
    AtomicFile file(folder / "x");
    ::raise(SIGINT);
    file.write("whole");
    file.commit();
  }
  EXPECT_EQ(::signal(SIGINT, before), SIG_IGN);
  EXPECT_EQ(read_file(folder / "x"), "whole");
  EXPECT_EQ(::signal(SIGTERM, SIG_DFL), SIG_DFL) << "handlers go away with the file";
}

TEST(DescribeFailure, TellsWhatToDoOnAFullDisk) {
  EXPECT_EQ(describe_failure("write", "a/b", ENOSPC),
            "cannot write 'a/b': no space left on device; free some space or choose another folder");
}

TEST(DescribeFailure, TellsWhatToDoWhereAFileCannotBeRead) {
  EXPECT_EQ(describe_failure("read", "x", EACCES),
            "cannot read 'x': permission denied; name one that you may read");
  EXPECT_EQ(describe_failure("open folder", "x", EACCES),
            "cannot open folder 'x': permission denied; name one that you may read");
  EXPECT_EQ(describe_failure("write", "x", EACCES),
            "cannot write 'x': permission denied; choose a folder that you may write to");
  EXPECT_EQ(
      describe_failure("read", "x", ELOOP),
      "cannot read 'x': too many levels of symbolic links; its symbolic links lead in a circle: check the "
      "path");
  EXPECT_LT(describe_failure("read", std::string(70'000, 'x'), ENAMETOOLONG).size(), 200u);
}

TEST(ReadFile, RefusesANamedPipeInsteadOfWaitingForAWriter) {
  TemporaryFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string expected = "cannot read '" + pipe.string() + "': it is a named pipe; name a file";
  EXPECT_EQ(error_of([&] { read_file(pipe); }), expected);
  EXPECT_EQ(error_of([&] { MappedFile{pipe}; }), expected);
}

TEST(ReadFile, ReadsWhatAShellPipesIn) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0])), "text");
  ::close(ends[0]);
}

TEST(ReadFile, NamesTheMissingPath) {
  EXPECT_THAT(error_of([] { read_file("no/such/file"); }), HasSubstr("'no/such/file'"));
}

TEST(ReadFile, StopsReadingWhatHasNoEnd) {
  EXPECT_THAT(error_of([] { read_file("/dev/zero"); }), HasSubstr("'/dev/zero': it is no regular file"));
}

TEST(CreateWritableFolder, MakesParentsAndRefusesAFile) {
  TemporaryFolder folder;
  create_writable_folder(folder / "a" / "b");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a" / "b"));
  EXPECT_EQ(entries(folder / "a" / "b"), 0u);
  write_file(folder / "file", "");
  EXPECT_THAT(error_of([&] { create_writable_folder(folder / "file"); }), HasSubstr("file"));
  EXPECT_THAT(error_of([&] { create_writable_folder(folder / "file" / "b"); }), HasSubstr("file/b"));
}

void write_folder(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path);
  for (const char* name : {"a", "b"}) write_file(path / name, text);
}

TEST(ReplaceFolder, PutsTheNewFolderInPlaceAndRemovesTheOld) {
  TemporaryFolder folder;
  for (const char* text : {"one", "two", "three"}) {
    write_folder(folder / "last.tmp-1", text);
    replace_folder(folder / "last.tmp-1", folder / "last");
    EXPECT_EQ(read_file(folder / "last" / "b"), text);
    EXPECT_EQ(entries(folder.path()), 1u);
  }
}

TEST(ReplaceFolder, LeavesACompleteFolderWhenKilledAtAnyMoment) {
  TemporaryFolder folder;
  write_folder(folder / "last", "0");
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0;; ++i) {
        write_folder(folder / "last.tmp-1", std::to_string(i));
        replace_folder(folder / "last.tmp-1", folder / "last");
      }
    }
    ::usleep(1000 + 700 * static_cast<unsigned>(round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    recover_folder(folder / "last");
    EXPECT_EQ(read_file(folder / "last" / "a"), read_file(folder / "last" / "b"));
    EXPECT_EQ(entries(folder.path()), 1u);
  }
}

TEST(RemoveTemporaries, TouchesNothingButWhatAKilledWriterLeft) {
  const TemporaryFolder folder;
  for (const char* name : {"x", "x.tmp-12", "x.tmp-12b", "y.tmp-12"}) folder.write(name, "text");
  remove_temporaries(folder / "x");
  EXPECT_FALSE(std::filesystem::exists(folder / "x.tmp-12"));
  EXPECT_EQ(entries(folder.path()), 3u);
  remove_temporaries(folder / "no folder" / "x");
}

TEST(RecoverFolder, BringsTheOldFolderBackWhenTheNewOneNeverArrived) {
  TemporaryFolder folder;
  write_folder(folder / "last.old", "old");
  write_folder(folder / "last.tmp-7", "new");
  recover_folder(folder / "last");
  EXPECT_EQ(read_file(folder / "last" / "a"), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

}  // namespace
}  // namespace cladtorch::io
