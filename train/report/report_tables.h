// The tables of a report, before they become text or a page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cladtorch/train/run_record.h"
#include "cladtorch/train/table.h"

namespace cladtorch::train {

/// The names of `runs`; the paths of those that share one.
std::vector<std::string> run_labels(std::span<const RunRecord> runs);

/// One row a run.
Table summary_table(std::span<const RunRecord> runs);
/// The keys that differ, one column a run; only a heading when none does. What every run has to itself, its
/// name and folder, is left out.
Table difference_table(std::span<const RunRecord> runs);
/// One row for each of the best evaluation, the latest and the floor, as far as there are any.
Table evaluation_table(const RunRecord& run);
/// The validation losses by step, one column a run.
Table validation_table(std::span<const RunRecord> runs);

/// Tokens per second of the middle step: unlike the mean, not moved by a busy minute of the machine.
double median_rate(const std::vector<StepRecord>& records);

/// How far the best validation loss lies above the floor: "4.5 %"; "" where either is not known.
std::string above_floor(const RunRecord& run);

/// A value of a configuration for a person.
std::string shown_value(const nlohmann::ordered_json& value);

std::string to_html(const Table& table);
/// With the characters that mean something in HTML written as entities, and U+FFFD for bytes that are no
/// UTF-8.
std::string html_escaped(std::string_view text);

}  // namespace cladtorch::train
