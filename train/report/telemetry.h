// What a session measures, for TensorBoard.
#pragma once

#include <optional>
#include <span>

#include "cladtorch/train/config.h"
#include "cladtorch/train/report.h"
#include "cladtorch/train/tensorboard.h"
#include "cladtorch/train/trainer.h"

namespace cladtorch::train {

/// Writes one event file a session into the folder of the run; with log.tensorboard = false, nothing.
class Telemetry {
 public:
  /// For a session that begins at `step`. `bytes_per_token`, where known, gives bits per byte.
  Telemetry(const TrainConfig& config, const std::filesystem::path& folder, int64_t step,
            std::optional<double> bytes_per_token);

  /// To be called with the gradient of `step`; empty where no histograms are due.
  GradientObserver gradient_observer(int64_t step);
  /// What is due after a step of a run of `steps`: its scalars, the histograms of the updated weights.
  void write(const StepRecord& record, int64_t steps, const TensorList& weights);
  /// An evaluation before the first step.
  void write_first_validation(double loss);
  void write_samples(std::span<const ReportSample> samples, int64_t step);

 private:
  bool scalars_due(const StepRecord& record, int64_t steps) const;
  bool histograms_due(int64_t step) const;
  void write_scalars(const StepRecord& record);
  void write_validation(double loss, int64_t step);
  void write_histograms(const char* group, const TensorList& tensors, double scale, int64_t step);

  TrainConfig::Log config_;
  std::optional<double> bytes_per_token_;
  std::optional<EventFile> file_;
};

}  // namespace cladtorch::train
