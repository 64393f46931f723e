// report.html: one page that shows a finished run and needs nothing else.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/train/run_log.h"

namespace cladtorch::train {

struct ReportSample {
  std::string prompt, text;  ///< the text continues the prompt
};

struct Report {
  std::string name;                                        ///< heading
  std::string subtitle;                                    ///< the model in a few words
  std::string footer;                                      ///< where and with what it ran
  std::vector<std::pair<std::string, std::string>> tiles;  ///< label and figure, the most important first
  std::vector<StepRecord> records;
  std::string note;  ///< below the loss curves: how they compare
  std::optional<double> floor;
  std::vector<ReportSample> samples;
  nlohmann::ordered_json config;  ///< sections of keys
};

/// The page as text. Long runs are averaged to some 1,500 points.
std::string report_html(const Report& report);

/// Writes the page to `path` atomically.
void write_report(const std::filesystem::path& path, const Report& report);

}  // namespace cladtorch::train
