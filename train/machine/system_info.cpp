#include "cladtorch/train/system_info.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cladtorch/tensor/device.h"
#include "simd/kernels.h"
#include "tensor/device_memory.h"

namespace cladtorch::train {

std::string version() { return CLADTORCH_VERSION; }

namespace {

std::string compiler() {
#if defined(__clang__)
  std::string text = "clang " __clang_version__;
#else
  std::string text = "g++ " __VERSION__;
#endif
  text.erase(text.find_last_not_of(' ') + 1);  // some end so
#if defined(NDEBUG)
  return text + ", release";
#else
  return text + ", with assertions";
#endif
}

/// A plugin runs in the compiler that loads it, so it was built for the one that compiled this file.
std::string plugin() {
#if defined(CLADTORCH_WITH_CLAD)
  return fmt::format("clad for Clang {}", __clang_major__);
#else
  return "none";
#endif
}

std::string cuda() {
  if (!detail::built_with_cuda()) return "no";
  const int devices = cuda_device_count();
  return fmt::format("yes, {} device{} found", devices, devices == 1 ? "" : "s");
}

}  // namespace

std::string build_description() { return compiler() + ", plugin: " + plugin(); }

std::string version_text() {
  return fmt::format("cladtorch {}\ncompiler: {}\nplugin: {}\nSIMD: {}\nCUDA: {}", version(), compiler(),
                     plugin(), simd::kernels().name, cuda());
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::vector<std::string> cpu_features() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) features.push_back("avx2");
  if (__builtin_cpu_supports("fma")) features.push_back("fma");
  if (__builtin_cpu_supports("avx512f")) features.push_back("avx512f");
  if (__builtin_cpu_supports("avx512vnni")) features.push_back("avx512vnni");
  if (__builtin_cpu_supports("avx512bf16")) features.push_back("avx512bf16");
#endif
  return features;
}

double peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

double seconds_since_process_start() {
  // Field 22 of /proc/self/stat is the start time in clock ticks since boot; the name in field 2 may hold
  // spaces.
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double uptime = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  return uptime - std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace cladtorch::train
