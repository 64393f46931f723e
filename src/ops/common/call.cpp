#include "ops/common/call.h"

namespace cladtorch::detail {

void Call::refuse(const char* operation, std::initializer_list<Operand> operands, const Operand& one) {
  const Tensor& x = one.tensor;
  require(x.defined(), operation, ": ", one.name, " is undefined");
  for (const Operand& other : operands) {
    const Tensor& z = other.tensor;
    if (!z.defined()) continue;
    require(x.device() == z.device(), operation, ": devices differ: ", other.name, " is on ", z.device(),
            ", ", one.name, " is on ", x.device(), "; copy with to(device)");
    require(x.dtype() == z.dtype() || other.kind == Operand::independent, operation,
            ": dtypes differ: ", other.name, " is ", z.dtype(), ", ", one.name, " is ", x.dtype(),
            "; convert with to()");
  }
  fail(operation, ": ", one.name, " does not fit the other operands");
}

}  // namespace cladtorch::detail
