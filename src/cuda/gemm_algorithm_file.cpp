#include "cuda/gemm_algorithm_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "cuda/check.h"
#include "cuda/stream.h"

namespace cladtorch::cuda {
namespace {

namespace fs = std::filesystem;

constexpr size_t words = std::extent_v<decltype(cublasLtMatmulAlgo_t::data)>;
constexpr size_t digits = 16;  // of a word

std::string text_of(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (const uint64_t word : algorithm.data)
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  return text;
}

std::optional<cublasLtMatmulAlgo_t> algorithm_of(const std::string& text) {
  if (text.size() != words * digits) return std::nullopt;
  cublasLtMatmulAlgo_t algorithm{};
  for (size_t i = 0; i < words; ++i) {
    const char *const begin = text.data() + i * digits, *const end = begin + digits;
    const auto [stopped, error] = std::from_chars(begin, end, algorithm.data[i], 16);
    if (error != std::errc() || stopped != end) return std::nullopt;
  }
  return algorithm;
}

/// Puts `text` into a file beside it first, so that a reader sees all or nothing of it.
bool replace_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return false;
  std::string temporary = path.string() + ".XXXXXX";
  const int file = mkstemp(temporary.data());
  if (file < 0) return false;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file, text.data() + written, text.size() - written);
    if (count <= 0) break;
    written += static_cast<size_t>(count);
  }
  const bool whole = written == text.size() && fsync(file) == 0;
  const bool closed = close(file) == 0;
  if (whole && closed) fs::rename(temporary, path, error);
  if (whole && closed && !error) return true;
  fs::remove(temporary, error);
  return false;
}

std::string machine_of(Device device) {
  cudaDeviceProp properties{};
  int driver = 0;
  CLADTORCH_CUDA_CALL(cudaGetDeviceProperties, &properties, device.index);
  CLADTORCH_CUDA_CALL(cudaDriverGetVersion, &driver);
  std::ostringstream out;
  out << properties.name << ", driver " << driver << ", cublasLt " << cublasLtGetVersion();
  return out.str();
}

}  // namespace

fs::path gemm_algorithm_path() {
  const auto folder = [](const char* name) -> fs::path {
    const char* const value = std::getenv(name);
    return value ? value : "";
  };
  fs::path cache = folder("XDG_CACHE_HOME");
  if (cache.is_relative()) cache = folder("HOME").empty() ? fs::path() : folder("HOME") / ".cache";
  return cache.empty() ? cache : cache / "cladtorch" / "cublaslt";
}

GemmAlgorithmFile::GemmAlgorithmFile(fs::path path, std::string machine)
    : path_(std::move(path)), machine_(std::move(machine)), known_(read()) {}

std::optional<cublasLtMatmulAlgo_t> GemmAlgorithmFile::find(const std::string& product) const {
  const auto line = known_.find(machine_ + '\t' + product);
  return line == known_.end() ? std::nullopt : algorithm_of(line->second);
}

void GemmAlgorithmFile::add(const std::string& product, const cublasLtMatmulAlgo_t& algorithm) {
  if (path_.empty()) return;
  Lines lines = read();
  lines[machine_ + '\t' + product] = text_of(algorithm);
  known_ = lines;
  write(lines);
}

GemmAlgorithmFile::Lines GemmAlgorithmFile::read() const {
  Lines lines;
  if (path_.empty()) return lines;
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.rfind('\t');
    if (tab == std::string::npos || !algorithm_of(line.substr(tab + 1))) continue;
    lines[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return lines;
}

void GemmAlgorithmFile::write(const Lines& lines) const {
  std::string text;
  for (const auto& [product, algorithm] : lines) text += product + '\t' + algorithm + '\n';
  replace_file(path_, text);
}

GemmAlgorithmFile& gemm_algorithm_file(Device device) {
  static std::map<int, GemmAlgorithmFile> files;
  const auto found = files.find(device.index);
  if (found != files.end()) return found->second;
  return files.try_emplace(device.index, gemm_algorithm_path(), machine_of(device)).first->second;
}

}  // namespace cladtorch::cuda
