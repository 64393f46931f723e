// Reads a run from its folder, for reports during the run and after its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cladtorch/train/run_log.h"
#include "cladtorch/train/table.h"

namespace cladtorch::train {

struct ReportSample {
  std::string prompt, text;  ///< the text continues the prompt
};

/// The facts about a run that are neither in its configuration nor in its log, from its run.json.
struct RunFacts {
  std::string version;   ///< of the program
  std::string model;     ///< in a few words
  std::string hardware;  ///< processor and threads
  std::string memory;
  std::string ranks{};  ///< how many, and how long they wait; empty for one process
  Table scaling{};      ///< what more ranks would reach, as planned from the speed of the run; may be empty
  int64_t parameters = 0;
  int64_t trained_parameters = 0;  ///< those that are not frozen
  int64_t vocab_size = 0;
  std::string tokenizer;                    ///< its kind
  double flops_per_token = 0;               ///< forward and backward
  double peak_flops = 0;                    ///< measured on this hardware; 0 if it was not
  std::optional<double> first_val{};        ///< before the first update, if the run started from a model
  std::optional<double> floor{};            ///< nats per token that no model can beat
  std::optional<double> bytes_per_token{};  ///< of the validation text
  std::vector<ReportSample> samples{};      ///< drawn at the end
};

/// Writes `facts` to `path` atomically.
void write_run_facts(const std::filesystem::path& path, const RunFacts& facts);
/// Throws Error naming the file and what is wrong in it.
RunFacts read_run_facts(const std::filesystem::path& path);

struct RunRecord {
  std::filesystem::path path;     ///< as it was given
  std::string name;               ///< of its folder
  nlohmann::ordered_json config;  ///< sections of keys, defaults filled in
  RunFacts facts;
  std::vector<StepRecord> records;  ///< none before the first step
  int64_t steps = 0;                ///< of the whole run
  std::string warning;              ///< says in one line what the log lacks; empty if nothing

  /// The evaluation with the lowest loss, and the latest one; null before the first evaluation.
  const StepRecord* best() const;
  const StepRecord* last_evaluated() const;
};

/// Reads config.toml, run.json, log.jsonl and, if it exists, the state of last/. Ignores a last line of the
/// log that a kill truncated. Throws Error that names a missing or damaged file, and the damaged line of a
/// log.
RunRecord read_run(const std::filesystem::path& folder);

}  // namespace cladtorch::train
