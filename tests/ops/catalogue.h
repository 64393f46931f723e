// The catalogue of operations: what tests of all kinds need to know of each, so that gradients, bfloat16,
// frozen operands, PyTorch's values and devices are checked for every one of them.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cladtorch/testing/gradcheck.h"

namespace cladtorch::testing {

struct Operand {
  const char* name = "x";    ///< in the file of references
  double low = 0, high = 0;  ///< uniform between them; standard normal if they are equal
  int64_t classes = 0;  ///< int32 indices below this, without a derivative; the first of `targets` is ignored
};

struct Operation {
  std::string name;  ///< in the file of references, too
  std::vector<Operand> operands;
  /// The operands' shapes, for each case that is tested.
  std::vector<std::vector<Shape>> cases;
  Forward forward;  ///< as a user calls it
  Pullback pullback;
  /// What a pullback of bfloat16 loses besides rounding, relative to the cotangent, because it reads a result
  /// that has been rounded.
  double rounding = 0;
  bool rounds_once = true;  ///< false for what rounds as the operations do that it is made of
  /// Where operands of the first case may be frozen, each by itself.
  bool freezes = true;
  bool on_devices = true;
  // For those whose tangent is a function of its own: of the operands and their tangents.
  Forward tangent = nullptr;
  Pullback tangent_pullback = nullptr;

  /// Operands of one case, float64 and int32.
  Tensors draw(const std::vector<Shape>& shapes, uint64_t seed = 5) const;
};

inline void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

/// Every operation.
const std::vector<Operation>& catalogue();

// Its parts.
std::vector<Operation> functions_of_one();
std::vector<Operation> functions_of_two();
std::vector<Operation> operations_of_tensors();
std::vector<Operation> recurrent_operations();
std::vector<Operation> operations_on_images();
std::vector<Operation> operations_with_indices();
std::vector<Operation> operations_on_shapes();

/// An operation as a function of the operands that have derivatives; the others are fixed.
struct Bound {
  Forward forward;
  Pullback pullback;
  Tensors x;
};
Bound bound(const Operation& operation, const Tensors& x);

}  // namespace cladtorch::testing
