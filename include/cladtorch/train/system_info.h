// Describes the program and the machine.
#pragma once

#include <string>
#include <vector>

namespace cladtorch::train {

/// Of the project: "1.2.3".
std::string version();
/// The compiler, the build type, and whether the plugin is included.
std::string build_description();
/// For --version: a line "cladtorch 1.2.3", then what the program was built with and which instructions it
/// chose on this processor.
std::string version_text();
/// The processor's own name, or "unknown processor".
std::string cpu_name();
/// The vector extensions that matter here and that this processor has: "avx2", "fma", "avx512f", ...
std::vector<std::string> cpu_features();
/// Peak resident memory of this process, in bytes.
double peak_resident_bytes();
/// Wall-clock seconds since this process was started by the system.
double seconds_since_process_start();

}  // namespace cladtorch::train
