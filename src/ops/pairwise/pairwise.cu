#include "ops/pairwise/pairwise_on_device.h"

#include "cuda/pointwise.cuh"

namespace cladtorch::cuda {
namespace {

template <class F>
void value(const Tensor& a, const Tensor& b, const Shape& shape, const GradientTarget& y) {
  const detail::StridedLoop<3> loop(
      shape, {contiguous_strides(shape), detail::broadcast_strides(a.shape(), a.strides(), shape),
              detail::broadcast_strides(b.shape(), b.strides(), shape)});
  detail::dispatch_real(F::name, a.dtype(), [&]<class T>(T) {
    strided<Write::store>(a.device(), loop, y.data<T>(), F{}, a.device_data<T>(), b.device_data<T>());
  });
}

template <class F, detail::PairSlope which>
void slope(const Tensor& a, const Tensor& b, const Tensor& d_y, const GradientTarget& d) {
  const Shape& shape = d_y.shape();
  const detail::StridedLoop<4> loop(
      shape, {contiguous_strides(shape), detail::broadcast_strides(a.shape(), a.strides(), shape),
              detail::broadcast_strides(b.shape(), b.strides(), shape), contiguous_strides(shape)});
  detail::dispatch_real(F::name, a.dtype(), [&]<class T>(T) {
    detail::write_to<T>(d, [&](auto* to, bool add) {
      with_write(add, [&](auto write) {
        strided<decltype(write)::value>(a.device(), loop, to, detail::PairSlopeOf<F, which>{},
                                        a.device_data<T>(), b.device_data<T>(), d_y.device_data<T>());
      });
    });
  });
}

template <class F>
void any_slope(detail::PairSlope which, const Tensor& a, const Tensor& b, const Tensor& d_y,
               const GradientTarget& d) {
  using enum detail::PairSlope;
  switch (which) {
    case first:
      return slope<F, first>(a, b, d_y, d);
    case second:
      return slope<F, second>(a, b, d_y, d);
    case first_first:
      return slope<F, first_first>(a, b, d_y, d);
    case first_second:
      return slope<F, first_second>(a, b, d_y, d);
    case second_second:
      return slope<F, second_second>(a, b, d_y, d);
  }
}

#define CLADTORCH_DEVICE_CODE(F)                                                            \
  const detail::DeviceFunctionCode value_of_##F(detail::pair_value_on_device<functions::F>, \
                                                value<functions::F>);                       \
  const detail::DeviceFunctionCode slope_of_##F(detail::pair_slope_on_device<functions::F>, \
                                                any_slope<functions::F>);
CLADTORCH_FUNCTIONS_OF_TWO(CLADTORCH_DEVICE_CODE)

}  // namespace
}  // namespace cladtorch::cuda
