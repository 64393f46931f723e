// The code of pointwise_on_device.h: a .cu file has one object for each function that it brings to devices.
//
//     const MapCode<Negate> negated;
#pragma once

#include "cuda/pointwise.cuh"
#include "ops/common/pointwise_on_device.h"

namespace cladtorch::cuda {

template <class F>
void map(const F& f, const Tensor& x, const GradientTarget& out) {
  detail::dispatch_real(F::name, x.dtype(), [&]<class T>(T) {
    detail::write_to<T>(out, [&](auto* to, bool add) {
      with_write(add, [&](auto write) {
        pointwise<decltype(write)::value>(x.device(), x.numel(), to, f, x.device_data<T>());
      });
    });
  });
}

template <class F>
void map2(const F& f, const Tensor& x, const Tensor& z, const GradientTarget& out) {
  detail::dispatch_real(F::name, x.dtype(), [&]<class T>(T) {
    detail::write_to<T>(out, [&](auto* to, bool add) {
      with_write(add, [&](auto write) {
        pointwise<decltype(write)::value>(x.device(), x.numel(), to, f, x.device_data<T>(),
                                          z.device_data<T>());
      });
    });
  });
}

template <class F>
void zip(const F& f, const Shape& shape, const Tensor& a, const Tensor& b, const GradientTarget& out) {
  const detail::StridedLoop<3> loop(
      shape, {contiguous_strides(shape), detail::broadcast_strides(a.shape(), a.strides(), shape),
              detail::broadcast_strides(b.shape(), b.strides(), shape)});
  detail::dispatch_real(F::name, a.dtype(), [&]<class T>(T) {
    detail::write_to<T>(out, [&](auto* to, bool add) {
      with_write(add, [&](auto write) {
        strided<decltype(write)::value>(a.device(), loop, to, f, a.device_data<T>(), b.device_data<T>());
      });
    });
  });
}

template <class F>
struct MapCode {
  MapCode() { detail::map_on_device<F>.set(map<F>); }
};
template <class F>
struct Map2Code {
  Map2Code() { detail::map2_on_device<F>.set(map2<F>); }
};
template <class F>
struct ZipCode {
  ZipCode() { detail::zip_on_device<F>.set(zip<F>); }
};

}  // namespace cladtorch::cuda
