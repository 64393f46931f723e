#include "cladtorch/train/run_log.h"

#include <cerrno>
#include <sstream>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/json.h"

namespace cladtorch::train {
namespace {

io::Json to_json(const StepRecord& record) {
  io::Json json = {{"step", record.step},
                   {"loss", record.loss},
                   {"lr", record.lr},
                   {"grad_norm", record.grad_norm},
                   {"tokens", record.tokens},
                   {"seconds", record.seconds},
                   {"tokens_per_second", record.tokens_per_second}};
  if (record.val_loss) json["val_loss"] = *record.val_loss;
  return json;
}

StepRecord from_json(const io::Json& json, const std::string& where) {
  StepRecord record;
  record.step = io::json_field<int64_t>(json, "step", where);
  record.loss = io::json_field<double>(json, "loss", where);
  record.lr = io::json_field<double>(json, "lr", where);
  record.grad_norm = io::json_field<double>(json, "grad_norm", where);
  record.tokens = io::json_field_or<int64_t>(json, "tokens", where, 0);
  record.seconds = io::json_field_or<double>(json, "seconds", where, 0);
  record.tokens_per_second = io::json_field<double>(json, "tokens_per_second", where);
  if (json.contains("val_loss")) record.val_loss = io::json_field<double>(json, "val_loss", where);
  return record;
}

}  // namespace

std::vector<StepRecord> read_run_log(const std::filesystem::path& path) {
  std::istringstream lines(io::read_file(path));
  std::vector<StepRecord> records;
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = path.string() + ":" + std::to_string(++number);
    const io::Json json = io::Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const bool cut_off = lines.eof();
    if (!json.is_object() && cut_off) break;
    require(json.is_object(), "read '", where, "': this line is not a JSON object; was the file edited?");
    const StepRecord record = from_json(json, where);
    const int64_t before = records.empty() ? 0 : records.back().step;
    require(record.step > before, "read '", where, "': step ", record.step, " does not come after step ",
            before, "; was the file edited?");
    records.push_back(record);
  }
  return records;
}

RunLog::RunLog(const std::filesystem::path& path, int64_t step) : path_(path), file_(nullptr, std::fclose) {
  std::string kept;
  if (step > 0 && std::filesystem::exists(path)) {
    std::istringstream lines(io::read_file(path));
    for (std::string line; std::getline(lines, line);) {
      const io::Json json = io::Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!json.is_object()) break;  // a line that a kill cut off: the run never got further
      if (from_json(json, path.string()).step > step) break;
      kept += line + "\n";
    }
  }
  io::write_file(path, kept);
  file_.reset(std::fopen(path.c_str(), "a"));
  if (!file_) throw Error(io::describe_failure("write", path, errno));
}

void RunLog::write(const StepRecord& record) {
  const std::string line = to_json(record).dump() + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0) {
    throw Error(io::describe_failure("write", path_, errno));
  }
}

}  // namespace cladtorch::train
