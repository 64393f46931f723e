#include "cladtorch/train/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cladtorch/error.h"
#include "cladtorch/io/atomic_file.h"
#include "cladtorch/train/progress.h"
#include "train/report/report_tables.h"

namespace cladtorch::train {

/// train/report/report.html, embedded by the build.
extern const char* const report_template;

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t most_points = 1500;
/// Rows of evaluations that are still a table and not a wall of numbers.
constexpr size_t most_evaluations = 60;

/// Rows [step, tokens, seconds, loss, lr, grad_norm, tokens_per_second]: means over equal parts of the run.
Json step_rows(const std::vector<StepRecord>& records, size_t points) {
  const size_t part = (records.size() + points - 1) / points;
  auto rows = Json::array();
  for (size_t begin = 0; begin < records.size(); begin += part) {
    const size_t end = std::min(begin + part, records.size());
    const double count = static_cast<double>(end - begin);
    double loss = 0, norm = 0, rate = 0;
    for (size_t i = begin; i < end; ++i) {
      loss += records[i].loss / count;
      norm += records[i].grad_norm / count;
      rate += records[i].tokens_per_second / count;
    }
    const StepRecord& last = records[end - 1];
    rows.push_back({last.step, last.tokens, last.seconds, loss, last.lr, norm, rate});
  }
  return rows;
}

/// Rows [step, tokens, seconds, loss].
Json validation_rows(const std::vector<StepRecord>& records) {
  auto rows = Json::array();
  for (const StepRecord& r : records) {
    if (r.val_loss) rows.push_back({r.step, r.tokens, r.seconds, *r.val_loss});
  }
  return rows;
}

/// The floor of all runs; null where they differ.
Json common_floor(std::span<const RunRecord> runs) {
  for (const RunRecord& run : runs) {
    if (!run.facts.floor || run.facts.floor != runs[0].facts.floor) return nullptr;
  }
  return *runs[0].facts.floor;
}

/// What the script draws.
std::string chart_data(std::span<const RunRecord> runs) {
  Json data;
  data["floor"] = common_floor(runs);
  data["runs"] = Json::array();
  const std::vector<std::string> labels = run_labels(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    data["runs"].push_back(
        {{"name", labels[i]},
         {"steps", step_rows(runs[i].records, std::max<size_t>(most_points / runs.size(), 1))},
         {"validation", validation_rows(runs[i].records)}});
  }
  // Inside a script element only "</" and "<!--" could end the data early: no '<' is left in them.
  std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return json;
}

std::string tile(const std::string& label, const std::string& value) {
  return fmt::format("<div class=\"card\"><div class=\"value\">{}</div><div class=\"label\">{}</div></div>\n",
                     html_escaped(value), html_escaped(label));
}

/// The figures of one run, the most important first.
std::string tiles(const RunRecord& run) {
  std::string html = "<section class=\"tiles\">\n";
  if (const StepRecord* best = run.best())
    html += tile("best validation loss", fmt::format("{:.4f}", *best->val_loss));
  if (const std::string above = above_floor(run); !above.empty()) {
    html += tile(fmt::format("above the floor of {:.4f}", *run.facts.floor), above);
  }
  if (run.records.empty()) return html + tile("steps so far", "0") + "</section>\n";
  const StepRecord& last = run.records.back();
  const double rate = median_rate(run.records);
  html += tile("training time", short_duration(last.seconds));
  html += tile("tokens per second, median", short_count(rate));
  if (run.facts.peak_flops > 0) {
    const double share = 100.0 * rate * run.facts.flops_per_token / run.facts.peak_flops;
    html += tile("of the measured peak", fmt::format("{:.0f} %", share));
  }
  return html + tile("tokens seen", short_count(static_cast<double>(last.tokens))) + "</section>\n";
}

std::string card(const std::string& heading, const std::string& content) {
  return fmt::format("<section class=\"card wide\"><h2>{}</h2>\n{}</section>\n", heading, content);
}

/// Figures of one run, or a table of several, and the evaluations.
std::string summary(std::span<const RunRecord> runs) {
  std::string html = runs.size() == 1 ? tiles(runs[0]) : card("Runs", to_html(summary_table(runs)));
  if (runs.size() == 1 && runs[0].best()) html += card("Evaluation", to_html(evaluation_table(runs[0])));
  for (const RunRecord& run : runs) {
    if (!run.warning.empty()) html += "<p class=\"warning\">" + html_escaped(run.warning) + "</p>\n";
  }
  if (runs.size() > 1) {
    const Table differences = difference_table(runs);
    html += card("Keys that differ", differences.size() > 1 ? to_html(differences) : "<p>None.</p>\n");
  }
  return html;
}

std::string evaluations(std::span<const RunRecord> runs) {
  const Table table = validation_table(runs);
  if (table.size() < 2 || table.size() > most_evaluations) return {};
  return fmt::format(
      "<details class=\"card\"><summary>Validation losses as numbers</summary>\n{}</details>\n",
      to_html(table));
}

/// What more ranks would reach.
std::string scaling(std::span<const RunRecord> runs) {
  const Table table = runs.size() == 1 ? runs[0].facts.scaling : Table{};
  if (table.size() < 2) return {};
  for (const auto& row : table)
    if (row.size() != table[0].size()) return {};
  return fmt::format(
      "<details class=\"card\"><summary>The same updates on more ranks, as planned</summary>\n"
      "<p>Formulas say this from the speed of this run. Each rank has a machine like its own, and between "
      "machines "
      "lies a 10-Gigabit Ethernet; <code>cladtorch plan</code> plans for others.</p>\n{}</details>\n",
      to_html(table));
}

/// Why the validation loss may lie below the training loss.
std::string note(std::span<const RunRecord> runs) {
  const Json& config = runs[0].config;
  const double prefix = config.contains("train") ? config["train"].value("eval_prefix", 0.0) : 0.0;
  if (runs.size() > 1 || prefix <= 0) return {};
  return fmt::format(
      "Validation reads the first {:.0f} % of each window and scores the rest; training scores all of it, "
      "the "
      "first tokens almost blind, and so lies higher.",
      100.0 * prefix);
}

std::string samples(std::span<const RunRecord> runs) {
  const std::vector<std::string> labels = run_labels(runs);
  std::string html;
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const ReportSample& sample : runs[i].facts.samples) {
      html += "<div class=\"card\">";
      if (runs.size() > 1) html += fmt::format("<h3>{}</h3>", html_escaped(labels[i]));
      html += fmt::format("<pre><mark>{}</mark>{}</pre></div>\n", html_escaped(sample.prompt),
                          html_escaped(sample.text));
    }
  }
  return html.empty() ? "<p>None were drawn.</p>\n" : html;
}

