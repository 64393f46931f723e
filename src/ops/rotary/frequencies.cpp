#include <cmath>
#include <numbers>
#include <vector>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/rotary.h"
#include "cladtorch/tensor/parallel.h"

namespace cladtorch {
namespace {

/// The frequency that Llama 3.1 has instead of this one.
double llama3_frequency(const RotaryConfig& config, double frequency) {
  const double turns = static_cast<double>(config.original_positions) * frequency / (2 * std::numbers::pi);
  const double low = config.low_frequency_factor, high = config.high_frequency_factor;
  if (turns < low) return frequency / config.factor;
  if (turns > high) return frequency;
  const double kept = (turns - low) / (high - low);
  return (1 - kept) * frequency / config.factor + kept * frequency;
}

double scaled(const RotaryConfig& config, double frequency) {
  switch (config.scaling) {
    case RotaryScaling::none:
      return frequency;
    case RotaryScaling::linear:
      return frequency / config.factor;
    case RotaryScaling::llama3:
      return llama3_frequency(config, frequency);
  }
  return frequency;
}

}  // namespace

struct RotaryFrequencies::Values {
  std::vector<float> per_position;
};

void validate(const RotaryConfig& config) {
  const auto positive = [](const char* field, double value) {
    require(value > 0 && std::isfinite(value), "RotaryConfig: ", field, " must be positive, got ", value);
  };
  positive("theta", config.theta);
  if (config.scaling == RotaryScaling::none) return;
  positive("factor", config.factor);
  if (config.scaling == RotaryScaling::linear) return;
  positive("low_frequency_factor", config.low_frequency_factor);
  require(config.high_frequency_factor > config.low_frequency_factor,
          "RotaryConfig: high_frequency_factor must be above low_frequency_factor, got ",
          config.high_frequency_factor, " and ", config.low_frequency_factor);
  require(config.original_positions > 0, "RotaryConfig: original_positions must be positive, got ",
          config.original_positions);
}

RotaryFrequencies::RotaryFrequencies(const RotaryConfig& config, int64_t head_size) {
  validate(config);
  require(head_size > 0 && head_size % 2 == 0, "RotaryFrequencies: the head size must be even, got ",
          head_size);
  auto values = std::make_shared<Values>();
  for (int64_t i = 0; i < head_size / 2; ++i) {
    const double frequency =
        std::pow(config.theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_size));
    values->per_position.push_back(static_cast<float>(scaled(config, frequency)));
  }
  values_ = std::move(values);
}

int64_t RotaryFrequencies::pairs() const {
  return values_ ? static_cast<int64_t>(values_->per_position.size()) : 0;
}

float RotaryFrequencies::operator[](int64_t i) const { return values_->per_position[static_cast<size_t>(i)]; }

Tensor rotary_table(const RotaryFrequencies& frequencies, int64_t first, int64_t length) {
  const int64_t half = frequencies.pairs();
  require(half > 0, "rotary_table: the frequencies are undefined");
  require(first >= 0 && length >= 0, "rotary_table: expected positions from 0 on, got ", length, " from ",
          first, " on");
  detail::count_op();
  Tensor table = Tensor::empty({length, 2 * half}, DType::float32);
  float* const to = table.data<float>();
  parallel_for(length, 64, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const auto position = static_cast<float>(first + t);
      for (int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(position * frequencies[i]);
        to[t * 2 * half + i] = static_cast<float>(std::cos(angle));
        to[t * 2 * half + half + i] = static_cast<float>(std::sin(angle));
      }
    }
  });
  return table;
}

}  // namespace cladtorch
