#include "ops/pointwise/pointwise_on_device.h"

#include "cuda/pointwise.cuh"

namespace cladtorch::cuda {
namespace {

/// f of each element, read and written one at a time: one kernel where the packs of pointwise() have two.
template <Write write, class Out, class F, class... In>
void one_at_a_time(Device device, int64_t n, Out* out, F f, const In*... in) {
  launch(device, pointwise_kernel<1, write, Out, F, In...>,
         Grid(ceil_div(n, pointwise_threads), pointwise_threads), n, out, f, in...);
}

template <class F>
void value(const void* f, const Tensor& x, const GradientTarget& y) {
  const detail::ValueOf<F> value{*static_cast<const F*>(f)};
  detail::dispatch_real(F::name, x.dtype(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, double>) {
      one_at_a_time<Write::store>(x.device(), x.numel(), y.data<T>(), value, x.device_data<T>());
    } else {
      pointwise(x.device(), x.numel(), y.data<T>(), value, x.device_data<T>());
    }
  });
}

/// The derivative of the backward pass is as fast as it can be; those that forward mode and parameters need,
/// and all of doubles, are small.
template <class F, detail::Slope which>
void slope(const F& f, const Tensor& at, const Tensor& d_y, const GradientTarget& d_x) {
  const detail::SlopeOf<F, which> slope{f};
  detail::dispatch_real(F::name, at.dtype(), [&]<class T>(T) {
    detail::write_to<T>(d_x, [&](auto* to, bool add) {
      with_write(add, [&](auto write) {
        const T *const x = at.device_data<T>(), *const d = d_y.device_data<T>();
        if constexpr (which == detail::Slope::of_backward && !std::is_same_v<T, double>) {
          pointwise<decltype(write)::value>(at.device(), at.numel(), to, slope, x, d);
        } else {
          one_at_a_time<decltype(write)::value>(at.device(), at.numel(), to, slope, x, d);
        }
      });
    });
  });
}

template <class F>
void any_slope(const void* parameters, detail::Slope which, const Tensor& at, const Tensor& d_y,
               const GradientTarget& d_x) {
  using enum detail::Slope;
  const F& f = *static_cast<const F*>(parameters);
  constexpr int count = functions::parameter_count<F>;
  if (which == of_backward || (which == first && !functions::HasSlopeOfResult<F>)) {
    return slope<F, of_backward>(f, at, d_y, d_x);
  }
  if (which == first) {
    if constexpr (functions::HasSlopeOfResult<F>) slope<F, first>(f, at, d_y, d_x);
  } else if (which == second) {
    slope<F, second>(f, at, d_y, d_x);
  } else if (which == by_parameter) {
    if constexpr (count > 0) slope<F, by_parameter>(f, at, d_y, d_x);
  } else if constexpr (count > 1) {
    slope<F, by_second_parameter>(f, at, d_y, d_x);
  }
}

#define CLADTORCH_DEVICE_CODE(F)                                                                             \
  const detail::DeviceFunctionCode value_of_##F(detail::value_on_device<functions::F>, value<functions::F>); \
  const detail::DeviceFunctionCode slope_of_##F(detail::slope_on_device<functions::F>,                       \
                                                any_slope<functions::F>);
CLADTORCH_FUNCTIONS(CLADTORCH_DEVICE_CODE)

}  // namespace
}  // namespace cladtorch::cuda
