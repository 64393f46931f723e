// Rounding to 8 bits. An operand is measured where there are no steps before that say how to scale it; then
// it is read once, and written in one order or in both.
#include "cuda/rows.cuh"
#include "ops/float8/float8_math.h"
#include "ops/float8/float8_on_device.h"
#include "tensor/device_memory.h"

namespace cladtorch::cuda {
namespace {

using detail::Float8Use;

constexpr int threads = 256;
constexpr int tile = 64;  ///< rows and columns that a block transposes

/// 0 if there are none.
__device__ float largest_before(const float* amax) {
  float largest = 0;
  for (int i = 1; i < static_cast<int>(Float8Scaling::steps); ++i) largest = max(largest, amax[i]);
  return largest;
}

/// *to = the larger of the two, which are not negative: so their bits are in order as integers.
__device__ void raise(float* to, float value) {
  if (value > *static_cast<volatile float*>(to))
    atomicMax(reinterpret_cast<int*>(to), static_cast<int>(detail::bits_of(value)));
}

/// How an operand is scaled. Null: not by the steps before; not recorded.
struct Scaling {
  const float* before;
  float* recorded;
  float* measured;
  float* inverse;
};

/// The largest absolute value goes to s.measured, unless there are steps before.
template <int N, class T>
__global__ void __launch_bounds__(threads) measure_kernel(int64_t packs, const T* x, Scaling s) {
  if (s.before != nullptr && largest_before(s.before) > 0) return;
  float largest[1] = {};
  const int64_t step = int64_t{gridDim.x} * threads;
  for (int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x; i < packs; i += step) {
    const auto pack = load<N>(x + i * N);
#pragma unroll
    for (int j = 0; j < N; ++j) largest[0] = fmaxf(largest[0], fabsf(read(pack.values[j])));
  }
  BlockPerRow::reduce<Maximum>(largest);
  if (threadIdx.x == 0) raise(s.measured, largest[0]);
}

/// N numbers, which the hardware rounds by pairs where it can.
template <class Format, int N>
__device__ __forceinline__ Pack<Format, N> rounded(const float (&x)[N]) {
  Pack<Format, N> pack;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if constexpr (N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      // The instruction makes the largest number of infinity: that must show as NaN.
      const float low = x[i] - x[i] == 0 ? x[i] : NAN, high = x[i + 1] - x[i + 1] == 0 ? x[i + 1] : NAN;
      uint16_t both;
      if constexpr (std::is_same_v<Format, float8_e4m3>) {
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
      } else {
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
      }
      pack.values[i].bits = static_cast<uint8_t>(both);
      pack.values[i + 1].bits = static_cast<uint8_t>(both >> 8);
    }
  } else
#endif
  {
    for (int i = 0; i < N; ++i) pack.values[i] = detail::rounded_to_float8<Format>(x[i]);
  }
  return pack;
}

/// A block has `tile` rows and columns; results that are not wanted are null.
template <class Format, int N, class T>
__global__ void __launch_bounds__(threads)
    round_kernel(int64_t rows, int64_t n, const T* x, Scaling s, Format* values, Format* transposed) {
  constexpr int across = tile / N, rows_at_once = threads / across, run = 16;
  __shared__ Format turned[tile][tile + 4];
  const float before = s.before != nullptr ? largest_before(s.before) : 0;
  const float scale = detail::float8_scale<Format>(before > 0 ? before : *s.measured);
  const int64_t first_row = int64_t{blockIdx.x} * tile, first_column = int64_t{blockIdx.y} * tile;
  const int thread = static_cast<int>(threadIdx.x), column = thread % across * N;
  float largest[1] = {};
#pragma unroll
  for (int pass = 0; pass < tile / rows_at_once; ++pass) {
    const int row = pass * rows_at_once + thread / across;
    const int64_t at = (first_row + row) * n + first_column + column;
    if (first_row + row >= rows || first_column + column >= n) continue;
    const auto pack = load<N>(x + at);
    float scaled[N];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const float value = read(pack.values[i]);
      largest[0] = fmaxf(largest[0], fabsf(value));
      scaled[i] = value * scale;
    }
    const auto result = rounded<Format>(scaled);
    if (values != nullptr) store(values + at, result);
    if (transposed == nullptr) continue;
#pragma unroll
    for (int i = 0; i < N; ++i) turned[column + i][row] = result.values[i];
  }
  if (transposed != nullptr) {
    __syncthreads();
    constexpr int runs = tile / run;
    static_assert(tile * runs == threads);
    const int from = thread / runs, row = thread % runs * run;
    if (first_column + from < n && first_row + row < rows) {
      Pack<Format, run> pack;
#pragma unroll
      for (int i = 0; i < run; ++i) pack.values[i] = turned[from][row + i];
      store(transposed + (first_column + from) * rows + first_row + row, pack);
    }
  }
  if (s.recorded != nullptr) {
    BlockPerRow::reduce<Maximum>(largest);
    if (thread == 0) raise(s.recorded, largest[0]);
  }
  if (blockIdx.x == 0 && blockIdx.y == 0 && thread == 0) *s.inverse = 1 / scale;
}

