// Rotary position embedding. Source: Su et al., "RoFormer: enhanced transformer with rotary position
// embedding", 2021.
#pragma once

#include <memory>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch {

/// How frequencies change for sequences longer than those of pretraining.
enum class RotaryScaling {
  none,
  linear,   ///< all are divided by `factor`. Source: Chen et al., "Position interpolation", 2023
  dynamic,  ///< like none; transformers' dynamic NTK scaling is the same up to the model's longest sequence
  llama3,   ///< divides low ones by `factor` and keeps high ones, with a ramp between (Llama 3.1)
  yarn,     ///< the same by channel, and scales queries and keys. Source: Peng et al., "YaRN", 2023
};

struct RotaryConfig {
  double theta = 10000;  ///< frequency i of a head of size D is theta^(-2i/D)
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;
  // For llama3, a frequency is low, and so is scaled, if its wavelength is above original_positions /
  // low_frequency_factor, and high if it is below original_positions / high_frequency_factor.
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  int64_t original_positions = 8192;  ///< of yarn too
  // For yarn, the ramp is between the channels that turn beta_fast and beta_slow times in original_positions,
  // rounded outwards to whole channels if `truncate`. Cosines and sines are multiplied by attention_factor; 0
  // means the paper's, yarn_magnitude(factor).
  double beta_fast = 32;
  double beta_slow = 1;
  bool truncate = true;
  double attention_factor = 0;
};

/// 0.1 weight ln(factor) + 1, or 1 for a factor up to 1.
double yarn_magnitude(double factor, double weight = 1);

/// Throws Error naming the field if the configuration is not valid.
void validate(const RotaryConfig& config);

/// The angles per position of the pairs of a head. They are constants of a model, so the type carries no
/// derivative. Copies share the numbers.
class RotaryFrequencies {
 public:
  RotaryFrequencies() = default;
  /// head_size is even; throws Error otherwise, and if the configuration is not valid.
  RotaryFrequencies(const RotaryConfig& config, int64_t head_size);

  /// The number of pairs of a head, D / 2; 0 if default-constructed.
  int64_t pairs() const;
  /// Angle per position of pair i, in float32 as the implementations that checkpoints were trained with.
  float operator[](int64_t i) const;
  /// The factor of cosines and sines, which is 1 except for yarn.
  float magnitude() const;

 private:
  struct Values;
  std::shared_ptr<const Values> values_;
};

/// Cosines and sines, times the magnitude, of the angles at positions first .. first + length - 1: float32
/// [length, D], in each row the cosines of all pairs, then the sines. Throws Error for more than 256 pairs on
/// a CUDA device.
Tensor rotary_table(const RotaryFrequencies& frequencies, int64_t first, int64_t length, Device device = {});

/// Rotates each head of x [B, T, H D] by the angles of its position: channels i and D/2 + i of a head are the
/// two coordinates of pair i (the half-split layout of Hugging Face's Llama). `table` [T, D] is the result
/// of rotary_table; x is float32, float64 or bfloat16. Throws Error if shapes do not fit.
Tensor rotary_embedding(const Tensor& x, const Tensor& table);

}  // namespace cladtorch

namespace clad::custom_derivatives::cladtorch {
using ::cladtorch::Tensor;

/// Rotates back, with the same magnitude. The angles are constants, so this throws Error if a derivative with
/// respect to `table` is wanted.
void rotary_embedding_pullback(CLAD_UNUSED const Tensor& x, const Tensor& table, Tensor d_y, Tensor* d_x,
                               Tensor* d_table);
}  // namespace clad::custom_derivatives::cladtorch
