// The equation of einsum.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cladtorch/tensor/tensor.h"

namespace cladtorch::detail {

/// A letter, or the number of a dimension of "..." counted from the right, plus first_of_ellipsis.
using Letters = std::vector<int>;
inline constexpr int first_of_ellipsis = 256;

struct Equation {
  std::vector<Letters> operands;
  Letters result;
  std::map<int, int64_t> sizes;  ///< the largest of a letter; an operand may have 1 instead

  /// Throws Error for what does not fit.
  Equation(const std::string& text, const std::vector<Tensor>& x);
};

inline bool has(const Letters& letters, int letter) {
  for (int other : letters)
    if (other == letter) return true;
  return false;
}

}  // namespace cladtorch::detail
