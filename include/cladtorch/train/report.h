// Reports the results of runs, as text for a terminal and as one self-contained page.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "cladtorch/train/run_record.h"

namespace cladtorch::train {

/// The page of one run, or of several side by side: figures, curves, samples, configuration. Figures and
/// texts are readable without the script that draws the curves. Runs with the same name are called by their
/// paths. The points of long runs are averaged, to about 1,500 in all. Throws Error without any run.
std::string report_html(std::span<const RunRecord> runs);

/// Writes the page to `path` atomically.
void write_report(const std::filesystem::path& path, std::span<const RunRecord> runs);

/// One line per run, then the keys of the configuration that differ.
std::string report_text(std::span<const RunRecord> runs);

/// Loss, perplexity and, if known, bits per byte of the best and the latest evaluation and of the floor;
/// "" before the first evaluation.
std::string evaluation_text(const RunRecord& run);

}  // namespace cladtorch::train
