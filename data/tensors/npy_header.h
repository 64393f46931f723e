// The Python literal at the beginning of an .npy file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cladtorch::data {

struct NpyHeader {
  std::string type;  ///< as NumPy spells it: <f4
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Throws Error that begins with `name` if NumPy does not write such a header.
NpyHeader parse_npy_header(const std::string& name, std::string_view text);

}  // namespace cladtorch::data
