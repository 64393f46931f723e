#include "train/report/telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cladtorch/tensor/parallel.h"
#include "cladtorch/train/metrics.h"

namespace cladtorch::train {
namespace {

/// TensorBoard shows no more points of a curve than these unless it is told to.
constexpr int64_t points_per_curve = 1000;

/// Markdown that shows `text` as it stands.
std::string verbatim(const std::string& text) {
  std::string lines = "    ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "    ";
  }
  return lines;
}

}  // namespace

Telemetry::Telemetry(const TrainConfig& config, const std::filesystem::path& folder, int64_t step,
                     std::optional<double> bytes_per_token)
    : config_(config.log), bytes_per_token_(bytes_per_token) {
  if (!config_.tensorboard) return;
  file_.emplace(folder, step + 1);
  file_->add_text("config", verbatim(config_toml(config)), step);
  file_->flush();
}

bool Telemetry::scalars_due(const StepRecord& record, int64_t steps) const {
  const int64_t every =
      config_.scalars_every > 0 ? config_.scalars_every : (steps + points_per_curve - 1) / points_per_curve;
  return record.val_loss || record.step == steps || record.step % std::max<int64_t>(every, 1) == 0;
}

bool Telemetry::histograms_due(int64_t step) const {
  return file_ && config_.histograms_every > 0 && step % config_.histograms_every == 0;
}

GradientObserver Telemetry::gradient_observer(int64_t step) {
  if (!histograms_due(step)) return {};
  return [this, step](const TensorList& gradients, double scale) {
    write_histograms("gradients", gradients, scale, step);
  };
}

void Telemetry::write(const StepRecord& record, int64_t steps, const TensorList& weights) {
  if (!file_) return;
  if (scalars_due(record, steps)) write_scalars(record);
  if (histograms_due(record.step)) write_histograms("weights", weights, 1.0, record.step);
  file_->flush();
}

void Telemetry::write_scalars(const StepRecord& record) {
  file_->add_scalar("train/loss", record.loss, record.step);
  file_->add_scalar("train/lr", record.lr, record.step);
  file_->add_scalar("train/grad_norm", record.grad_norm, record.step);
  file_->add_scalar("train/tokens_per_second", record.tokens_per_second, record.step);
  if (record.val_loss) write_validation(*record.val_loss, record.step);
}

void Telemetry::write_validation(double loss, int64_t step) {
  file_->add_scalar("val/loss", loss, step);
  file_->add_scalar("val/perplexity", perplexity(loss), step);
  if (bytes_per_token_) file_->add_scalar("val/bits_per_byte", bits_per_byte(loss, *bytes_per_token_), step);
}

void Telemetry::write_first_validation(double loss) {
  if (!file_) return;
  write_validation(loss, 0);
  file_->flush();
}

void Telemetry::write_histograms(const char* group, const TensorList& tensors, double scale, int64_t step) {
  std::vector<Histogram> histograms(tensors.size());
  parallel_for(static_cast<int64_t>(tensors.size()), 1, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      histograms[i].add(tensors[i].tensor, scale);
    }
  });
  for (size_t i = 0; i < tensors.size(); ++i) {
    file_->add_histogram(fmt::format("{}/{}", group, tensors[i].name), histograms[i], step);
  }
}

void Telemetry::write_samples(std::span<const ReportSample> samples, int64_t step) {
  if (!file_) return;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string tag = i == 0 ? "samples/text" : fmt::format("samples/text_{}", i + 1);
    file_->add_text(tag, verbatim(samples[i].prompt + samples[i].text), step);
  }
  file_->flush();
}

}  // namespace cladtorch::train
