#include "cladtorch/train/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

namespace cladtorch::train {
namespace {

using testing::HasSubstr;
using testing::Not;

const StepRecord sample_record{
    .step = 400, .loss = 1.0321, .lr = 9.1e-4, .grad_norm = 0.83, .tokens_per_second = 61'000};
const ProgressState sample_state{.steps = 1500,
                                 .val_loss = 1.041,
                                 .floor = 0.92,
                                 .flops_per_token = 5e6,
                                 .peak_flops = 6.1e11,
                                 .eta_seconds = 62};

TEST(ProgressLine, ShowsAllThatAPersonAsksWhileWaiting) {
  EXPECT_EQ(progress_line(sample_record, sample_state, 200),
            "step  400/1500  ###-----------  loss 1.032  val 1.041 (floor 0.920)  61k tok/s  50 % of peak  "
            "lr 9.1e-04  "
            "norm 0.83  eta 1:02");
}

TEST(ProgressLine, LeavesOutWhatIsNotKnown) {
  ProgressState state = sample_state;
  state.val_loss.reset();
  state.peak_flops = 0;
  const std::string line = progress_line(sample_record, state, 200);
  EXPECT_THAT(line, Not(HasSubstr("val")));
  EXPECT_THAT(line, Not(HasSubstr("peak")));
  EXPECT_THAT(line, HasSubstr("eta 1:02"));
}

TEST(ProgressLine, NeverExceedsTheWidthAndKeepsStepAndLossLongest) {
  for (int width = 28; width < 140; ++width) {
    const std::string line = progress_line(sample_record, sample_state, width);
    EXPECT_LE(line.size(), static_cast<size_t>(width));
    EXPECT_THAT(line, HasSubstr("step  400/1500"));
    EXPECT_THAT(line, HasSubstr("loss 1.032"));
  }
  EXPECT_EQ(progress_line(sample_record, sample_state, 20), "step  400/1500");
  EXPECT_EQ(progress_line(sample_record, sample_state, 6), "step  ");
}

TEST(ProgressDisplay, WritesPlainLinesWhereThereIsNoTerminal) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* stream = std::tmpfile();
  {
    ProgressDisplay display(stream, 200);
    StepRecord record = sample_record;
    for (record.step = 1; record.step <= 401; ++record.step) display.show(record, sample_state);
    record.step = 402;
    record.val_loss = 1.0;
    display.show(record, sample_state);
    display.message("done");
  }
  std::rewind(stream);
  std::string all;
  for (ssize_t n; (n = ::getline(&text, &size, stream)) > 0;) all.append(text, static_cast<size_t>(n));
  std::free(text);
  std::fclose(stream);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 4);  // steps 200 and 400, the evaluation, the message
  EXPECT_EQ(all.find('\r'), std::string::npos);
  EXPECT_EQ(all.find('\x1b'), std::string::npos);
}

/// What a terminal of `width` columns receives.
std::string on_terminal(int width, const char* no_color) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_EQ(::grantpt(terminal), 0);
  EXPECT_EQ(::unlockpt(terminal), 0);
  const int screen = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  winsize size{};
  size.ws_col = static_cast<unsigned short>(width);
  EXPECT_EQ(::ioctl(screen, TIOCSWINSZ, &size), 0);
  ::setenv("TERM", "xterm", 1);
  ::setenv("NO_COLOR", no_color, 1);
  std::FILE* stream = ::fdopen(screen, "w");
  {
    ProgressDisplay display(stream, 1);
    StepRecord record = sample_record;
    display.show(record, sample_state);
    display.message("kept");
    record.val_loss = 1.0;
    display.show(record, sample_state);
  }
  std::fclose(stream);
  std::string text;
  char part[256];  // the kernel hands the text over piece by piece, and an error at its end
  for (ssize_t count; (count = ::read(terminal, part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(count));
  ::close(terminal);
  return text;
}

TEST(ProgressDisplay, NeverWrapsALineOnANarrowTerminal) {
  for (const int width : {10, 20, 80}) {
    const std::string text = on_terminal(width, "1");
    size_t column = 0;
    for (const char c : text) {
      column = c == '\r' || c == '\n' ? 0 : column + 1;
      ASSERT_LT(column, static_cast<size_t>(width)) << text;
    }
  }
}

TEST(ProgressDisplay, SendsEscapeSequencesUnlessNoColorIsSetToSomething) {
  EXPECT_THAT(on_terminal(80, ""), HasSubstr("\x1b[K"));
  EXPECT_THAT(on_terminal(80, "1"), Not(HasSubstr("\x1b")));
}

TEST(ProgressDisplay, GoesOnWhenTheStreamTakesNoMore) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ProgressDisplay display(full, 1);
  display.show(sample_record, sample_state);
  display.message("lost");
  std::fclose(full);
}

TEST(ShortNumbers, AreReadable) {
  EXPECT_EQ(short_count(850), "850");
  EXPECT_EQ(short_count(1'234), "1.2k");
  EXPECT_EQ(short_count(124'439'808), "124.4M");
  EXPECT_EQ(short_duration(6.6), "0:07");
  EXPECT_EQ(short_duration(3605), "1:00:05");
  EXPECT_EQ(short_duration(-1), "0:00");
  EXPECT_EQ(short_duration(1e300), short_duration(1e15));
  EXPECT_EQ(short_bytes(22'600'000), "22.6 MB");
}

}  // namespace
}  // namespace cladtorch::train
