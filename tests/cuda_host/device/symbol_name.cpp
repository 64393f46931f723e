#include "device/symbol_name.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "fmt/format.h"

namespace cuda_host::detail {
namespace {
template <typename T>
std::vector<T> read(std::ifstream& file, uint64_t offset, size_t count) {
  std::vector<T> values(count);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return file ? values : std::vector<T>{};
}

// dladdr knows exported functions only, and a kernel is mostly a local one: the file's own table has both.
std::string find_in_file(const char* path, uint64_t address) {
  std::ifstream file(path, std::ios::binary);
  const auto headers = read<Elf64_Ehdr>(file, 0, 1);
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0) return "";
  const auto sections = read<Elf64_Shdr>(file, headers[0].e_shoff, headers[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto names = read<char>(file, strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym& symbol :
         read<Elf64_Sym>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
      if (is_function && symbol.st_value == address && symbol.st_name < names.size())
        return &names[symbol.st_name];
    }
  }
  return "";
}

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : symbol;
}
}  // namespace

std::string symbol_name(const void* function) {
  Dl_info info{};
  if (dladdr(function, &info) != 0) {
    if (info.dli_saddr == function) return demangle(info.dli_sname);
    const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
    const auto address = reinterpret_cast<uintptr_t>(function);
    for (const uint64_t value :
         {address - base, address}) {  // an executable at a fixed place has whole addresses
      const std::string symbol = find_in_file(info.dli_fname, value);
      if (!symbol.empty()) return demangle(symbol);
    }
  }
  return fmt::format("at {}", function);
}

}  // namespace cuda_host::detail
