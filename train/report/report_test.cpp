#include "cladtorch/train/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cladtorch/error.h"
#include "io/temporary_folder.h"
#include "train/report/report_tables.h"

namespace cladtorch::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

RunRecord sample_run(int64_t steps, const std::string& name = "stories") {
  RunRecord run;
  run.path = "runs/" + name;
  run.name = name;
  run.steps = steps;
  run.facts.model = "gpt2 (4 layers)";
  run.facts.parameters = 800'000;
  run.facts.floor = 0.5;
  run.facts.bytes_per_token = 2.0;
  run.config["run"]["out"] = run.path.string();
  run.config["train"] = {{"steps", steps}, {"eval_prefix", 0.5}};
  for (int64_t i = 1; i <= steps; ++i) {
    StepRecord record{.step = i, .loss = 2.0, .tokens = 64 * i, .seconds = 0.5 * static_cast<double>(i)};
    record.tokens_per_second = 100;
    if (i % 100 == 0) record.val_loss = 1.5;
    run.records.push_back(record);
  }
  return run;
}

std::string page_of(const RunRecord& run) { return report_html({&run, 1}); }

/// The JSON that the page carries.
nlohmann::json data_of(const std::string& page) {
  const std::string open = "id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Report, CarriesTheRunInOnePageWithoutOutsideResources) {
  const std::string page = page_of(sample_run(300));
  const auto data = data_of(page);
  ASSERT_EQ(data["runs"].size(), 1u);
  EXPECT_EQ(data["runs"][0]["steps"].size(), 300u);
  EXPECT_THAT(data["runs"][0]["steps"][299], ElementsAre(300, 19200, 150.0, 2.0, 0.0, 0.0, 100.0));
  EXPECT_THAT(data["runs"][0]["validation"][2], ElementsAre(300, 19200, 150.0, 1.5));
  EXPECT_EQ(data["floor"], 0.5);
  for (const char* outside : {"src=", "<link", "@import", "url(http", "fetch(", "http://", "https://"}) {
    const std::string without_names = page.substr(0, page.find("createElementNS"));
    EXPECT_THAT(without_names, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(Report, TellsItsFiguresWithoutAScript) {
  const std::string page = page_of(sample_run(300));
  const std::string text = page.substr(0, page.find("<script"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("<h1>stories</h1>"), HasSubstr("gpt2 (4 layers)"), HasSubstr("1.5000"),
                    HasSubstr("above the floor of 0.5000"), HasSubstr("200.0 %"),
                    HasSubstr("<td>eval_prefix</td><td>0.5</td>"), HasSubstr("first 50 % of each window")));
  EXPECT_THAT(text, HasSubstr("<tr><td>best val</td><td>1.5000</td><td>4.482</td><td>1.0820</td>"));
  EXPECT_THAT(text, HasSubstr("<tr><td>200</td><td>1.5000</td></tr>"));
}

TEST(Report, AveragesALongRun) {
  const auto data = data_of(page_of(sample_run(20'000)))["runs"][0];
  EXPECT_LE(data["steps"].size(), 1500u);
  EXPECT_GE(data["steps"].size(), 700u);
  EXPECT_DOUBLE_EQ(data["steps"][3][3].get<double>(), 2.0);
  EXPECT_EQ(data["steps"].back()[0], 20'000);
}

TEST(Report, IsNotBrokenByWhatAModelOrANameHolds) {
  RunRecord run = sample_run(1, "</script>{{data}}<b>");
  run.facts.floor.reset();
  run.facts.samples = {{"a", "</pre></script><script>alert(1)</script> {{footer}} \xff\xfe"}};
  const std::string page = page_of(run);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(
      page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt; {{footer}} \ufffd\ufffd</pre>"));
  EXPECT_THAT(page, HasSubstr("<h1>&lt;/script&gt;{{data}}&lt;b&gt;</h1>"));
  EXPECT_TRUE(data_of(page)["floor"].is_null());
  EXPECT_EQ(data_of(page)["runs"][0]["name"], "</script>{{data}}<b>");
}

TEST(Report, ShowsWhatMoreRanksWouldReach) {
  RunRecord run = sample_run(1);
  EXPECT_THAT(page_of(run), Not(HasSubstr("on more ranks")));
  run.facts.scaling = {{"ranks", "tokens/s"}, {"1", "10<"}, {"2", "19"}};
  EXPECT_THAT(page_of(run), AllOf(HasSubstr("The same updates on more ranks, as planned"),
                                  HasSubstr("10&lt;"), HasSubstr(">19<")));
  run.facts.scaling.push_back({"a damaged row"});
  EXPECT_THAT(page_of(run), Not(HasSubstr("on more ranks")));
}

TEST(Report, ARunWithoutAStepHasAPage) {
  RunRecord run = sample_run(0);
  EXPECT_THAT(page_of(run), HasSubstr("steps so far"));
  EXPECT_EQ(data_of(page_of(run))["runs"][0]["steps"].size(), 0u);
  EXPECT_EQ(evaluation_text(run), "");
  EXPECT_THAT(report_text({&run, 1}), HasSubstr("0/0"));
  EXPECT_THROW(report_html({}), Error);
}

class Comparison : public testing::Test {
 protected:
  Comparison() {
    runs_[1].config["train"]["batch"] = 4;
    runs_[1].config["train"]["steps"] = 100;
    runs_[1].records[99].val_loss = 1.25;
    runs_[1].warning = "'log.jsonl' lacks steps 5 to 9";
    runs_[1].facts.samples = {{"", "Once upon a time"}};
  }
  std::vector<RunRecord> runs_ = {sample_run(200, "a"), sample_run(100, "b")};
};

TEST_F(Comparison, PutsRunsSideBySide) {
  EXPECT_EQ(
      report_text(runs_),
      "run  parameters    steps  tokens  time  best val  at step  perplexity  bits/byte  train loss  tok/s\n"
      "a          800k  200/200     13k  1:40    1.5000      100       4.482     1.0820      2.0000    100\n"
      "b          800k  100/100    6.4k  0:50    1.2500      100       3.490     0.9017      2.0000    100\n"
      "\n"
      "key            a    b\n"
      "train.steps  200  100\n"
      "train.batch    -    4\n");
}

TEST_F(Comparison, TheirPageHoldsCurvesTablesAndSamplesOfAll) {
  const std::string page = report_html(runs_);
  EXPECT_THAT(page, AllOf(HasSubstr("<h1>2 runs</h1>"), HasSubstr("<td>train.batch</td><td>-</td><td>4</td>"),
                          HasSubstr("lacks steps 5 to 9"), HasSubstr("<h3>b</h3><pre><mark></mark>Once upon"),
                          HasSubstr("<tr><td>100</td><td>1.5000</td><td>1.2500</td></tr>"),
                          HasSubstr("<tr><td>200</td><td>1.5000</td><td></td></tr>")));
  EXPECT_THAT(page, Not(HasSubstr("run.out")));
  const auto data = data_of(page);
  ASSERT_EQ(data["runs"].size(), 2u);
  EXPECT_EQ(data["runs"][1]["name"], "b");
  EXPECT_EQ(data["runs"][1]["validation"][0][3], 1.25);
  EXPECT_EQ(data["floor"], 0.5);
}

TEST_F(Comparison, FloorsThatDifferAreNotDrawn) {
  runs_[1].facts.floor = 0.6;
  EXPECT_TRUE(data_of(report_html(runs_))["floor"].is_null());
}

TEST_F(Comparison, RunsOfOneNameAreCalledByTheirPaths) {
  runs_[1].name = "a";
  EXPECT_THAT(run_labels(runs_), ElementsAre("runs/a", "runs/b"));
}

TEST(EvaluationText, ShowsTheBestTheLatestAndTheFloor) {
  RunRecord run = sample_run(200);
  run.records[99].val_loss = 0.6;
  EXPECT_EQ(evaluation_text(run),
            "            loss  perplexity  bits per byte  above the floor  step\n"
            "best val  0.6000       1.822         0.4328           20.0 %   100\n"
            "last val  1.5000       4.482         1.0820          200.0 %   200\n"
            "floor     0.5000       1.649         0.3607\n");
  run.facts.bytes_per_token.reset();
  EXPECT_THAT(evaluation_text(run), HasSubstr("0.6000       1.822              -"));
  run.facts.floor.reset();
  EXPECT_EQ(evaluation_text(run),
            "            loss  perplexity  bits per byte  step\n"
            "best val  0.6000       1.822              -   100\n"
            "last val  1.5000       4.482              -   200\n");
}

}  // namespace
}  // namespace cladtorch::train
