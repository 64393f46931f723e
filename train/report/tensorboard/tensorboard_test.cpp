#include "cladtorch/train/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/tensor.h"
#include "io/temporary_folder.h"
#include "train/report/tensorboard/crc32c.h"
#include "train/report/tensorboard/event.h"
#include "train/report/tensorboard/event_reader.h"

namespace cladtorch::train {
namespace {

namespace fs = std::filesystem;
using io::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Histogram histogram_of(std::initializer_list<double> values) {
  Histogram histogram;
  for (const double value : values) histogram.add(value);
  return histogram;
}

TEST(Tensorboard, ChecksumsAreThoseOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720, B.4
}

TEST(Tensorboard, EveryKindOfEventHasTheBytesThatTensorboardWrites) {
  const auto at = [](int64_t step) { return EventTime{.seconds = 1700000000.25, .step = step}; };
  std::string text;
  for (int i = 0; i < 20; ++i) text += "    Dünn ist das Eis.\n";
  const std::vector<std::string> events = {
      version_event(at(0)),
      session_start_event(at(301)),
      scalar_event(at(301), "train/loss", 1.5f),
      scalar_event(at(int64_t{1} << 40), "train/lr", 3e-7f),
      scalar_event(at(0), "train/grad_norm", 0.0f),
      text_event(at(302), "samples/text", text),
      histogram_event(at(302), "weights/wte.weight",
                      histogram_of({-2, -0.5, 0, 0, std::exp2(-45), 0.25, 1, 1.5, 1.5, 4096}))};
  const auto expected = records_of(CLADTORCH_TENSORBOARD_REFERENCE);
  ASSERT_EQ(expected.size(), events.size());
  std::string file;
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i], expected[i]) << i;
    file += tfrecord(events[i]);
  }
  EXPECT_EQ(file, io::read_file(CLADTORCH_TENSORBOARD_REFERENCE));
}

TEST(Tensorboard, AFileHoldsWhatWasAdded) {
  const io::TemporaryFolder folder;
  EventFile file(folder.path(), 1);
  EXPECT_THAT(file.path().filename().string(), StartsWith("events.out.tfevents.1"));
  file.add_scalar("train/loss", 2.25, 1);
  file.add_scalar("train/loss", 0.0, 300);
  file.add_text("samples/text",
                "a\xff"
                "b",
                300);
  EXPECT_EQ(records_of(file.path()).size(), 1u);  // not flushed yet
  file.flush();
  EXPECT_THAT(scalars_of(file.path()),
              ElementsAre(Scalar{"train/loss", 1, 2.25f}, Scalar{"train/loss", 300, 0.0f}));
  const auto records = records_of(file.path());
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(Fields(records[0]).text(3), "brain.Event:2");
  const Fields value = Fields(records[3]).message(5).message(1);
  EXPECT_EQ(value.message(9).message(1).text(1), "text");
  EXPECT_EQ(value.message(8).text(8),
            "a\ufffd"
            "b");
}

TEST(Tensorboard, ALaterFileSortsBehindAndTakesOverFromItsStep) {
  const io::TemporaryFolder folder;
  std::set<fs::path> files;
  for (int64_t step = 1; step <= 3; ++step) {
    EventFile file(folder.path(), 100 * step);
    EXPECT_TRUE(is_event_file(file.path()));
    EXPECT_TRUE(files.empty() || *files.rbegin() < file.path());
    EXPECT_TRUE(files.insert(file.path()).second);
    const auto records = records_of(file.path());
    ASSERT_EQ(records.size(), step == 1 ? 1u : 2u);
    if (step == 1) continue;
    const Fields start(records[1]);
    EXPECT_EQ(start.integer(2), static_cast<uint64_t>(100 * step));
    EXPECT_EQ(start.message(7).integer(1), 1u);
  }
}

TEST(Tensorboard, AFolderOrDiskThatTakesNothingIsNamed) {
  const io::TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { EventFile(folder / "missing", 1); }), HasSubstr("missing/events.out.tfevents"));
}

TEST(Histogram, PutsEveryNumberBetweenItsLimits) {
  for (const double sign : {1.0, -1.0}) {
    for (double size : {0.0, 1e-300, 9e-13, 1e-12, 1e-12 * 1.1, 0.3, 1.0, 7.5, 1e19}) {
      for (const double value :
           {sign * size, std::nextafter(sign * size, 2e19), std::nextafter(sign * size, -2e19)}) {
        const auto buckets = histogram_of({-1.5e19, value, 1.5e19}).buckets();
        size_t i = 1;
        while (i < buckets.size() && buckets[i].second == 0) ++i;
        if (std::abs(value) > 1e18) continue;
        ASSERT_LT(i, buckets.size());
        EXPECT_GE(value, buckets[i - 1].first);
        EXPECT_LT(value, buckets[i].first);
      }
    }
  }
}

TEST(Histogram, KeepsTheMomentsAndLeavesOutWhatIsNoNumber) {
  const Histogram histogram = histogram_of({-3, 1, INFINITY, 2, NAN, 2});
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_EQ(histogram.min(), -3);
  EXPECT_EQ(histogram.max(), 2);
  EXPECT_EQ(histogram.sum(), 2);
  EXPECT_EQ(histogram.sum_of_squares(), 18);
  EXPECT_EQ(histogram.buckets().front().second, 1);
  EXPECT_EQ(histogram.buckets().back().second, 2);
  EXPECT_TRUE(Histogram().buckets().empty());
  EXPECT_EQ(histogram_of({1e300, -1e300}).count(), 2);
}

TEST(Histogram, TakesTensorsOfEveryDtypeAndAMarkedGradientAsZeros) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    Histogram histogram;
    histogram.add(full({2, 3}, 3.0, dtype), 0.5);
    EXPECT_EQ(histogram.count(), 6);
    EXPECT_EQ(histogram.sum(), 9);
  }
  Tensor gradient = gradient_buffer_like(full({4}, 1.0));
  gradient.mark_zero();
  Histogram histogram;
  histogram.add(gradient);
  EXPECT_EQ(histogram.count(), 4);
  EXPECT_EQ(histogram.sum_of_squares(), 0);
}

}  // namespace
}  // namespace cladtorch::train
