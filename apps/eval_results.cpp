#include "apps/eval_results.h"

#include <fmt/format.h>

#include <cmath>

#include "cladtorch/io/json.h"
#include "cladtorch/train/metrics.h"
#include "cladtorch/train/table.h"

namespace cladtorch::apps {
namespace {

std::string shown(double value) { return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-"; }

/// JSON has no NaN: null.
io::Json number(double value) { return std::isfinite(value) ? io::Json(value) : io::Json(nullptr); }

double bits_per_byte(const TextResult& result) {
  return result.bytes_per_token ? train::bits_per_byte(result.evaluation.loss, *result.bytes_per_token) : NAN;
}

io::Json json_of(const train::Evaluation& evaluation) {
  return {{"loss", number(evaluation.loss)},
          {"perplexity", number(evaluation.perplexity())},
          {"tokens", evaluation.tokens}};
}

io::Json json_of(const TextResult& result) {
  io::Json json{{"data", result.data}};
  json.update(json_of(result.evaluation));
  json["bits_per_byte"] = number(bits_per_byte(result));
  return json;
}

io::Json json_of(const ChoiceResult& result) {
  const train::Proportion &accuracy = result.evaluation.accuracy, &normalized = result.evaluation.normalized;
  return {{"data", result.data},
          {"acc", number(accuracy.value())},
          {"acc_stderr", number(accuracy.standard_error())},
          {"acc_norm", number(normalized.value())},
          {"acc_norm_stderr", number(normalized.standard_error())},
          {"examples", accuracy.of}};
}

std::vector<std::string> row_of(const TextResult& result) {
  const train::Evaluation& evaluation = result.evaluation;
  return {result.data, shown(evaluation.loss), shown(evaluation.perplexity()), shown(bits_per_byte(result)),
          std::to_string(evaluation.tokens)};
}

std::vector<std::string> row_of(const ChoiceResult& result) {
  const train::Proportion &accuracy = result.evaluation.accuracy, &normalized = result.evaluation.normalized;
  return {result.data,
          shown(accuracy.value()),
          shown(accuracy.standard_error()),
          shown(normalized.value()),
          shown(normalized.standard_error()),
          std::to_string(accuracy.of)};
}

template <class Result>
std::string table(std::vector<std::string> heading, const std::vector<Result>& results) {
  if (results.empty()) return {};
  train::Table rows = {std::move(heading)};
  for (const Result& result : results) rows.push_back(row_of(result));
  return train::to_text(rows);
}

std::string line(const io::Json& json) {
  return json.dump(-1, ' ', false, io::Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_text(const EvalResults& results) {
  const std::string texts = table({"text", "loss", "perplexity", "bits/byte", "tokens"}, results.texts);
  const std::string choices =
      table({"HellaSwag", "accuracy", "+-", "normalized", "+-", "examples"}, results.choices);
  return texts + (texts.empty() || choices.empty() ? "" : "\n") + choices;
}

std::string to_json(const EvalResults& results) {
  io::Json list = io::Json::array();
  for (const TextResult& result : results.texts) list.push_back(json_of(result));
  for (const ChoiceResult& result : results.choices) list.push_back(json_of(result));
  return line({{"results", std::move(list)}});
}

std::string to_text(const train::Evaluation& evaluation) {
  return fmt::format("loss        {:.6f}\nperplexity  {:.4f}\ntokens      {}\n", evaluation.loss,
                     evaluation.perplexity(), evaluation.tokens);
}

std::string to_json(const train::Evaluation& evaluation) { return line(json_of(evaluation)); }

}  // namespace cladtorch::apps
