// The norm of gradients and AdamW on CUDA devices, for all parameters at once, from numbers that the host
// need not know: a step ends without waiting for the device.
#pragma once

#include <vector>

#include "cladtorch/train/tensor_list.h"
#include "tensor/device_function.h"
#include "train/step/step_numbers.h"

namespace cladtorch::train {

/// The tensors of one parameter, by element type T; `rounded` is null or the bfloat16 copy.
struct OptimizerEntry {
  void* master = nullptr;
  const void* gradient = nullptr;
  void* first = nullptr;
  void* second = nullptr;
  bfloat16* rounded = nullptr;
  int64_t decayed = 0;

  friend bool operator==(const OptimizerEntry&, const OptimizerEntry&) = default;
};

/// A part of one parameter, for one block of threads.
struct OptimizerPiece {
  int64_t entry, begin, count;
};

/// Tables on the device: OptimizerEntry and OptimizerPiece as bytes in int32 tensors.
struct OptimizerTables {
  Tensor entries, pieces;
  int64_t piece_count = 0;
  DType dtype = DType::float32;  ///< of masters, moments and gradients

  /// Points to the tensors of these lists, which match; copies something only when one lies elsewhere than
  /// before. Writes the zeros of tensors that are marked zero.
  void point_to(const TensorList& masters, const TensorList& parameters, const TensorList& gradients,
                const TensorList& first, const TensorList& second);
  /// The same for gradients alone, whose norm is wanted.
  void point_to(const TensorList& gradients);

 private:
  template <class Entry>
  void point_to(const TensorList& list, Entry entry);

  std::vector<OptimizerEntry> listed_, wanted_;
};

/// Numbers of the host as a tensor of doubles there.
template <class Numbers>
Tensor to_device(const Numbers& numbers, Device device) {
  static_assert(sizeof(Numbers) % sizeof(double) == 0);
  const auto* const values = reinterpret_cast<const double*>(&numbers);
  return from_values<double>({sizeof(Numbers) / sizeof(double)}, {values, sizeof(Numbers) / sizeof(double)})
      .to(device);
}

struct AdamWConstants {
  double beta1, beta2, eps;
  bool stochastic_rounding;  ///< of the bfloat16 copies
};

/// sums[i] = sum of the squares of piece i of the gradients.
inline constinit detail::DeviceFunction<void(const OptimizerTables& tables, Tensor& sums)> squares_on_device{
    "norm"};

/// Fills `output` from `input`, the sum of the micro-batches' losses and the pieces' squares.
inline constinit detail::DeviceFunction<void(const Tensor& input, const Tensor& loss, const Tensor& sums,
                                             Tensor& output)>
    finish_step_on_device{"norm"};

/// One update of every parameter.
inline constinit detail::DeviceFunction<void(const OptimizerTables& tables, const AdamWConstants& constants,
                                             const Tensor& input, const Tensor& output)>
    adamw_on_device{"AdamW"};

}  // namespace cladtorch::train
