// What the device that is imitated can do: that of compute capability 9.0, with few multiprocessors, so that
// kernels which fill the device with blocks stay quick.
#pragma once

#include <cstddef>

namespace cuda_host::detail {

constexpr int multiprocessors = 4;
constexpr int most_threads_per_block = 1024;
constexpr int most_threads_per_multiprocessor = 2048;
constexpr int most_blocks_per_multiprocessor = 32;
constexpr unsigned most_blocks_x = 2147483647;
constexpr unsigned most_blocks_yz = 65535;
constexpr unsigned most_threads_z = 64;
constexpr size_t shared_bytes_without_asking = 48 * 1024;
constexpr size_t most_shared_bytes = 227 * 1024;
constexpr size_t shared_bytes_per_multiprocessor = 228 * 1024;
constexpr size_t reserved_shared_bytes_per_block = 1024;

}  // namespace cuda_host::detail
