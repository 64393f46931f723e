#include "cladtorch/random.h"
#include "cuda/pointwise.cuh"
#include "ops/dropout/dropout_on_device.h"

namespace cladtorch::cuda {
namespace {

struct Mask {
  uint64_t seed, stream;
  uint32_t threshold;             ///< words below it drop their element
  const int32_t* step_on_device;  ///< of the stream, unless null

  __device__ uint64_t stream_now() const {
    if (step_on_device == nullptr) return stream;
    const uint64_t step = static_cast<uint64_t>(static_cast<uint32_t>(step_on_device[1])) << 32 |
                          static_cast<uint32_t>(step_on_device[0]);
    return step << 24 | (stream & 0xffffffu);
  }
};

/// Elements that share one block of random words.
constexpr int block_elements = 4;

/// The four elements from `first` on, of which only `count` exist.
template <bool packs, class T>
__device__ __forceinline__ Pack<T, block_elements> block_of(const T* x, int64_t first, int64_t count) {
  if (packs && count >= block_elements) return *reinterpret_cast<const Pack<T, block_elements>*>(x + first);
  Pack<T, block_elements> block{};
  for (int i = 0; i < block_elements && i < count; ++i) block.values[i] = x[first + i];
  return block;
}

/// One block of random words a thread; 2 reads or writes an element, or 3 where it is added.
template <bool packs, Write write, class Out, class T>
__global__ void __launch_bounds__(pointwise_threads)
    dropout_kernel(int64_t n, Mask mask, Computed<T> factor, const T* x, Out* out) {
  const int64_t block = int64_t{blockIdx.x} * pointwise_threads + threadIdx.x;
  const int64_t first = block * block_elements, count = n - first;
  if (count <= 0) return;
  const Pack<T, block_elements> in = block_of<packs>(x, first, count);
  Pack<Out, block_elements> result{};
  if constexpr (write == Write::add) result = block_of<packs>(out, first, count);
  const uint64_t stream = mask.stream_now();
  const auto words =
      philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(static_cast<uint64_t>(block) >> 32),
                  static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
                 mask.seed);
#pragma unroll
  for (int i = 0; i < block_elements; ++i) {
    const bool kept = words[static_cast<size_t>(i)] >= mask.threshold;
    put<write>(result.values[i], kept ? read(in.values[i]) * factor : Computed<T>(0));
  }
  if (packs && count >= block_elements) {
    *reinterpret_cast<Pack<Out, block_elements>*>(out + first) = result;
  } else {
    for (int i = 0; i < block_elements && i < count; ++i) out[first + i] = result.values[i];
  }
}

void dropout(const DropoutState& state, double probability, const Tensor& x, const GradientTarget& out) {
  const Mask mask{state.seed, state.stream, static_cast<uint32_t>(probability * 0x1p32),
                  state.step_on_device};
  const int64_t n = x.numel();
  detail::dispatch_real("dropout", x.dtype(), [&]<class T>(T) {
    const auto factor = static_cast<Computed<T>>(1 / (1 - probability));
    detail::write_to<T>(out, [&]<class Out>(Out* to, bool add) {
      with_write(add, [&](auto write) {
        constexpr Write how = decltype(write)::value;
        const T* const from = x.device_data<T>();
        const bool packs = is_aligned<block_elements>(from) && is_aligned<block_elements>(to);
        launch(x.device(), packs ? dropout_kernel<true, how, Out, T> : dropout_kernel<false, how, Out, T>,
               Grid(ceil_div(n, int64_t{pointwise_threads} * block_elements), pointwise_threads), n, mask,
               factor, from, to);
      });
    });
  });
}

const detail::DeviceFunctionCode code(detail::dropout_on_device, dropout);

}  // namespace
}  // namespace cladtorch::cuda
