// What the benchmark of kernels runs: each operation of a training step with the shapes of GPT-2.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::bench {

using Tensors = std::vector<Tensor>;

/// Normal values, or where `below` is positive int32 numbers from 0 to below - 1.
struct Operand {
  Shape shape;
  double deviation = 1;
  int64_t below = 0;
};
using Operands = std::vector<Operand>;

/// An operation on operands that it has been given. What is prepared before is not timed.
struct Kernel {
  std::string name;
  std::function<Operands(int64_t rows)> operands;
  /// From operands on a device to what is timed, which returns the results.
  std::function<std::function<Tensors()>(const Tensors& operands)> prepare;
  int64_t rows = 0;        ///< timed
  int64_t rows_check = 0;  ///< compared with the CPU
  double flops = 0;        ///< of the timed rows; 0: bound by memory
  /// Read and written, for the timed rows; 0: every operand and every result once.
  double bytes = 0;
  double tolerance = 2e-2;  ///< of results in bfloat16, relative to the largest
  bool optional = false;    ///< left out with a line where it fails
};

/// All of them, for bfloat16, with so many channels.
std::vector<Kernel> kernels(const std::vector<int64_t>& widths);

/// Those of causal attention, by each implementation that is there.
void add_attention(std::vector<Kernel>& list);

}  // namespace cladtorch::bench
