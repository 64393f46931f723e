#include "ops/float8/float8_on_device.h"

namespace cladtorch::detail {

Float8OnDevice::Float8OnDevice(const Tensor& x, const Float8Scaling& scaling, Float8Role role,
                               Float8Layouts layouts) {
  const Device device = x.device();
  const DType format = role == Float8Role::cotangent ? DType::float8_e5m2 : DType::float8_e4m3;
  if (layouts != Float8Layouts::columns) rows_ = Tensor::empty(x.shape(), format, device);
  if (layouts != Float8Layouts::rows) columns_ = Tensor::empty({x.size(1), x.size(0)}, format, device);
  inverse_ = Tensor::empty({1}, DType::float32, device);
  const bool is_first = role == Float8Role::cotangent || layouts == Float8Layouts::rows;
  Tensor measured = Tensor::empty({1}, DType::float32, device);
  round_to_float8_on_device(x.contiguous(), float8_use(scaling, role, is_first), measured,
                            rows_.defined() ? &rows_ : nullptr, columns_.defined() ? &columns_ : nullptr,
                            inverse_);
}

}  // namespace cladtorch::detail
