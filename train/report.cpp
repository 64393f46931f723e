#include "cladtorch/train/report.h"

#include <cmath>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"

namespace cladtorch::train {

/// train/report.html, embedded by the build.
extern const char* const report_template;

namespace {

constexpr size_t most_points = 1500;
constexpr const char* placeholder = "__REPORT_DATA__";

/// Rows [step, loss, lr, grad_norm, tokens_per_second]: means over equal parts of the run.
nlohmann::ordered_json step_rows(const std::vector<StepRecord>& records) {
  const size_t part = (records.size() + most_points - 1) / most_points;
  auto rows = nlohmann::ordered_json::array();
  for (size_t begin = 0; begin < records.size(); begin += part) {
    const size_t end = std::min(begin + part, records.size());
    const double count = static_cast<double>(end - begin);
    double loss = 0, norm = 0, rate = 0;
    for (size_t i = begin; i < end; ++i) {
      loss += records[i].loss / count;
      norm += records[i].grad_norm / count;
      rate += records[i].tokens_per_second / count;
    }
    rows.push_back({records[end - 1].step, loss, records[end - 1].lr, norm, rate});
  }
  return rows;
}

}  // namespace

std::string report_html(const Report& report) {
  nlohmann::ordered_json data;
  data["name"] = report.name;
  data["subtitle"] = report.subtitle;
  data["footer"] = report.footer;
  data["tiles"] = nlohmann::ordered_json::array();
  for (const auto& [label, value] : report.tiles) data["tiles"].push_back({label, value});
  data["steps"] = step_rows(report.records);
  data["validation"] = nlohmann::ordered_json::array();
  for (const StepRecord& record : report.records) {
    if (record.val_loss) data["validation"].push_back({record.step, *record.val_loss});
  }
  data["floor"] = report.floor ? nlohmann::ordered_json(*report.floor) : nlohmann::ordered_json(nullptr);
  data["note"] = report.note;
  data["samples"] = nlohmann::ordered_json::array();
  for (const ReportSample& sample : report.samples) {
    data["samples"].push_back({{"prompt", sample.prompt}, {"text", sample.text}});
  }
  data["config"] = report.config;

  // Inside a script element only "</" and "<!--" could end the data early: no '<' is left in them.
  std::string json = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  std::string page = report_template;
  page.replace(page.find(placeholder), std::string(placeholder).size(), json);
  return page;
}

void write_report(const std::filesystem::path& path, const Report& report) {
  io::write_file(path, report_html(report));
}

}  // namespace cladtorch::train
