#include "tensor/tensor_on_device.h"

#include "cuda/pointwise.cuh"

namespace cladtorch::cuda {
namespace {

struct Identity {
  template <class T>
  __device__ T operator()(T x) const {
    return x;
  }
};

template <class T>
struct Constant {
  T value;
  __device__ T operator()() const { return value; }
};

/// For elements of two types: computed in the first, so that integers keep all their digits.
template <class To, class From>
__global__ void __launch_bounds__(pointwise_threads)
    convert_kernel(int64_t n, StridedIndex<2> index, To* to, const From* from) {
  const int64_t element = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  if (element >= n) return;
  int64_t offsets[2];
  index.find(element, offsets);
  to[offsets[0]] = converted<To>(from[offsets[1]]);
}

template <int N, class To, class From>
__global__ void __launch_bounds__(pointwise_threads)
    convert_dense_kernel(int64_t n, To* to, const From* from) {
  const int64_t first = (int64_t{blockIdx.x} * pointwise_threads + threadIdx.x) * N;
  if (first + N > n) {
    for (int64_t i = first; i < n; ++i) to[i] = converted<To>(from[i]);
    return;
  }
  const Pack<From, N> in = *reinterpret_cast<const Pack<From, N>*>(from + first);
  Pack<To, N> out;
#pragma unroll
  for (int i = 0; i < N; ++i) out.values[i] = converted<To>(in.values[i]);
  *reinterpret_cast<Pack<To, N>*>(to + first) = out;
}

template <class To, class From>
void convert(Device device, const detail::StridedLoop<2>& loop, To* to, const From* from) {
  const int64_t n = loop.shape.numel();
  constexpr int N = pack_size<To, From>;
  const bool dense = loop.shape.rank() == 1 && loop.strides[0][0] == 1 && loop.strides[1][0] == 1;
  if (dense && is_aligned<N>(to) && is_aligned<N>(from)) {
    launch(device, convert_dense_kernel<N, To, From>,
           Grid(ceil_div(n, int64_t{pointwise_threads} * N), pointwise_threads), n, to, from);
  } else {
    launch(device, convert_kernel<To, From>, Grid(ceil_div(n, pointwise_threads), pointwise_threads), n,
           StridedIndex<2>(loop), to, from);
  }
}

void copy(Tensor& to, const Tensor& from) {
  const detail::StridedLoop<2> loop(to.shape(), {to.strides(), from.strides()});
  detail::dispatch_any(to.dtype(), [&]<class To>(To) {
    detail::dispatch_any(from.dtype(), [&]<class From>(From) {
      convert(to.device(), loop, to.device_data<To>(), from.device_data<From>());
    });
  });
}

void add(Tensor& to, const Tensor& from) {
  const detail::StridedLoop<2> loop(to.shape(), {to.strides(), from.strides()});
  const auto run = [&]<class To, class From>(To* out, const From* in) {
    strided<Write::add>(to.device(), loop, out, Identity{}, in);
  };
  if (to.dtype() == DType::float64) {
    run(to.device_data<double>(), from.device_data<double>());
  } else if (to.dtype() == DType::bfloat16) {
    run(to.device_data<bfloat16>(), from.device_data<bfloat16>());
  } else if (from.dtype() == DType::bfloat16) {
    run(to.device_data<float>(), from.device_data<bfloat16>());
  } else {
    run(to.device_data<float>(), from.device_data<float>());
  }
}

void fill(Tensor& to, double value) {
  const detail::StridedLoop<1> loop(to.shape(), {to.strides()});
  detail::dispatch_any(to.dtype(), [&]<class T>(T) {
    const Constant<Computed<T>> constant{detail::convert<Computed<T>>(value)};
    strided(to.device(), loop, to.device_data<T>(), constant);
  });
}

template <class T>
__global__ void __launch_bounds__(pointwise_threads) arange_kernel(int64_t n, T* out) {
  const int64_t i = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  if (i < n) out[i] = converted<T>(static_cast<int32_t>(i));
}

void arange(Tensor& to) {
  const int64_t n = to.numel();
  detail::dispatch_any(to.dtype(), [&]<class T>(T) {
    launch(to.device(), arange_kernel<T>, Grid(ceil_div(n, pointwise_threads), pointwise_threads), n,
           to.device_data<T>());
  });
}

const detail::DeviceFunctionCode copy_code(detail::copy_on_device, copy);
const detail::DeviceFunctionCode add_code(detail::add_on_device, add);
const detail::DeviceFunctionCode fill_code(detail::fill_on_device, fill);
const detail::DeviceFunctionCode arange_code(detail::arange_on_device, arange);

}  // namespace
}  // namespace cladtorch::cuda
