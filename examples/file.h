// Files that the examples write.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace examples {

/// Open for writing while it lives; the program ends if that cannot be.
struct File {
  explicit File(const std::string& path) : file(std::fopen(path.c_str(), "w")) {
    if (!file) {
      std::fprintf(stderr, "error: cannot write %s\n", path.c_str());
      std::exit(1);
    }
  }
  ~File() { std::fclose(file); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::FILE* file;
};

}  // namespace examples
