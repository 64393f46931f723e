#include "cladtorch/train/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cladtorch::train {
namespace {

using testing::HasSubstr;
using testing::Not;

Report sample_report(int steps) {
  Report report;
  report.name = "stories";
  report.floor = 0.5;
  report.config["train"]["steps"] = steps;
  for (int i = 1; i <= steps; ++i) {
    StepRecord record;
    record.step = i;
    record.loss = 2.0;
    if (i % 100 == 0) record.val_loss = 1.5;
    report.records.push_back(record);
  }
  return report;
}

/// The JSON that the page carries.
nlohmann::json data_of(const std::string& page) {
  const std::string open = "id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Report, CarriesTheRunInOnePageWithoutOutsideResources) {
  const std::string page = report_html(sample_report(300));
  const auto data = data_of(page);
  EXPECT_EQ(data["steps"].size(), 300u);
  EXPECT_EQ(data["steps"][299][0], 300);
  EXPECT_EQ(data["validation"].size(), 3u);
  EXPECT_EQ(data["floor"], 0.5);
  EXPECT_EQ(data["config"]["train"]["steps"], 300);
  for (const char* outside : {"src=", "<link", "@import", "url(http", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(Report, AveragesALongRun) {
  const auto data = data_of(report_html(sample_report(20'000)));
  EXPECT_LE(data["steps"].size(), 1500u);
  EXPECT_GE(data["steps"].size(), 700u);
  EXPECT_DOUBLE_EQ(data["steps"][3][1].get<double>(), 2.0);
  EXPECT_EQ(data["steps"].back()[0], 20'000);
}

TEST(Report, IsNotBrokenByWhatAModelWrites) {
  Report report = sample_report(1);
  report.floor.reset();
  report.samples = {{"a", "</script><script>alert(1)</script> \xff\xfe"}};
  const std::string page = report_html(report);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(data_of(page)["samples"][0]["text"].get<std::string>(), HasSubstr("</script><script>alert(1)"));
  EXPECT_TRUE(data_of(page)["floor"].is_null());
}

}  // namespace
}  // namespace cladtorch::train
