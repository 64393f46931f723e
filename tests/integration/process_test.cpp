// What the program makes of the descriptors, signals and environment that it is started with.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "tensor/sanitizers.h"
#include "tests/integration/program_test_base.h"

namespace cladtorch::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Makes `descriptor` a pipe that nobody reads.
void break_pipe(int descriptor) {
  int ends[2];
  if (::pipe(ends) != 0) ::_exit(125);
  ::dup2(ends[1], descriptor);
  ::close(ends[0]);
  ::close(ends[1]);
}

class Process : public ProgramTestBase {
 protected:
  Outcome program_after(const std::vector<std::string>& arguments, const std::function<void()>& before) {
    return run(arguments, {.folder = folder_.path(), .before = before});
  }
  /// With `value` in the environment.
  Outcome program_with(const char* name, const char* value, const std::vector<std::string>& arguments) {
    return program_after(arguments, [=] { ::setenv(name, value, 1); });
  }
};

TEST_F(Process, NothingThatIsPrintedGetsIntoFilesWhereDescriptorsAreClosed) {
  const Outcome outcome = program_after(small_train(), [] {
    for (int descriptor = 0; descriptor < 3; ++descriptor) ::close(descriptor);
  });
  EXPECT_EQ(outcome.code, 0);
  const std::string log = content(folder_ / "run" / "log.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 6);
  EXPECT_THAT(log, AllOf(StartsWith("{\"step\":1,"), Not(HasSubstr("step 6/6"))));
  EXPECT_EQ(program_after({"export", "--from", "run", "--format", "gguf", "--out", "m.gguf"},
                          [] {
                            ::close(0);
                            ::close(1);
                          })
                .code,
            0);
  EXPECT_THAT(content(folder_ / "m.gguf"), AllOf(StartsWith("GGUF"), Not(HasSubstr("parameters"))));
}

TEST_F(Process, AStandardErrorThatCannotBeWrittenChangesNoExitCode) {
  const std::vector<std::function<void()>> broken = {
      [] { ::close(2); }, [] { ::dup2(::open("/dev/full", O_WRONLY), 2); }, [] { break_pipe(2); }};
  for (const auto& before : broken) {
    EXPECT_EQ(program_after({"info", "missing"}, before).code, runtime_error_code);
    EXPECT_EQ(program_after({"trian"}, before).code, usage_error_code);
    EXPECT_EQ(program_after({"--version"}, before).code, 0);
  }
}

TEST_F(Process, ResultsThatStandardOutputDoesNotTakeAreAFailure) {
  folder_.write("t.json", R"({"format":"cladtorch-tokenizer","version":1,"kind":"byte"})");
  ASSERT_EQ(program(small_train()).code, 0);
  ASSERT_EQ(program({"data", "stories", "--bytes", "3000", "--out", "s.txt"}).code, 0);
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},
      {"--version"},
      {"train", "--help"},
      {"info", "run"},
      {"report", "run"},
      {"data", "show", "--bytes", "20000"},
      {"eval", "--from", "run", "--text", "s.txt", "--json"},
      {"tokenizer", "encode", "--tokenizer", "t.json", "a"},
      {"tokenizer", "decode", "--tokenizer", "t.json", "97"},
      {"data", "stories", "--bytes", "1000000"}};
  for (const auto& command : commands) {
    SCOPED_TRACE(command.back());
    expect_one_line(run(command, {.folder = folder_.path(), .standard_output = "/dev/full"}),
                    runtime_error_code, "cannot write 'standard output': no space left on device");
  }
}

TEST_F(Process, OutputThatNobodyReadsEndsTheProgramAsOthersEnd) {
  const std::vector<std::string> stories = {"data", "stories", "--bytes", "1000000"};
  const Outcome quiet = program_after(stories, [] { break_pipe(1); });
  EXPECT_EQ(quiet.code, 128 + SIGPIPE);
  EXPECT_EQ(quiet.err, "");
  const Outcome asked = program_after(stories, [] {
    break_pipe(1);
    ::signal(SIGPIPE, SIG_IGN);
  });
  expect_one_line(asked, runtime_error_code,
                  "cannot write 'standard output': broken pipe; its reader has ended");
}

TEST_F(Process, ARunWhoseReaderEndsIsTrainedToItsEnd) {
  EXPECT_EQ(program_after(small_train(), [] { break_pipe(1); }).code, 128 + SIGPIPE);
  EXPECT_EQ(count_lines(folder_ / "run" / "log.jsonl"), 6u);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "report.html"));
}

TEST_F(Process, AFileSizeLimitIsNamedAndLeavesNothingBehind) {
  if (CLADTORCH_THREAD_SANITIZER) GTEST_SKIP() << "TSan maps a file of its own, which the limit cuts off";
  const Outcome outcome = run({"data", "stories", "--bytes", "100000", "--out", "stories.txt"},
                              {.folder = folder_.path(), .file_size_limit = 16'000});
  expect_one_line(outcome, runtime_error_code,
                  "cannot write 'stories.txt': file too large; raise the file size limit (ulimit -f)");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(Process, ANumberOfThreadsThatOpenMPCannotServeIsRefused) {
  for (const char* count : {"100000", "2147483647", "99999999999", "-3", "0", "many", "2,0", "2x"}) {
    expect_one_line(program_with("OMP_NUM_THREADS", count, {"info"}), runtime_error_code,
                    "OMP_NUM_THREADS is '" + std::string(count) + "', expected 1 to 1024 threads");
  }
  for (const char* count : {"2", " 2 , 1", ""}) {
    const Outcome outcome = program_with("OMP_NUM_THREADS", count, {"data", "stories", "--bytes", "10"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(Process, AnInstructionSetThatThereIsNotIsRefused) {
  expect_one_line(program_with("CLADTORCH_SIMD", "garbage", {"info"}), runtime_error_code,
                  "CLADTORCH_SIMD is 'garbage', expected portable, avx2, avx512 or avx512bf16");
  EXPECT_EQ(program_with("CLADTORCH_SIMD", "portable", small_train()).code, 0);
}

}  // namespace
}  // namespace cladtorch::integration
