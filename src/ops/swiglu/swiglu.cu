#include "ops/common/pointwise_on_device.cuh"
#include "ops/swiglu/swiglu_functions.h"
#include "ops/swiglu/swiglu_on_device.h"

namespace cladtorch::cuda {
namespace {

const Map2Code<detail::Swiglu> value;

template <class Out>
struct Gradient {
  Out* data = nullptr;  ///< null if it is not wanted
  bool add = false;

  template <int N>
  __device__ void put(int64_t first, const Computed<Out> (&d)[N]) const {
    if (data == nullptr) return;
    Pack<Out, N>& to = *reinterpret_cast<Pack<Out, N>*>(data + first);
    Pack<Out, N> result{};
    if (add) result = to;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const Computed<Out> before = add ? read(result.values[i]) : Computed<Out>(0);
      result.values[i] = converted<Out>(before + d[i]);
    }
    to = result;
  }
};

/// Reads three elements and writes two: each operand once.
template <int N, class T, class GateOut, class UpOut>
__global__ void __launch_bounds__(pointwise_threads)
    swiglu_pullback_kernel(int64_t n, const T* gate, const T* up, const T* d_y, Gradient<GateOut> d_gate,
                           Gradient<UpOut> d_up) {
  using C = Computed<T>;
  const int64_t first = (int64_t{blockIdx.x} * pointwise_threads + threadIdx.x) * N;
  if (first >= n) return;
  const auto pack_of = [first](const T* from) { return *reinterpret_cast<const Pack<T, N>*>(from + first); };
  const Pack<T, N> g = pack_of(gate), u = pack_of(up), d = pack_of(d_y);
  C to_gate[N], to_up[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const auto gradients =
        detail::swiglu_gradients<C>(read(g.values[i]), read(u.values[i]), read(d.values[i]));
    to_gate[i] = gradients.gate;
    to_up[i] = gradients.up;
  }
  d_gate.put(first, to_gate);
  d_up.put(first, to_up);
}

template <class T, class GateOut, class UpOut>
void run(Device device, int64_t n, const T* gate, const T* up, const T* d_y, Gradient<GateOut> d_gate,
         Gradient<UpOut> d_up) {
  constexpr int N = pack_size<T, GateOut, UpOut>;
  const bool packs = n % N == 0 && is_aligned<N>(gate) && is_aligned<N>(up) && is_aligned<N>(d_y) &&
                     is_aligned<N>(d_gate.data) && is_aligned<N>(d_up.data);
  const int width = packs ? N : 1;
  launch(device,
         packs ? swiglu_pullback_kernel<N, T, GateOut, UpOut> : swiglu_pullback_kernel<1, T, GateOut, UpOut>,
         Grid(ceil_div(n, int64_t{pointwise_threads} * width), pointwise_threads), n, gate, up, d_y, d_gate,
         d_up);
}

/// Calls f(Gradient<Out>) with the element type of the target, or of T without one.
template <class T, class F>
void with_gradient(const GradientTarget* target, F&& f) {
  if (target == nullptr) return f(Gradient<T>{});
  detail::write_to<T>(*target, [&]<class Out>(Out* data, bool add) { f(Gradient<Out>{data, add}); });
}

void swiglu_pullback(const Tensor& gate, const Tensor& up, const Tensor& d_y, const GradientTarget* d_gate,
                     const GradientTarget* d_up) {
  detail::dispatch_real("swiglu", gate.dtype(), [&]<class T>(T) {
    with_gradient<T>(d_gate, [&](auto to_gate) {
      with_gradient<T>(d_up, [&](auto to_up) {
        run(gate.device(), gate.numel(), gate.device_data<T>(), up.device_data<T>(), d_y.device_data<T>(),
            to_gate, to_up);
      });
    });
  });
}

const detail::DeviceFunctionCode swiglu_pullback_code(detail::swiglu_pullback_on_device, swiglu_pullback);

}  // namespace
}  // namespace cladtorch::cuda
