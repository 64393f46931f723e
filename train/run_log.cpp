#include "cladtorch/train/run_log.h"

#include <cerrno>
#include <sstream>

#include "cladtorch/io/atomic_file.h"
#include "cladtorch/io/json.h"

namespace cladtorch::train {
namespace {

io::Json to_json(const StepRecord& record) {
  io::Json json = {{"step", record.step},
                   {"loss", record.loss},
                   {"lr", record.lr},
                   {"grad_norm", record.grad_norm},
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
  record.tokens_per_second = io::json_field<double>(json, "tokens_per_second", where);
  if (json.contains("val_loss")) record.val_loss = io::json_field<double>(json, "val_loss", where);
  return record;
}

}  // namespace

RunLog::RunLog(const std::filesystem::path& path, int64_t step) : path_(path), file_(nullptr, std::fclose) {
  std::string kept;
  if (step > 0 && std::filesystem::exists(path)) {
    std::istringstream lines(io::read_file(path));
    for (std::string line; std::getline(lines, line);) {
      const io::Json json = io::Json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!json.is_object()) break;  // a line that a kill cut off: the run never got further
      const StepRecord record = from_json(json, path.string());
      if (record.step > step) break;
      records_.push_back(record);
      kept += line + "\n";
    }
  }
  io::write_file(path, kept);
  file_.reset(std::fopen(path.c_str(), "a"));
  if (!file_) throw Error(io::describe_failure("write", path, errno));
}

void RunLog::write(const StepRecord& record) {
  records_.push_back(record);
  const std::string line = to_json(record).dump() + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0) {
    throw Error(io::describe_failure("write", path_, errno));
  }
}

}  // namespace cladtorch::train
