#include "cladtorch/train/run_record.h"

#include <fmt/format.h>

#include "cladtorch/error.h"
#include "cladtorch/io/json.h"
#include "cladtorch/train/checkpoint.h"
#include "cladtorch/train/config.h"

namespace cladtorch::train {
namespace fs = std::filesystem;
namespace {

std::optional<double> optional_number(const io::Json& json, const char* key, const std::string& where) {
  if (!json.contains(key)) return {};
  return io::json_field<double>(json, key, where);
}

/// "runs/a/" is the folder "a", and "." the one that we are in.
std::string folder_name(const fs::path& folder) {
  fs::path path = fs::absolute(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

/// The first steps that `records` lack, or "".
std::string describe_gap(const std::vector<StepRecord>& records, const fs::path& path) {
  int64_t before = 0;
  for (const StepRecord& record : records) {
    if (record.step - 1 > before) {
      return fmt::format("'{}' lacks steps {} to {}", path.string(), before + 1, record.step - 1);
    }
    before = record.step;
  }
  return {};
}

}  // namespace

void write_run_facts(const fs::path& path, const RunFacts& facts) {
  io::Json json = {{"version", facts.version},       {"model", facts.model},
                   {"hardware", facts.hardware},     {"memory", facts.memory},
                   {"parameters", facts.parameters}, {"vocab_size", facts.vocab_size},
                   {"tokenizer", facts.tokenizer},   {"flops_per_token", facts.flops_per_token},
                   {"peak_flops", facts.peak_flops}, {"trained_parameters", facts.trained_parameters}};
  if (!facts.ranks.empty()) json["ranks"] = facts.ranks;
  if (!facts.scaling.empty()) json["scaling"] = facts.scaling;
  if (facts.first_val) json["first_val"] = *facts.first_val;
  if (facts.floor) json["floor"] = *facts.floor;
  if (facts.bytes_per_token) json["bytes_per_token"] = *facts.bytes_per_token;
  json["samples"] = io::Json::array();
  for (const ReportSample& sample : facts.samples) {
    json["samples"].push_back({{"prompt", sample.prompt}, {"text", sample.text}});
  }
  io::write_json(path, json);
}

RunFacts read_run_facts(const fs::path& path) {
  const std::string where = path.string();
  const io::Json json = io::read_json(path);
  RunFacts facts;
  facts.version = io::json_field<std::string>(json, "version", where);
  facts.model = io::json_field<std::string>(json, "model", where);
  facts.hardware = io::json_field<std::string>(json, "hardware", where);
  facts.memory = io::json_field<std::string>(json, "memory", where);
  facts.parameters = io::json_field<int64_t>(json, "parameters", where);
  facts.vocab_size = io::json_field<int64_t>(json, "vocab_size", where);
  facts.tokenizer = io::json_field<std::string>(json, "tokenizer", where);
  facts.flops_per_token = io::json_field<double>(json, "flops_per_token", where);
  facts.peak_flops = io::json_field<double>(json, "peak_flops", where);
  facts.trained_parameters = io::json_field_or<int64_t>(json, "trained_parameters", where, facts.parameters);
  facts.ranks = io::json_field_or<std::string>(json, "ranks", where, "");
  if (json.contains("scaling")) facts.scaling = io::json_field<Table>(json, "scaling", where);
  facts.first_val = optional_number(json, "first_val", where);
  facts.floor = optional_number(json, "floor", where);
  facts.bytes_per_token = optional_number(json, "bytes_per_token", where);
  for (const io::Json& sample : io::json_field<io::Json>(json, "samples", where)) {
    facts.samples.push_back({io::json_field<std::string>(sample, "prompt", where),
                             io::json_field<std::string>(sample, "text", where)});
  }
  return facts;
}

const StepRecord* RunRecord::best() const {
  const StepRecord* best = nullptr;
  for (const StepRecord& record : records) {
    if (record.val_loss && (!best || *record.val_loss < *best->val_loss)) best = &record;
  }
  return best;
}

const StepRecord* RunRecord::last_evaluated() const {
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    if (record->val_loss) return &*record;
  }
  return nullptr;
}

RunRecord read_run(const fs::path& folder) {
  require(fs::is_directory(folder), "open '", folder.string(), "': there is no such folder; expected a run");
  for (const char* file : {"config.toml", "run.json", "log.jsonl"}) {
    require(fs::exists(folder / file), "open '", folder.string(), "': there is no ", file,
            " in it; expected the folder of a run");
  }
  RunRecord run;
  run.path = folder;
  run.name = folder_name(folder);
  TrainConfig config;
  read_config(config, folder / "config.toml");
  run.config = config_json(config);
  run.facts = read_run_facts(folder / "run.json");
  run.records = read_run_log(folder / "log.jsonl");
  run.warning = describe_gap(run.records, folder / "log.jsonl");
  // A time limit may have shortened the run.
  const fs::path state = folder / "last";
  run.steps = fs::exists(state) ? load_trainer_state(state).steps : config.train.steps;
  return run;
}

}  // namespace cladtorch::train
