// A file of arrays, as each of the formats: IDX, plain or compressed, .npy, .npz and CSV.
#include <cstdint>
#include <filesystem>
#include <span>

#include "cladtorch/data/csv.h"
#include "cladtorch/data/idx.h"
#include "cladtorch/data/npy.h"
#include "cladtorch/error.h"
#include "tests/fuzz/memory_file.h"

namespace {

template <class Read>
void read(Read read, const std::filesystem::path& path) {
  try {
    read(path);
  } catch (const cladtorch::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace cladtorch;
  const fuzz::MemoryFile memory(std::span(bytes, size));
  const std::filesystem::path path = memory.path();
  read([](const auto& file) { data::read_idx(file); }, path);
  read([](const auto& file) { data::read_npy(file); }, path);
  read([](const auto& file) { data::read_npz(file); }, path);
  read([](const auto& file) { data::read_csv(file); }, path);
  return 0;
}
