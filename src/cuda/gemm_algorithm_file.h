// The algorithms that were timed, in a file, so that the next process need not time them again:
// $XDG_CACHE_HOME/cladtorch/cublaslt or ~/.cache/cladtorch/cublaslt. A line holds the GPU with the versions
// of driver and cuBLAS, the product, and the algorithm in hexadecimal digits, with tabs between. Lines that
// are not so are ignored, and so is a file that cannot be read or written: it saves time, no more.
#pragma once

#include <cublasLt.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cladtorch/tensor/dtype.h"

namespace cladtorch::cuda {

/// Where it lies; empty if the environment names no home.
std::filesystem::path gemm_algorithm_path();

class GemmAlgorithmFile {
 public:
  /// Reads the file. `machine` is what an algorithm is good for.
  GemmAlgorithmFile(std::filesystem::path path, std::string machine);

  std::optional<cublasLtMatmulAlgo_t> find(const std::string& product) const;
  /// Adds it to the file too, beside what other processes have written since.
  void add(const std::string& product, const cublasLtMatmulAlgo_t& algorithm);

 private:
  using Lines = std::map<std::string, std::string>;  // machine and product: algorithm

  Lines read() const;
  void write(const Lines& lines) const;

  std::filesystem::path path_;
  std::string machine_;
  Lines known_;
};

/// That of a device. One thread at a time.
GemmAlgorithmFile& gemm_algorithm_file(Device device);

}  // namespace cladtorch::cuda