std::string config_cards(const RunRecord& run) {
  std::string html = "<div class=\"keys\">\n";
  for (const auto& [section, keys] : run.config.items()) {
    html += fmt::format("<div class=\"card\"><h3>{}</h3><table>\n", html_escaped(section));
    for (const auto& [key, value] : keys.items()) {
      html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_escaped(key),
                          html_escaped(shown_value(value)));
    }
    html += "</table></div>\n";
  }
  return html + "</div>\n";
}

std::string configuration(std::span<const RunRecord> runs) {
  if (runs.size() == 1) return config_cards(runs[0]);
  const std::vector<std::string> labels = run_labels(runs);
  std::string html;
  for (size_t i = 0; i < runs.size(); ++i) {
    html += fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_escaped(labels[i]),
                        config_cards(runs[i]));
  }
  return html;
}

std::string footer(std::span<const RunRecord> runs) {
  const std::vector<std::string> labels = run_labels(runs);
  std::string html;
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunRecord& run = runs[i];
    const int64_t step = run.records.empty() ? 0 : run.records.back().step;
    std::string line = fmt::format("cladtorch {} · {} · {} · step {} of {}", run.facts.version,
                                   run.facts.hardware, run.facts.memory, step, run.steps);
    if (!run.facts.ranks.empty()) line += " · " + run.facts.ranks;
    if (runs.size() > 1) line = fmt::format("{}: {} · {}", labels[i], run.facts.model, line);
    html += "<p>" + html_escaped(line) + "</p>\n";
  }
  return html;
}

/// `text` with every {{name}} replaced once; what is put in is not looked at again.
std::string fill(std::string_view text, const std::map<std::string, std::string>& parts) {
  std::string result;
  for (size_t open = 0; (open = text.find("{{")) != std::string_view::npos;) {
    const size_t close = text.find("}}", open);
    result += text.substr(0, open);
    result += parts.at(std::string(text.substr(open + 2, close - open - 2)));
    text.remove_prefix(close + 2);
  }
  return result += text;
}

}  // namespace

std::string report_html(std::span<const RunRecord> runs) {
  require(!runs.empty(), "report: expected at least one run");
  const bool one = runs.size() == 1;
  return fill(report_template,
              {{"title", html_escaped(one ? runs[0].name : fmt::format("{} runs", runs.size()))},
               {"subtitle", html_escaped(one ? runs[0].facts.model : "")},
               {"summary", summary(runs)},
               {"note", html_escaped(note(runs))},
               {"evaluations", evaluations(runs)},
               {"scaling", scaling(runs)},
               {"samples", samples(runs)},
               {"configuration", configuration(runs)},
               {"footer", footer(runs)},
               {"data", chart_data(runs)}});
}

void write_report(const std::filesystem::path& path, std::span<const RunRecord> runs) {
  io::write_file(path, report_html(runs));
}

std::string report_text(std::span<const RunRecord> runs) {
  std::string text = to_text(summary_table(runs));
  const Table differences = difference_table(runs);
  if (differences.size() > 1) text += "\n" + to_text(differences);
  return text;
}

std::string evaluation_text(const RunRecord& run) {
  const Table table = evaluation_table(run);
  return table.size() > 1 ? to_text(table) : "";
}

}  // namespace cladtorch::train
