#include "train/report/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/train/metrics.h"
#include "io/temporary_folder.h"
#include "train/report/tensorboard/event_reader.h"

namespace cladtorch::train {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class TelemetryTest : public testing::Test {
 protected:
  std::vector<fs::path> event_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_.path())) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  /// Runs steps `first` to `last` of a run of `steps`, the loss of each its number.
  void run(int64_t first, int64_t last, int64_t steps) {
    Telemetry telemetry(config_, folder_.path(), first - 1, 2.0);
    for (int64_t step = first; step <= last; ++step) {
      if (const GradientObserver observe = telemetry.gradient_observer(step)) observe(gradients_, 0.5);
      StepRecord record{.step = step, .loss = static_cast<double>(step), .lr = 0.5};
      if (step == val_at_) record.val_loss = 1.0;
      telemetry.write(record, steps, weights_);
    }
  }

  std::vector<int64_t> steps_of(const std::string& tag) const {
    std::vector<int64_t> steps;
    for (const fs::path& file : event_files()) {
      for (const Scalar& scalar : scalars_of(file)) {
        if (scalar.tag == tag) steps.push_back(scalar.step);
      }
    }
    return steps;
  }

  /// Tag and encoded histogram of each histogram event.
  std::vector<std::pair<std::string, Fields>> histograms() const {
    std::vector<std::pair<std::string, Fields>> found;
    for (const std::string& record : records_of(event_files().at(0))) {
      const Fields value = Fields(record).message(5).message(1);
      if (value.has(5)) found.emplace_back(value.text(1), value.message(5));
    }
    return found;
  }

  io::TemporaryFolder folder_;
  TrainConfig config_;
  int64_t val_at_ = 0;
  TensorList weights_{{{"a", full({2, 3}, 0.25)}, {"b.weight", full({4}, -1.0)}}};
  TensorList gradients_{{{"a", full({2, 3}, 3.0)}, {"b.weight", full({4}, 0.0)}}};
};

TEST_F(TelemetryTest, WritesTheScalarsOfEachStepUnderTheUsualTags) {
  val_at_ = 2;
  run(1, 3, 3);
  ASSERT_EQ(event_files().size(), 1u);
  EXPECT_THAT(steps_of("train/loss"), ElementsAre(1, 2, 3));
  for (const char* tag : {"train/lr", "train/grad_norm", "train/tokens_per_second"}) {
    EXPECT_THAT(steps_of(tag), ElementsAre(1, 2, 3)) << tag;
  }
  const std::vector<Scalar> scalars = scalars_of(event_files()[0]);
  EXPECT_THAT(scalars, Contains(Scalar{"train/loss", 3, 3.0f}));
  EXPECT_THAT(scalars, Contains(Scalar{"val/loss", 2, 1.0f}));
  EXPECT_THAT(scalars, Contains(Scalar{"val/perplexity", 2, static_cast<float>(perplexity(1.0))}));
  EXPECT_THAT(scalars, Contains(Scalar{"val/bits_per_byte", 2, static_cast<float>(bits_per_byte(1.0, 2.0))}));
  EXPECT_THAT(steps_of("val/loss"), ElementsAre(2));
  EXPECT_THAT(histograms(), IsEmpty());
}

TEST_F(TelemetryTest, ALongRunKeepsAThousandPointsAndEveryEvaluation) {
  val_at_ = 4999;
  run(1, 10'000, 10'000);
  const std::vector<int64_t> steps = steps_of("train/loss");
  EXPECT_EQ(steps.size(), 1001u);
  EXPECT_EQ(steps.front(), 10);
  EXPECT_EQ(steps.back(), 10'000);
  EXPECT_THAT(steps, Contains(4999));
  EXPECT_LT(fs::file_size(event_files()[0]), 400'000u);
}

TEST_F(TelemetryTest, TheNumberOfPointsCanBeChosen) {
  config_.log.scalars_every = 4;
  run(1, 10, 10);
  EXPECT_THAT(steps_of("train/loss"), ElementsAre(4, 8, 10));
}

TEST_F(TelemetryTest, HistogramsShowWeightsAndTheMeanGradient) {
  config_.log.histograms_every = 2;
  run(1, 3, 3);
  const auto found = histograms();
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].first, "gradients/a");
  EXPECT_EQ(found[0].second.number<double>(3), 6.0);  // elements
  EXPECT_EQ(found[0].second.number<double>(4), 9.0);  // sum: 6 times 3 times the scale of 0.5
  EXPECT_EQ(found[1].first, "gradients/b.weight");
  EXPECT_EQ(found[2].first, "weights/a");
  EXPECT_EQ(found[3].first, "weights/b.weight");
  EXPECT_EQ(found[3].second.number<double>(4), -4.0);
}

TEST_F(TelemetryTest, AResumedRunContinuesInAFileThatTakesOverAtItsStep) {
  run(1, 5, 8);
  run(4, 8, 8);
  const auto files = event_files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(scalars_of(files[0]).back().step, 5);
  EXPECT_EQ(scalars_of(files[1]).front().step, 4);
  const Fields start(records_of(files[1]).at(1));
  EXPECT_TRUE(start.has(7));
  EXPECT_EQ(start.integer(2), 4u);
}

TEST_F(TelemetryTest, SamplesAreShownAsTheyStand) {
  Telemetry telemetry(config_, folder_.path(), 0, {});
  telemetry.write_samples(std::vector<ReportSample>{{"The ", "fox\n# ran"}, {"A ", "hen"}}, 7);
  std::vector<std::string> tags, texts;
  for (const std::string& record : records_of(event_files().at(0))) {
    const Fields value = Fields(record).message(5).message(1);
    if (!value.has(8)) continue;
    tags.push_back(value.text(1));
    texts.push_back(value.message(8).text(8));
  }
  EXPECT_THAT(tags, ElementsAre("config", "samples/text", "samples/text_2"));
  EXPECT_THAT(texts.at(0), StartsWith("    [run]\n    name"));
  EXPECT_EQ(texts.at(1), "    The fox\n    # ran");
}

TEST_F(TelemetryTest, SwitchedOffItWritesNothing) {
  config_.log.tensorboard = false;
  config_.log.histograms_every = 1;
  run(1, 3, 3);
  EXPECT_THAT(event_files(), IsEmpty());
}

}  // namespace
}  // namespace cladtorch::train
