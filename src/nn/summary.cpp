#include "cladtorch/nn/summary.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <regex>
#include <sstream>
#include <utility>

#include "cladtorch/ops/count.h"
#include "cladtorch/tensor/workspace.h"

namespace cladtorch {
namespace {

/// 1,234,567.
std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

/// "weight [3,2], bias [3]", in as many lines as that takes.
std::vector<std::string> shape_lines(const LayerSummary& layer) {
  constexpr size_t most = 56;
  std::vector<std::string> lines(1);
  for (const LayerSummary::Parameter& parameter : layer.parameters) {
    std::ostringstream text;
    text << parameter.name << ' ' << parameter.shape;
    if (!lines.back().empty()) lines.back() += ',';
    if (lines.back().size() + 1 + text.str().size() > most && !lines.back().empty()) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + text.str();
  }
  return lines;
}

std::string state_of(const LayerSummary& layer) {
  if (layer.count == 0) return "";
  if (layer.trained == layer.count) return "trained";
  return layer.trained == 0 ? "frozen" : grouped(layer.trained) + " trained";
}

/// Rows of cells below each other, the fourth at the right of its column.
std::string table(const std::vector<std::array<std::string, 5>>& rows) {
  std::array<size_t, 5> widths{};
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (i == 3 ? space + row[i] : row[i] + space);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace

std::string detail::kind_of_layer(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  static const std::regex qualifier(R"(((\w+)?(\[abi:\w+\])?(\([^()]*\))?( const)?::)+)"),
      convolution(R"((Conv|ConvTranspose)<(\d)>)");
  std::string kind = std::regex_replace(status == 0 ? name.get() : type.name(), qualifier, "");
  kind = std::regex_replace(kind, std::regex(" >"), ">");
  if (kind.starts_with("Sequential<")) return "Sequential";
  for (const auto& [cell, network] : {std::pair("Tanh", "RNN"), {"Lstm", "LSTM"}, {"Gru", "GRU"}})
    if (kind == std::string("Recurrent<") + cell + "Cell>") return network;
  return std::regex_replace(kind, convolution, "$1$2d");
}

void detail::SummaryVisitor::operator()(const std::string& name, const Tensor& parameter) {
  LayerSummary& layer = summary_.layers[open_.back()];
  const int64_t count = parameter.numel();
  const int64_t trained = parameter.is_frozen() || !is_floating(parameter.dtype()) ? 0 : count;
  if (summary_.count == 0) summary_.device = parameter.device();
  layer.parameters.push_back(
      {name.substr(layer.name.empty() ? 0 : layer.name.size() + 1), parameter.shape()});
  layer.count += count;
  layer.trained += trained;
  summary_.count += count;
  summary_.trained += trained;
  summary_.bytes += parameter.nbytes();
}

ForwardSummary detail::measure_forward(Device device, const std::function<std::optional<Shape>()>& run) {
  ForwardSummary result;
  Workspace workspace;
  const int64_t operations = op_count(), flops = flop_count();
  {
    const Workspace::Step step(workspace);
    result.output = run();
  }
  result.operations = op_count() - operations;
  result.flops = flop_count() - flops;
  result.allocated_bytes = workspace.statistics(device).naive_bytes;
  result.peak_bytes = workspace.statistics(device).live_bytes;
  return result;
}

std::string ModelSummary::to_string() const {
  std::vector<std::array<std::string, 5>> rows{{"layer", "kind", "shapes", "parameters", ""}};
  for (const LayerSummary& layer : layers) {
    const std::vector<std::string> shapes = shape_lines(layer);
    rows.push_back({layer.name.empty() ? "(model)" : layer.name, layer.kind, shapes[0],
                    layer.parameters.empty() ? "" : grouped(layer.count), state_of(layer)});
    for (size_t i = 1; i < shapes.size(); ++i) rows.push_back({"", "", shapes[i], "", ""});
  }
  std::ostringstream out;
  out << table(rows) << '\n'
      << grouped(count) << " parameters, " << grouped(trained) << " trained, "
      << grouped(static_cast<int64_t>(bytes)) << " bytes\n";
  if (!forward) return out.str();
  out << "forward pass: " << grouped(forward->operations) << " operations, " << grouped(forward->flops)
      << " FLOPs of products and convolutions\n"
      << "its tensors: " << grouped(static_cast<int64_t>(forward->allocated_bytes)) << " bytes, at most "
      << grouped(static_cast<int64_t>(forward->peak_bytes)) << " at once\n";
  if (forward->output) out << "output: " << *forward->output << '\n';
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary) {
  return out << summary.to_string();
}

}  // namespace cladtorch
