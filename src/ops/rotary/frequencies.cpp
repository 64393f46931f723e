#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "cladtorch/ops/count.h"
#include "cladtorch/ops/rotary.h"
#include "cladtorch/tensor/parallel.h"
#include "ops/rotary/rotary_on_device.h"

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

/// The pair, as a fraction, that turns `turns` times in the positions of pretraining.
double pair_that_turns(const RotaryConfig& config, int64_t head_size, double turns) {
  return static_cast<double>(head_size) *
         std::log(static_cast<double>(config.original_positions) / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(config.theta));
}

/// How much of pair i's frequency YaRN keeps, from 0 to 1.
double kept_by_yarn(const RotaryConfig& config, int64_t head_size, int64_t i) {
  double low = pair_that_turns(config, head_size, config.beta_fast),
         high = pair_that_turns(config, head_size, config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(head_size - 1));
  constexpr double step = 0.001;  // of a ramp without width, in transformers
  if (low == high) high += step;
  return 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
}

/// The frequency of pair i of a head.
double scaled(const RotaryConfig& config, int64_t head_size, int64_t i, double frequency) {
  switch (config.scaling) {
    case RotaryScaling::none:
    case RotaryScaling::dynamic:
      return frequency;
    case RotaryScaling::linear:
      return frequency / config.factor;
    case RotaryScaling::llama3:
      return llama3_frequency(config, frequency);
    case RotaryScaling::yarn: {
      const double kept = kept_by_yarn(config, head_size, i);
      return (1 - kept) * frequency / config.factor + kept * frequency;
    }
  }
  return frequency;
}

}  // namespace

struct RotaryFrequencies::Values {
  std::vector<float> per_position;
  float magnitude = 1;
};

double yarn_magnitude(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

namespace {

void validate_yarn(const RotaryConfig& config) {
  const auto check = [](const char* field, double value, double least) {
    require(value > least && std::isfinite(value), "RotaryConfig: ", field, " must be above ", least,
            " for yarn, got ", value);
  };
  check("theta", config.theta, 1);
  check("beta_fast", config.beta_fast, 0);
  check("beta_slow", config.beta_slow, 0);
  require(config.attention_factor >= 0 && std::isfinite(config.attention_factor),
          "RotaryConfig: attention_factor must be positive, or 0 for the paper's, got ",
          config.attention_factor);
}

}  // namespace

void validate(const RotaryConfig& config) {
  const auto positive = [](const char* field, double value) {
    require(value > 0 && std::isfinite(value), "RotaryConfig: ", field, " must be positive, got ", value);
  };
  positive("theta", config.theta);
  if (config.scaling == RotaryScaling::none) return;
  positive("factor", config.factor);
  if (config.scaling == RotaryScaling::linear || config.scaling == RotaryScaling::dynamic) return;
  require(config.original_positions > 0, "RotaryConfig: original_positions must be positive, got ",
          config.original_positions);
  if (config.scaling == RotaryScaling::yarn) return validate_yarn(config);
  positive("low_frequency_factor", config.low_frequency_factor);
  require(config.high_frequency_factor > config.low_frequency_factor,
          "RotaryConfig: high_frequency_factor must be above low_frequency_factor, got ",
          config.high_frequency_factor, " and ", config.low_frequency_factor);
}

RotaryFrequencies::RotaryFrequencies(const RotaryConfig& config, int64_t head_size) {
  validate(config);
  require(head_size > 0 && head_size % 2 == 0, "RotaryFrequencies: the head size must be even, got ",
          head_size);
  auto values = std::make_shared<Values>();
  for (int64_t i = 0; i < head_size / 2; ++i) {
    const double frequency =
        std::pow(config.theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_size));
    values->per_position.push_back(static_cast<float>(scaled(config, head_size, i, frequency)));
  }
  if (config.scaling == RotaryScaling::yarn) {
    const double given = config.attention_factor;
    values->magnitude = static_cast<float>(given > 0 ? given : yarn_magnitude(config.factor));
  }
  values_ = std::move(values);
}

int64_t RotaryFrequencies::pairs() const {
  return values_ ? static_cast<int64_t>(values_->per_position.size()) : 0;
}

float RotaryFrequencies::operator[](int64_t i) const { return values_->per_position[static_cast<size_t>(i)]; }

float RotaryFrequencies::magnitude() const { return values_ ? values_->magnitude : 1; }

Tensor rotary_table(const RotaryFrequencies& frequencies, int64_t first, int64_t length, Device device) {
  const int64_t half = frequencies.pairs();
  require(half > 0, "rotary_table: the frequencies are undefined");
  require(first >= 0 && length >= 0, "rotary_table: expected positions from 0 on, got ", length, " from ",
          first, " on");
  detail::count_op();
  Tensor table = Tensor::empty({length, 2 * half}, DType::float32, device);
  if (table.is_cuda()) {
    require(half <= detail::most_pairs_on_device, "rotary_table: on a CUDA device heads have up to ",
            detail::most_pairs_on_device, " pairs, got ", half);
    detail::rotary_table_on_device(frequencies, first, table);
    return table;
  }
  float* const to = table.data<float>();
  const float magnitude = frequencies.magnitude();
  parallel_for(length, 64, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const auto position = static_cast<float>(first + t);
      for (int64_t i = 0; i < half; ++i) {
        const double angle = static_cast<double>(position * frequencies[i]);
        to[t * 2 * half + i] = magnitude * static_cast<float>(std::cos(angle));
        to[t * 2 * half + half + i] = magnitude * static_cast<float>(std::sin(angle));
      }
    }
  });
  return table;
}

}  // namespace cladtorch
