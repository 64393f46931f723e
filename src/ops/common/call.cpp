#include "ops/common/call.h"

namespace cladtorch::detail {

Call::Call(const char* operation, std::initializer_list<Operand> operands) : operation_(operation) {
  const Operand *placed = nullptr, *typed = nullptr;  // what the others are compared with
  for (const Operand& one : operands) {
    const Tensor& x = one.tensor;
    if (!x.defined() && one.kind == Operand::optional) continue;
    require(x.defined(), operation, ": ", one.name, " is undefined");
    if (!placed) placed = &one;
    require(x.device() == placed->tensor.device(), operation, ": devices differ: ", placed->name, " is on ",
            placed->tensor.device(), ", ", one.name, " is on ", x.device(), "; copy with to(device)");
    if (one.kind == Operand::independent) continue;
    require(!typed || x.dtype() == typed->tensor.dtype(), operation,
            ": dtypes differ: ", typed ? typed->name : "", " is ", typed ? typed->tensor.dtype() : x.dtype(),
            ", ", one.name, " is ", x.dtype(), "; convert with to()");
    frozen_ = x.is_frozen() && (frozen_ || !typed);
    if (!typed) typed = &one;
  }
  device_ = placed->tensor.device();
  dtype_ = (typed ? typed : placed)->tensor.dtype();
}

}  // namespace cladtorch::detail
