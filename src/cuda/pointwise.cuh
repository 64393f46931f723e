// Kernels that compute each element of the result from the elements at the same place.
#pragma once

#include <algorithm>
#include <utility>

#include "cladtorch/tensor/gradient_target.h"
#include "cuda/elements.cuh"
#include "cuda/launch.cuh"

namespace cladtorch::cuda {

/// What a kernel does with what lies in the result.
enum class Write { store, add };

inline constexpr int pointwise_threads = 256;

/// Elements that one thread computes: 16 bytes of the widest operand.
template <class... T>
inline constexpr int pack_size = static_cast<int>(16 / std::max({sizeof(T)...}));

template <Write write, class Out>
__device__ __forceinline__ void put(Out& to, Computed<Out> value) {
  if constexpr (write == Write::add) value += read(to);
  to = converted<Out>(value);
}

template <int N, Write write, class Out, class F, class... In>
__global__ void __launch_bounds__(pointwise_threads)
    pointwise_kernel(int64_t n, Out* out, F f, const In*... in) {
  const int64_t first = (int64_t{blockIdx.x} * pointwise_threads + threadIdx.x) * N;
  if (first + N > n) {
    for (int64_t i = first; i < n; ++i) put<write>(out[i], f(read(in[i])...));
    return;
  }
  const auto compute = [&](const Pack<In, N>&... from) {
    Pack<Out, N>& to = *reinterpret_cast<Pack<Out, N>*>(out + first);
    Pack<Out, N> result;
    if constexpr (write == Write::add) result = to;
#pragma unroll
    for (int i = 0; i < N; ++i) put<write>(result.values[i], f(read(from.values[i])...));
    to = result;
  };
  compute(*reinterpret_cast<const Pack<In, N>*>(in + first)...);
}

/// out[i] = or += f(in[i]...) for i < n of dense memory, in the type that elements are computed in. `out` may
/// be one of `in`.
template <Write write = Write::store, class Out, class F, class... In>
void pointwise(Device device, int64_t n, Out* out, F f, const In*... in) {
  constexpr int N = pack_size<Out, In...>;
  if (is_aligned<N>(out) && (is_aligned<N>(in) && ...)) {
    launch(device, pointwise_kernel<N, write, Out, F, In...>,
           Grid(ceil_div(n, int64_t{pointwise_threads} * N), pointwise_threads), n, out, f, in...);
  } else {
    launch(device, pointwise_kernel<1, write, Out, F, In...>,
           Grid(ceil_div(n, pointwise_threads), pointwise_threads), n, out, f, in...);
  }
}

template <Write write, class Out, class F, size_t... I, class... In>
__device__ __forceinline__ void compute_element(const int64_t* offsets, Out* out, F f,
                                                std::index_sequence<I...>, const In*... in) {
  put<write>(out[offsets[0]], f(read(in[offsets[I + 1]])...));
}

template <Write write, class Out, class F, class... In>
__global__ void __launch_bounds__(pointwise_threads)
    strided_kernel(int64_t n, StridedIndex<static_cast<int>(1 + sizeof...(In))> index, Out* out, F f,
                   const In*... in) {
  const int64_t element = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  if (element >= n) return;
  int64_t offsets[1 + sizeof...(In)];
  index.find(element, offsets);
  compute_element<write>(offsets, out, f, std::index_sequence_for<In...>{}, in...);
}

/// The same for operands of any strides, of which those of `out` come first in `loop`.
template <Write write = Write::store, class Out, class F, class... In>
void strided(Device device, const detail::StridedLoop<static_cast<int>(1 + sizeof...(In))>& loop, Out* out,
             F f, const In*... in) {
  const int64_t n = loop.shape.numel();
  bool dense = loop.shape.rank() == 1;
  for (const Shape& strides : loop.strides) dense = dense && strides[0] == 1;
  if (dense) return pointwise<write>(device, n, out, f, in...);
  launch(device, strided_kernel<write, Out, F, In...>,
         Grid(ceil_div(n, pointwise_threads), pointwise_threads), n,
         StridedIndex<static_cast<int>(1 + sizeof...(In))>(loop), out, f, in...);
}

/// Calls f(std::integral_constant<Write, ...>) for a gradient that is added or stored.
template <class F>
void with_write(bool add, F&& f) {
  if (add) {
    f(std::integral_constant<Write, Write::add>{});
  } else {
    f(std::integral_constant<Write, Write::store>{});
  }
}

}  // namespace cladtorch::cuda
