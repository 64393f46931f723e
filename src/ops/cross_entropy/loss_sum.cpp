#include "cladtorch/ops/arithmetic.h"
#include "cladtorch/ops/loss.h"
#include "cladtorch/tensor/factories.h"
#include "cladtorch/tensor/recorder.h"

namespace cladtorch {

LossSum::LossSum(DType dtype, Device device)
    : total(gradient_buffer_like(Tensor::empty({}, dtype, device))), weight(ones({}, dtype, device)) {}

void LossSum::add(const Tensor& loss) const {
  const NotRecorded constant;
  Tensor sum = total;
  sum.accumulate(mul(loss, weight));
}

}  // namespace cladtorch