template <class Format, int N, class T>
void launch_rounding(const Tensor& x, const Scaling& s, Tensor* values, Tensor* transposed) {
  const int64_t rows = x.size(0), n = x.size(1), packs = rows * n / N;
  constexpr int64_t most_blocks = 1024, packs_of_thread = 4;
  const T* const data = x.device_data<T>();
  launch(x.device(), measure_kernel<N, T>,
         Grid(std::min(most_blocks, ceil_div(packs, threads * packs_of_thread)), threads), packs, data, s);
  const dim3 blocks(static_cast<unsigned>(ceil_div(rows, tile)), static_cast<unsigned>(ceil_div(n, tile)));
  launch(x.device(), round_kernel<Format, N, T>, Grid(blocks, dim3(threads)), rows, n, data, s,
         values != nullptr ? values->device_data<Format>() : nullptr,
         transposed != nullptr ? transposed->device_data<Format>() : nullptr);
}

template <class T>
void round(const Tensor& x, const Scaling& s, Tensor* values, Tensor* transposed) {
  const DType format = (values != nullptr ? values : transposed)->dtype();
  constexpr int N = 16 / sizeof(T);
  const auto go = [&]<class Format>(Format) {
    if (is_aligned<N>(x.device_data<T>())) {
      launch_rounding<Format, N, T>(x, s, values, transposed);
    } else {
      launch_rounding<Format, 1, T>(x, s, values, transposed);
    }
  };
  if (format == DType::float8_e5m2) {
    go(float8_e5m2{});
  } else {
    go(float8_e4m3{});
  }
}

void round_to_float8(const Tensor& x, const Float8Use& use, Tensor& measured, Tensor* values,
                     Tensor* transposed, Tensor& inverse) {
  Tensor amax = use.amax;
  detail::clear_on(x.device(), measured.device_data<float>(), sizeof(float));
  const Scaling scaling{use.delayed ? amax.device_data<float>() : nullptr,
                        use.records ? amax.device_data<float>() : nullptr, measured.device_data<float>(),
                        inverse.device_data<float>()};
  if (x.dtype() == DType::bfloat16) {
    round<bfloat16>(x, scaling, values, transposed);
  } else {
    round<float>(x, scaling, values, transposed);
  }
}

/// A thread moves the numbers of one operand by a step.
__global__ void __launch_bounds__(threads) finish_step_kernel(int64_t operands, float* amax) {
  constexpr int steps = static_cast<int>(Float8Scaling::steps);
  const int64_t operand = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (operand >= operands) return;
  float* const row = amax + operand * steps;
  for (int i = steps - 1; i > 0; --i) row[i] = row[i - 1];
  row[0] = 0;
}

void finish_step(Tensor& amax) {
  const int64_t operands = amax.numel() / Float8Scaling::steps;
  launch(amax.device(), finish_step_kernel, Grid(ceil_div(operands, threads), threads), operands,
         amax.device_data<float>());
}

void require_float8(Device device) {
  int major = 0, minor = 0;
  CLADTORCH_CUDA_CALL(cudaDeviceGetAttribute, &major, cudaDevAttrComputeCapabilityMajor, device.index);
  CLADTORCH_CUDA_CALL(cudaDeviceGetAttribute, &minor, cudaDevAttrComputeCapabilityMinor, device.index);
  require(10 * major + minor >= 89, "float8: ", device, " has compute capability ", major, ".", minor,
          ", expected 8.9 or more (Ada, Hopper, Blackwell); use bf16");
}

const detail::DeviceFunctionCode round_code(detail::round_to_float8_on_device, round_to_float8);
const detail::DeviceFunctionCode finish_code(detail::finish_float8_step_on_device, finish_step);
const detail::DeviceFunctionCode require_code(detail::require_float8_on_device, require_float8);

}  // namespace
}  // namespace cladtorch::cuda
