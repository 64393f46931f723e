// Settings of NVIDIA GPUs.
#pragma once

#include <atomic>

namespace cladtorch::cuda {

inline std::atomic<bool> tf32_is_allowed = false;  ///< allow_tf32()

/// Whether products of float32 matrices on CUDA devices may round their operands to TF32, which keeps 10 bits
/// of 23: tensor cores then compute them about eight times as fast. Sums stay float32. The setting holds for
/// the whole process and is off at first.
inline void allow_tf32(bool allow) { tf32_is_allowed = allow; }
inline bool tf32_allowed() { return tf32_is_allowed; }

}  // namespace cladtorch::cuda
