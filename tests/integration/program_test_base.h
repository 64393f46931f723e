// What tests of the program share: a folder that it runs in, and what it says there.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "io/temporary_folder.h"
#include "tests/integration/program.h"
#include "tests/integration/small_run.h"

namespace cladtorch::integration {

namespace fs = std::filesystem;

constexpr int runtime_error_code = 1, usage_error_code = 2, interrupted_code = 130;

/// Empty where there is no such file.
inline std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline size_t count_lines(const fs::path& path) {
  const std::string text = content(path);
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Overwrites the first number of a file of float32 tensors.
inline void set_first_number(const fs::path& safetensors, float value) {
  std::fstream file(safetensors, std::ios::binary | std::ios::in | std::ios::out);
  uint64_t header = 0;
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  file.seekp(static_cast<std::streamoff>(sizeof header + header));
  file.write(reinterpret_cast<const char*>(&value), sizeof value);
  ASSERT_TRUE(file.flush());
}

class ProgramTestBase : public testing::Test {
 protected:
  Outcome program(const std::vector<std::string>& arguments) {
    return run(arguments, {.folder = folder_.path()});
  }

  /// What it printed.
  std::string succeed(const std::vector<std::string>& arguments) {
    const Outcome outcome = program(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }

  static void expect_one_line(const Outcome& outcome, int code, const std::string& part) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_THAT(outcome.err,
                testing::AllOf(testing::StartsWith("cladtorch: error: "), testing::HasSubstr(part)));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& part) {
    expect_one_line(program(arguments), code, part);
  }

  /// Waits until the log of "run" has `lines` lines or the program has ended.
  void wait_for_log(Program& program, size_t lines) {
    while (program.running() && count_lines(folder_ / "run" / "log.jsonl") < lines) ::usleep(500);
  }

  io::TemporaryFolder folder_;
};

}  // namespace cladtorch::integration
