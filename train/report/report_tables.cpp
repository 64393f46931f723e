#include "train/report/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cladtorch/train/metrics.h"
#include "cladtorch/train/progress.h"
#include "data/text/utf8.h"

namespace cladtorch::train {
namespace {

/// Steps that the training loss at the end is averaged over.
constexpr size_t last_steps = 50;
constexpr const char* unknown = "-";

double mean_of_last_losses(const std::vector<StepRecord>& records) {
  const size_t count = std::min(records.size(), last_steps);
  double sum = 0;
  for (size_t i = records.size() - count; i < records.size(); ++i) sum += records[i].loss;
  return sum / static_cast<double>(count);
}

std::string perplexity_of(double loss) {
  const double value = perplexity(loss);
  return value < 1e6 ? fmt::format("{:.3f}", value) : fmt::format("{:.3g}", value);
}

std::string bits_per_byte_of(const RunRecord& run, double loss) {
  if (!run.facts.bytes_per_token) return unknown;
  return fmt::format("{:.4f}", bits_per_byte(loss, *run.facts.bytes_per_token));
}

/// Keys of all sections, "optimizer.lr", with their values as a person reads them.
std::vector<std::pair<std::string, std::string>> flat_config(const RunRecord& run) {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const auto& [section, values] : run.config.items()) {
    for (const auto& [key, value] : values.items()) {
      keys.emplace_back(section + "." + key, shown_value(value));
    }
  }
  return keys;
}

std::string above_floor(const RunRecord& run, double loss) {
  return run.facts.floor ? fmt::format("{:.1f} %", 100.0 * (loss / *run.facts.floor - 1.0)) : unknown;
}

std::vector<std::string> evaluation_row(const RunRecord& run, const char* name, const StepRecord& record) {
  const double loss = *record.val_loss;
  return {name,
          fmt::format("{:.4f}", loss),
          perplexity_of(loss),
          bits_per_byte_of(run, loss),
          above_floor(run, loss),
          std::to_string(record.step)};
}

}  // namespace

std::vector<std::string> run_labels(std::span<const RunRecord> runs) {
  std::map<std::string, int> count;
  for (const RunRecord& run : runs) ++count[run.name];
  std::vector<std::string> labels;
  for (const RunRecord& run : runs) labels.push_back(count[run.name] == 1 ? run.name : run.path.string());
  return labels;
}

Table summary_table(std::span<const RunRecord> runs) {
  Table table = {{"run", "parameters", "steps", "tokens", "time", "best val", "at step", "perplexity",
                  "bits/byte", "train loss", "tok/s"}};
  const std::vector<std::string> labels = run_labels(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunRecord& run = runs[i];
    std::vector<std::string> row = {labels[i], short_count(static_cast<double>(run.facts.parameters))};
    if (run.records.empty()) {
      row.push_back(fmt::format("0/{}", run.steps));
      row.resize(table[0].size(), unknown);
      table.push_back(std::move(row));
      continue;
    }
    const StepRecord& last = run.records.back();
    row.push_back(fmt::format("{}/{}", last.step, run.steps));
    row.push_back(short_count(static_cast<double>(last.tokens)));
    row.push_back(short_duration(last.seconds));
    if (const StepRecord* best = run.best()) {
      row.push_back(fmt::format("{:.4f}", *best->val_loss));
      row.push_back(std::to_string(best->step));
      row.push_back(perplexity_of(*best->val_loss));
      row.push_back(bits_per_byte_of(run, *best->val_loss));
    } else {
      row.resize(row.size() + 4, unknown);
    }
    row.push_back(fmt::format("{:.4f}", mean_of_last_losses(run.records)));
    row.push_back(short_count(median_rate(run.records)));
    table.push_back(std::move(row));
  }
  return table;
}

Table difference_table(std::span<const RunRecord> runs) {
  Table table = {{"key"}};
  for (const std::string& label : run_labels(runs)) table[0].push_back(label);
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> values;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const auto& [key, value] : flat_config(runs[i])) {
      if (key == "run.name" || key == "run.out") continue;
      const auto [row, fresh] = values.try_emplace(key, runs.size(), unknown);
      if (fresh) order.push_back(key);
      row->second[i] = value;
    }
  }
  for (const std::string& key : order) {
    const std::vector<std::string>& row = values[key];
    if (std::all_of(row.begin(), row.end(), [&](const std::string& value) { return value == row[0]; }))
      continue;
    table.push_back({key});
    table.back().insert(table.back().end(), row.begin(), row.end());
  }
  return table;
}

namespace {

/// How far each loss is above the floor; "-" where none is known.
constexpr int floor_column = 4;

Table evaluations(const RunRecord& run) {
  Table table = {{"", "loss", "perplexity", "bits per byte", "above the floor", "step"}};
  const StepRecord *best = run.best(), *last = run.last_evaluated();
  if (run.facts.first_val) {
    StepRecord first;
    first.val_loss = run.facts.first_val;
    table.push_back(evaluation_row(run, "first val", first));
  }
  if (!best) return table;
  table.push_back(evaluation_row(run, "best val", *best));
  if (last->step != best->step) table.push_back(evaluation_row(run, "last val", *last));
  if (const std::optional<double> floor = run.facts.floor) {
    table.push_back({"floor", fmt::format("{:.4f}", *floor), perplexity_of(*floor),
                     bits_per_byte_of(run, *floor), "", ""});
  }
  return table;
}

}  // namespace

Table evaluation_table(const RunRecord& run) {
  Table table = evaluations(run);
  if (!run.facts.floor) {
    for (std::vector<std::string>& row : table) row.erase(row.begin() + floor_column);
  }
  return table;
}

Table validation_table(std::span<const RunRecord> runs) {
  Table table = {{"step"}};
  for (const std::string& label : run_labels(runs)) table[0].push_back(label);
  std::map<int64_t, std::vector<std::string>> rows;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const StepRecord& record : runs[i].records) {
      if (!record.val_loss) continue;
      const auto row = rows.try_emplace(record.step, runs.size()).first;
      row->second[i] = fmt::format("{:.4f}", *record.val_loss);
    }
  }
  for (const auto& [step, losses] : rows) {
    table.push_back({std::to_string(step)});
    table.back().insert(table.back().end(), losses.begin(), losses.end());
  }
  return table;
}

double median_rate(const std::vector<StepRecord>& records) {
  std::vector<double> rates;
  for (const StepRecord& record : records) rates.push_back(record.tokens_per_second);
  if (rates.empty()) return 0;
  std::nth_element(rates.begin(), rates.begin() + static_cast<ptrdiff_t>(rates.size() / 2), rates.end());
  return rates[rates.size() / 2];
}

std::string above_floor(const RunRecord& run) {
  const StepRecord* best = run.best();
  return run.facts.floor && best ? above_floor(run, *best->val_loss) : "";
}

std::string shown_value(const nlohmann::ordered_json& value) {
  if (!value.is_string()) return value.dump();
  const auto text = value.get<std::string>();
  return text.empty() ? unknown : text;
}

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : data::utf8::replace_invalid(text)) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string to_html(const Table& table) {
  std::string html = "<table>\n";
  for (size_t i = 0; i < table.size(); ++i) {
    const char* cell = i == 0 ? "th" : "td";
    html += "<tr>";
    for (const std::string& text : table[i]) html += fmt::format("<{0}>{1}</{0}>", cell, html_escaped(text));
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

}  // namespace cladtorch::train
